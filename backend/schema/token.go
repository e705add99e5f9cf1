package schema

import "strings"

// kind tells the tokens of text that the server printed.
type kind uint8

const (
	word   kind = iota // keyword, function name or bare identifier
	quoted             // identifier in ` or "
	text               // '...'
	digits             // a number
	mark               // any other byte
)

// token is a piece of text that the server printed.
type token struct {
	kind       kind
	start, end int
	value      string // without quotes for an identifier, as written otherwise
}

// is says whether t is the keyword or mark s.
func (t token) is(s string) bool {
	return (t.kind == word || t.kind == mark) && strings.EqualFold(t.value, s)
}

// scanner splits text that the *server* printed: SHOW CREATE TABLE, SHOW GRANTS,
// defaults. That is simpler than reading a client's text, because both servers
// print strings in single quotes with backslash escapes whatever the sql_mode
// is, so that " always opens an identifier.
type scanner struct {
	s   string
	pos int
}

// scan returns all tokens of s.
func scan(s string) []token {
	sc := scanner{s: s}
	var all []token
	for {
		t, ok := sc.next()
		if !ok {
			return all
		}
		all = append(all, t)
	}
}

func (sc *scanner) next() (token, bool) {
	sc.blanks()
	if sc.pos >= len(sc.s) {
		return token{}, false
	}
	start := sc.pos
	c := sc.s[start]
	switch {
	case c == '`' || c == '"':
		sc.quote(c, false)
		inner := strings.TrimSuffix(sc.s[start+1:sc.pos], string(c))
		return token{quoted, start, sc.pos, strings.ReplaceAll(inner, string([]byte{c, c}), string(c))}, true
	case c == '\'':
		sc.quote(c, true)
		return token{text, start, sc.pos, sc.s[start:sc.pos]}, true
	case c >= '0' && c <= '9':
		sc.number()
		return token{digits, start, sc.pos, sc.s[start:sc.pos]}, true
	case isWord(c):
		for sc.pos < len(sc.s) && isWord(sc.s[sc.pos]) {
			sc.pos++
		}
		return token{word, start, sc.pos, sc.s[start:sc.pos]}, true
	}
	sc.pos++
	return token{mark, start, sc.pos, sc.s[start:sc.pos]}, true
}

// blanks skips white space, comments, and the frame of an executable comment:
// MySQL prints INVISIBLE and PARTITION BY inside one, and what stands in it
// counts.
func (sc *scanner) blanks() {
	for sc.pos < len(sc.s) {
		rest := sc.s[sc.pos:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			sc.pos++
		case strings.HasPrefix(rest, "/*!"), strings.HasPrefix(rest, "/*M!"):
			sc.pos += strings.IndexByte(rest, '!') + 1
			for sc.pos < len(sc.s) && sc.s[sc.pos] >= '0' && sc.s[sc.pos] <= '9' {
				sc.pos++
			}
		case strings.HasPrefix(rest, "/*"):
			if end := strings.Index(rest[2:], "*/"); end >= 0 {
				sc.pos += end + 4
			} else {
				sc.pos = len(sc.s)
			}
		case strings.HasPrefix(rest, "*/"):
			sc.pos += 2
		default:
			return
		}
	}
}

// quote moves behind the quoted text that starts here. A doubled quote stands
// for itself.
func (sc *scanner) quote(c byte, escapes bool) {
	for sc.pos++; sc.pos < len(sc.s); sc.pos++ {
		switch {
		case escapes && sc.s[sc.pos] == '\\':
			sc.pos++
		case sc.s[sc.pos] == c:
			if sc.pos+1 >= len(sc.s) || sc.s[sc.pos+1] != c {
				sc.pos++
				return
			}
			sc.pos++
		}
	}
	sc.pos = min(sc.pos, len(sc.s))
}

// number moves behind a number; 0x41 and 1e-5 are one token each.
func (sc *scanner) number() {
	start := sc.pos
	for sc.pos < len(sc.s) {
		c := sc.s[sc.pos]
		exponent := (c == '+' || c == '-') && sc.pos > start && sc.s[sc.pos-1]|0x20 == 'e' && !strings.HasPrefix(sc.s[start:], "0x")
		if !isWord(c) && c != '.' && !exponent {
			return
		}
		sc.pos++
	}
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
}
