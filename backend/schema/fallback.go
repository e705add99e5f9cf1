package schema

import (
	"strings"

	"github.com/sluice-db/sluice/rewrite"
)

// fallback classifies what a column gets when a row does not supply it, from
// COLUMN_DEFAULT (nil is NULL) and EXTRA.
//
// MariaDB (from 10.2.7) prints an expression of its own grammar: 'text', 5, NULL,
// current_timestamp(). SQL NULL there means that there is no default. MySQL
// prints the bare value of a constant, and an expression only if EXTRA says
// DEFAULT_GENERATED; a nullable column without a default has NULL.
//
// DefaultNow also stands for an expression over the time of the statement in
// whole seconds.
func fallback(dialect rewrite.Dialect, version int, value []byte, extra string, c *rewrite.Column, t *rewrite.Table) rewrite.DefaultKind {
	switch {
	case c.Generated || c.AutoIncrement:
		return rewrite.DefaultNone
	case value == nil && c.Nullable:
		return rewrite.DefaultLiteral
	case value == nil:
		return rewrite.DefaultNone
	case dialect == rewrite.MariaDB && version >= 100207:
		return classify(string(value), t)
	case dialect == rewrite.MySQL && strings.Contains(extra, "DEFAULT_GENERATED"):
		return classify(unescape(string(value)), t)
	case dialect == rewrite.MySQL && version >= 80000:
		return rewrite.DefaultLiteral
	case strings.HasPrefix(strings.ToUpper(string(value)), "CURRENT_TIMESTAMP"):
		return classify(string(value), t)
	case dialect == rewrite.MySQL:
		return rewrite.DefaultLiteral // 5.7 has no expressions
	}
	return rewrite.DefaultUnsafe
}

// unescape undoes the one level of escapes with which MySQL stores the text of
// an expression in its dictionary: _utf8mb4\'it\\\'s\'.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case '0':
			b.WriteByte(0)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// classify reads the text of a default expression of table t.
func classify(expr string, t *rewrite.Table) rewrite.DefaultKind {
	tokens := scan(expr)
	if isConstant(tokens) {
		return rewrite.DefaultLiteral
	}
	result := rewrite.DefaultExpr
	for i := 0; i < len(tokens); i++ {
		tok := tokens[i]
		call := i+1 < len(tokens) && tokens[i+1].is("(")
		switch tok.kind {
		case quoted:
			// A column of the row, unless it is called: then it is a stored
			// function. After a point: a sequence or a function of a schema.
			if call || i > 0 && tokens[i-1].is(".") {
				return rewrite.DefaultUnsafe
			}
			if isTemporal(t, tok.value) {
				result = rewrite.DefaultNow
			}
		case mark:
			if strings.Contains("@?;\\", tok.value) {
				return rewrite.DefaultUnsafe
			}
		case word:
			name := strings.ToLower(tok.value)
			switch {
			case now[name]:
				whole, skip := wholeSeconds(tokens[i+1:])
				if !whole {
					return rewrite.DefaultNowFrac
				}
				result = rewrite.DefaultNow
				i += skip
			case temporal[name]:
				result = rewrite.DefaultNow
			case call && pure[name], plain[name]:
			case i > 0 && (tokens[i-1].is("COLLATE") || tokens[i-1].is("CHARSET") || tokens[i-1].is("SET") || tokens[i-1].is("USING")):
			case i+1 < len(tokens) && tokens[i+1].kind == text && isIntroducer(name):
			default:
				return rewrite.DefaultUnsafe
			}
		}
	}
	return result
}

// isTemporal says whether a column holds a time or date, or is not known: a TIME
// that is compared with or stored into a date gets the date of the statement.
func isTemporal(t *rewrite.Table, column string) bool {
	i := t.Column(column)
	if i < 0 {
		return true
	}
	switch t.Columns[i].Type {
	case "date", "time", "datetime", "timestamp":
		return true
	}
	return false
}

// isConstant says whether the tokens are one literal, with an introducer, a sign
// and parentheses at most.
func isConstant(tokens []token) bool {
	for len(tokens) >= 3 && tokens[0].is("(") && tokens[len(tokens)-1].is(")") {
		tokens = tokens[1 : len(tokens)-1]
	}
	switch {
	case len(tokens) == 2 && (tokens[0].is("-") || tokens[0].is("+")):
		return tokens[1].kind == digits
	case len(tokens) == 2 && tokens[0].kind == word && tokens[1].kind == text:
		return isIntroducer(strings.ToLower(tokens[0].value))
	case len(tokens) == 1:
		t := tokens[0]
		return t.kind == digits || t.kind == text || t.is("NULL") || t.is("TRUE") || t.is("FALSE")
	}
	return false
}

// isIntroducer says whether a word before a string belongs to the literal.
func isIntroducer(name string) bool {
	return strings.HasPrefix(name, "_") || name == "b" || name == "x" || name == "n" ||
		name == "date" || name == "time" || name == "timestamp"
}

// wholeSeconds reads what follows the name of a time function: nothing, (), (0)
// or (n). It returns whether the result has no fraction and how many tokens
// belong to the call.
func wholeSeconds(rest []token) (whole bool, skip int) {
	if len(rest) == 0 || !rest[0].is("(") {
		return true, 0
	}
	switch {
	case len(rest) >= 2 && rest[1].is(")"):
		return true, 2
	case len(rest) >= 3 && rest[1].value == "0" && rest[2].is(")"):
		return true, 3
	}
	return false, 0
}
