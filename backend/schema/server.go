package schema

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// Error numbers of the servers that are acted upon.
const (
	errNoSuchSchema    = 1049
	errTableDenied     = 1142
	errNoSuchTable     = 1146
	errUnknownVariable = 1193
	errAccessDenied    = 1227
)

// Settings is the statement to be run once on each connection of the service
// account before it is used with this package. None of the variables changes
// what an INSERT means, and none needs a privilege.
func Settings(dialect rewrite.Dialect, version int) string {
	s := "SET SESSION sql_quote_show_create=1, character_set_results=utf8mb4"
	if dialect == rewrite.MySQL && version >= 80000 {
		// Otherwise sizes are up to a day old.
		s += ", information_schema_stats_expiry=0, show_create_table_verbosity=0"
	}
	if dialect == rewrite.MySQL && version >= 80030 {
		// A generated invisible primary key is a primary key.
		s += ", show_gipk_in_create_table_and_information_schema=1"
	}
	return s
}

// refused says whether err is the server's own refusal with this number.
func refused(err error, code uint16) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == code
}

// ident writes an identifier in backticks, which every sql_mode reads alike.
func ident(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// literal writes a string that every sql_mode and every character set of the
// connection reads alike.
func literal(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == '\'' || c == '\\' {
			return "_utf8mb4 X'" + hex.EncodeToString([]byte(s)) + "'"
		}
	}
	return "'" + s + "'"
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// number reads an unsigned integer; NULL and anything else is 0.
func number(b []byte) uint64 {
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// qualified is the form in which rewrite.Table names its relatives.
func qualified(schema, table string) string { return schema + "." + table }
