package rewrite

import (
	"strconv"
	"strings"
)

// State is what the session adds to the text of an insert: everything that
// decides which rows a statement stores, as the server itself reports it.
type State struct {
	Lex                          Lex
	Schema                       string // default schema, set by the owner of the session
	SQLMode                      string // canonical, as the server gives it
	Strict                       bool   // STRICT_ALL_TABLES or STRICT_TRANS_TABLES
	NoAutoValueOnZero            bool
	ForeignKeyChecks             bool
	UniqueChecks                 bool
	TimeZone                     string
	AutoIncrementIncrement       uint64
	AutoIncrementOffset          uint64
	ExplicitDefaultsForTimestamp bool
	CharsetConnection            string
	CollationConnection          string

	carried []Setting
}

// Setting is one assignment of SET SESSION. Value is an SQL literal that can
// be written into the statement as it is.
type Setting struct{ Name, Value string }

// carriedNames are the session variables that take part in the meaning of an
// insert. A loading connection takes all of them on, in this order: assigning
// character_set_connection resets collation_connection. None of them needs a
// privilege on MariaDB 10.11 or MySQL 9.7.
var carriedNames = []string{
	"sql_mode", "character_set_client", "character_set_connection", "collation_connection", "time_zone",
	"foreign_key_checks", "unique_checks", "explicit_defaults_for_timestamp",
	"div_precision_increment", "default_week_format", "lc_time_names",
	"block_encryption_mode",   // MySQL only
	"check_constraint_checks", // MariaDB only
}

// knownModes are the members of sql_mode whose effect on an insert is
// understood: carried, or without effect. EMPTY_STRING_IS_NULL and ORACLE are
// left out on purpose: under them an empty string is NULL.
var knownModes = nameSet(`
	REAL_AS_FLOAT PIPES_AS_CONCAT ANSI_QUOTES IGNORE_SPACE ONLY_FULL_GROUP_BY NO_UNSIGNED_SUBTRACTION
	NO_DIR_IN_CREATE ANSI NO_AUTO_VALUE_ON_ZERO NO_BACKSLASH_ESCAPES STRICT_TRANS_TABLES STRICT_ALL_TABLES
	NO_ZERO_IN_DATE NO_ZERO_DATE ALLOW_INVALID_DATES INVALID_DATES ERROR_FOR_DIVISION_BY_ZERO TRADITIONAL
	HIGH_NOT_PRECEDENCE NO_ENGINE_SUBSTITUTION PAD_CHAR_TO_FULL_LENGTH TIME_TRUNCATE_FRACTIONAL
	IGNORE_BAD_TABLE_OPTIONS NO_FIELD_OPTIONS NO_TABLE_OPTIONS NO_KEY_OPTIONS NO_AUTO_CREATE_USER
	SIMULTANEOUS_ASSIGNMENT TIME_ROUND_FRACTIONAL MYSQL40 MYSQL323 POSTGRESQL DB2 MAXDB MSSQL`)

// NewState reads the state of a session from its variables, with names in
// lower case and values as SHOW SESSION VARIABLES gives them.
func NewState(vars map[string]string, dialect Dialect, version int) (*State, Reason) {
	for _, name := range carriedNames {
		if _, ok := vars[name]; !ok && !optionalVariable(name) {
			return nil, Reason("session variable " + name + ": the server does not report it")
		}
	}
	modes, why := parseModes(vars["sql_mode"])
	if why != "" {
		return nil, why
	}
	s := &State{
		SQLMode:                      vars["sql_mode"],
		Strict:                       modes["STRICT_ALL_TABLES"] || modes["STRICT_TRANS_TABLES"],
		NoAutoValueOnZero:            modes["NO_AUTO_VALUE_ON_ZERO"],
		ForeignKeyChecks:             isOn(vars["foreign_key_checks"]),
		UniqueChecks:                 isOn(vars["unique_checks"]),
		TimeZone:                     vars["time_zone"],
		AutoIncrementIncrement:       parseCount(vars["auto_increment_increment"]),
		AutoIncrementOffset:          parseCount(vars["auto_increment_offset"]),
		ExplicitDefaultsForTimestamp: isOn(vars["explicit_defaults_for_timestamp"]),
		CharsetConnection:            strings.ToLower(vars["character_set_connection"]),
		CollationConnection:          strings.ToLower(vars["collation_connection"]),
	}
	s.Lex = Lex{
		Dialect:            dialect,
		Version:            version,
		ANSIQuotes:         modes["ANSI_QUOTES"],
		NoBackslashEscapes: modes["NO_BACKSLASH_ESCAPES"],
		IgnoreSpace:        modes["IGNORE_SPACE"],
		PipesAsConcat:      modes["PIPES_AS_CONCAT"],
		Charset:            strings.ToLower(vars["character_set_client"]),
	}
	for _, name := range carriedNames {
		value, ok := vars[name]
		if !ok {
			continue
		}
		literal, ok := settingLiteral(value)
		if !ok {
			return nil, Reason("session variable " + name + ": its value cannot be passed on")
		}
		if name == "unique_checks" && s.BulkInsert() {
			literal = "1"
		}
		s.carried = append(s.carried, Setting{name, literal})
	}
	return s, ""
}

// BulkInsert reports whether MariaDB's empty-table bulk insert may be in use:
// with both checks off one duplicate row discards every row that the
// transaction put into the table, and the error is 1180 or 1062 at the end of
// the statement or at COMMIT (10.11). A loading connection therefore keeps
// unique_checks on: each row sent alone would have had its duplicate reported.
func (s *State) BulkInsert() bool {
	return s.Lex.Dialect == MariaDB && !s.UniqueChecks && !s.ForeignKeyChecks
}

// Carry returns the assignments that give a loading connection the meaning of
// this session. Every State of a server returns the same names in the same
// order, so that a connection that took on one State can take on another. The
// slice must not be changed.
func (s *State) Carry() []Setting { return s.carried }

// Fingerprint is the part of a shape's identity that comes from the session.
func (s *State) Fingerprint() string {
	var b strings.Builder
	b.WriteString(s.Schema)
	for _, c := range s.carried {
		b.WriteByte(0)
		b.WriteString(c.Name)
		b.WriteByte('=')
		b.WriteString(c.Value)
	}
	for _, n := range []uint64{
		s.AutoIncrementIncrement, s.AutoIncrementOffset, uint64(s.Lex.Dialect), uint64(s.Lex.Version), bit(s.UniqueChecks),
	} {
		b.WriteByte(0)
		b.WriteString(strconv.FormatUint(n, 10))
	}
	return b.String()
}

// FixedTimestamp reports whether the client has set the variable timestamp.
// SHOW VARIABLES shows the current time when it has not, so two readings one
// after the other are needed: only a variable that was set stands still.
func FixedTimestamp(first, second string) bool { return first == second }

func optionalVariable(name string) bool {
	return name == "block_encryption_mode" || name == "check_constraint_checks"
}

func parseModes(list string) (map[string]bool, Reason) {
	modes := make(map[string]bool)
	for mode := range strings.SplitSeq(list, ",") {
		if mode == "" {
			continue
		}
		mode = strings.ToUpper(mode)
		if !knownModes[mode] {
			return nil, Reason("sql_mode " + mode + ": not known to be harmless")
		}
		modes[mode] = true
	}
	return modes, ""
}

// settingLiteral writes the value of a variable as a literal that reads the
// same under every sql_mode and character set.
func settingLiteral(value string) (string, bool) {
	switch value {
	case "ON":
		return "1", true
	case "OFF":
		return "0", true
	}
	if value != "" && len(value) < 20 && strings.Trim(value, "0123456789") == "" {
		return value, true
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == '\\' {
			return "", false
		}
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'", true
}

func isOn(value string) bool { return value == "ON" || value == "1" }

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func parseCount(value string) uint64 {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		return 1
	}
	return n
}

func nameSet(list string) map[string]bool {
	set := make(map[string]bool)
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}
