package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-db/sluice/backend/wire"
)

// neutral makes what a server prints independent of the session's settings
// where that can be had in one statement. MariaDB executes the comment. MySQL
// skips it; what its settings change (identifiers quoted by " under ANSI_QUOTES)
// the scanner understands and describe undoes.
const neutral = "/*M!100100 SET STATEMENT sql_mode='',sql_quote_show_create=1,character_set_results=utf8mb4 FOR */ "

const showCreate = neutral + "SHOW CREATE TABLE "

// definition is what SHOW CREATE TABLE tells.
type definition struct {
	text        string // canonical
	base        bool   // a base table: no view, not temporary, no sequence
	temporary   bool
	checks      bool
	partitioned bool
	versioned   bool
	overlaps    map[string]bool // keys with WITHOUT OVERLAPS
}

var errShow = errors.New("unexpected answer to SHOW CREATE TABLE")

// show reads the definition of a table as this connection sees it, temporary
// tables first. An empty schema is the connection's own.
func show(q wire.Querier, schema, table string) (definition, error) {
	name := ident(table)
	if schema != "" {
		name = ident(schema) + "." + name
	}
	r, err := q.Query(showCreate + name)
	if err != nil {
		return definition{}, fmt.Errorf("show create table: %w", err)
	}
	return readDefinition(r)
}

func readDefinition(r *wire.Result) (definition, error) {
	if r == nil || len(r.Columns) < 2 || len(r.Rows) != 1 || len(r.Rows[0]) != len(r.Columns) {
		return definition{}, errShow
	}
	if r.Columns[1] != "Create Table" { // Create View
		return definition{}, nil
	}
	return describe(string(r.Rows[0][1])), nil
}

// describe reads the text of a CREATE TABLE. The canonical form has identifiers
// in backticks and lacks the table option AUTO_INCREMENT=n, which moves with
// every row.
func describe(raw string) definition {
	tokens := scan(raw)
	d := definition{overlaps: map[string]bool{}}
	var out strings.Builder
	out.Grow(len(raw))
	sequence := false
	copied, depth := 0, 0
	key := ""
	at := func(i int) token {
		if i < 0 || i >= len(tokens) {
			return token{kind: mark}
		}
		return tokens[i]
	}
	for i, t := range tokens {
		switch {
		case t.kind == quoted && raw[t.start] == '"':
			out.WriteString(raw[copied:t.start])
			out.WriteString(ident(t.value))
			copied = t.end
		case t.kind == quoted || t.kind == text:
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is("AUTO_INCREMENT") && depth == 0 && at(i+1).is("=") && at(i+2).kind == digits:
			out.WriteString(strings.TrimSuffix(raw[copied:t.start], " "))
			copied = at(i + 2).end
		case t.is("SEQUENCE") && depth == 0 && at(i+1).is("="):
			sequence = true
		case t.is("CHECK") && at(i+1).is("("):
			d.checks = true
		case t.is("PARTITION") && at(i+1).is("BY"):
			d.partitioned = true
		case t.is("VERSIONING") && at(i-1).is("SYSTEM") && at(i-2).is("WITH"):
			d.versioned = true
		case t.is("KEY") && at(i-1).is("PRIMARY"):
			key = "PRIMARY"
		case t.is("KEY"):
			key = at(i + 1).value
		case t.is("OVERLAPS") && at(i-1).is("WITHOUT"):
			d.overlaps[key] = true
		}
	}
	out.WriteString(raw[copied:])
	d.text = out.String()
	d.temporary = at(1).is("TEMPORARY")
	d.base = at(0).is("CREATE") && at(1).is("TABLE") && !sequence
	return d
}

// OwnView says what a client's own connection sees under a name: whether it is a
// base table and not a view, a sequence or a temporary table, which would hide
// the base table from this session only (S04: information_schema does not show
// temporary tables on either server, SHOW CREATE TABLE does). An empty schema is
// the session's current one. The names are bytes in the session's
// character_set_client.
//
// The definition is comparable with rewrite.Table.Definition, and with earlier
// ones of the same session. Where the session's settings change what MySQL
// prints (sql_quote_show_create=0, a character_set_results that is not UTF-8
// while names or comments are not ASCII) it differs from Table.Definition: a
// caller that compares relays then.
//
// A refusal by the server (no such table, no privilege) is a *wire.Error.
func OwnView(q wire.Querier, schema, table string) (base bool, definition string, err error) {
	for _, name := range []string{schema, table} {
		if !isASCII(name) && strings.IndexByte(name, '`') >= 0 {
			// In gbk and its like 0x60 can be half of a character.
			return false, "", nil
		}
	}
	d, err := show(q, schema, table)
	if err != nil {
		return false, "", err
	}
	return d.base, d.text, nil
}
