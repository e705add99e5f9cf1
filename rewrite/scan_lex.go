package rewrite

// scanner reads the bytes of one text under one Lex. It lives on the stack of
// the function that scans.
type scanner struct {
	sql          []byte
	class        charsetClass
	dialect      Dialect
	version      int
	rawBackslash bool // NO_BACKSLASH_ESCAPES
	ansi         bool // ANSI_QUOTES
	utf8         bool // names can be read as UTF-8
	depth        int  // of the expression being read
	why          Reason
}

func newScanner(sql []byte, lex *Lex) scanner {
	s := scanner{
		sql:          sql,
		dialect:      lex.Dialect,
		version:      lex.Version,
		rawBackslash: lex.NoBackslashEscapes,
		ansi:         lex.ANSIQuotes,
		utf8:         true,
	}
	if lex.Charset != "utf8mb4" {
		s.class = classOf(lex.Charset)
		s.utf8 = isUTF8(lex.Charset)
		if s.class == charsetUnknown {
			s.why = ReasonCharset
		}
	}
	return s
}

// fail records the first reason and returns the end of the text, so that every
// loop over the text ends.
func (s *scanner) fail(why Reason) int {
	if s.why == "" {
		s.why = why
	}
	return len(s.sql)
}

// tokenKind is the class of a token.
type tokenKind uint8

const (
	tokenEnd        tokenKind = iota // end of the text, or s.why is set
	tokenWord                        // unquoted identifier or keyword
	tokenName                        // quoted identifier
	tokenString                      // '...' or, without ANSI_QUOTES, "..."
	tokenNational                    // N'...'
	tokenIntroducer                  // _charset
	tokenHex                         // 0x.. X'..'
	tokenBit                         // 0b.. B'..'
	tokenInt
	tokenDecimal
	tokenFloat
	tokenOp // one of the operators, or one byte of punctuation
)

// token is a token with the span that it covers.
type token struct {
	Span
	kind tokenKind
}

// wordByte has true for the bytes of unquoted identifiers in ASCII.
var wordByte = func() (t [256]bool) {
	for c := '0'; c <= '9'; c++ {
		t[c] = true
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = true, true
	}
	t['_'], t['$'] = true, true
	return t
}()

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// at returns the byte at i, or 0 behind the end.
func (s *scanner) at(i int) byte {
	if i < len(s.sql) {
		return s.sql[i]
	}
	return 0
}

// next reads the token at or after i, skipping blanks and comments. Once s.why
// is set every token is tokenEnd.
func (s *scanner) next(i int) token {
	i = s.skip(i)
	if i < len(s.sql) {
		if t := s.token(i); s.why == "" {
			return t
		}
	}
	return token{Span: Span{len(s.sql), len(s.sql)}}
}

// token reads the token that starts at i. It is complete only if s.why is not
// set.
func (s *scanner) token(i int) token {
	switch c := s.sql[i]; {
	case c == '\'' || c == '"' && !s.ansi:
		return s.quoted(tokenString, i, i+1, c)
	case c == '`' || c == '"':
		return token{Span{i, s.closeName(i+1, c)}, tokenName}
	case isDigit(c), c == '.' && isDigit(s.at(i+1)):
		return s.number(i)
	case wordByte[c] || c >= 0x80:
		return s.word(i)
	case c == 0:
		return token{Span: Span{i, s.fail(ReasonNul)}}
	case c < ' ' || c == 0x7F:
		return token{Span: Span{i, s.fail(ReasonSyntax)}}
	}
	return token{Span{i, i + s.operator(i)}, tokenOp}
}

// quoted is the string token from start whose content starts at i.
func (s *scanner) quoted(kind tokenKind, start, i int, quote byte) token {
	end := s.closeQuote(i, quote)
	if end < 0 || end > len(s.sql) {
		end = s.fail(ReasonUnclosed)
	}
	return token{Span{start, end}, kind}
}

// word reads an identifier or keyword, or a literal that starts with a letter.
func (s *scanner) word(i int) token {
	if s.at(i+1) == '\'' {
		switch s.sql[i] {
		case 'n', 'N':
			return s.quoted(tokenNational, i, i+2, '\'')
		case 'x', 'X':
			return s.digits(tokenHex, i)
		case 'b', 'B':
			return s.digits(tokenBit, i)
		}
	}
	end := s.wordEnd(i)
	if s.sql[i] == '_' && introducer(s.sql[i:end], s.dialect) {
		return token{Span{i, end}, tokenIntroducer}
	}
	return token{Span{i, end}, tokenWord}
}

func (s *scanner) wordEnd(i int) int {
	for i < len(s.sql) {
		c := s.sql[i]
		if wordByte[c] {
			i++
			continue
		}
		if c < 0x80 {
			break
		}
		n := s.nameCharacter(i)
		if n == 0 {
			return s.fail(ReasonForeignBytes)
		}
		i += n
	}
	return i
}

// digits reads X'..' or B'..': hexadecimal digits come in pairs.
func (s *scanner) digits(kind tokenKind, start int) token {
	i := start + 2
	for i < len(s.sql) && (isBinaryDigit(s.sql[i]) || kind == tokenHex && isHexDigit(s.sql[i])) {
		i++
	}
	if s.at(i) != '\'' || kind == tokenHex && (i-start)%2 != 0 {
		return token{Span{start, s.fail(ReasonSyntax)}, kind}
	}
	return token{Span{start, i + 1}, kind}
}

func isBinaryDigit(c byte) bool { return c == '0' || c == '1' }

func isHexDigit(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// number reads a number, or an identifier that starts with a digit (1abc),
// by the rules of the server's lexer: 0x and 0b in lower case only, an
// exponent only with a digit behind it.
func (s *scanner) number(start int) token {
	i := start
	if s.sql[i] == '0' && (s.at(i+1) == 'x' || s.at(i+1) == 'b') {
		kind, j := tokenHex, i+2
		if s.at(i+1) == 'b' {
			kind = tokenBit
		}
		for j < len(s.sql) && (isBinaryDigit(s.sql[j]) || kind == tokenHex && isHexDigit(s.sql[j])) {
			j++
		}
		if c := s.at(j); j > i+2 && !wordByte[c] && c < 0x80 {
			return token{Span{start, j}, kind}
		}
		return token{Span{start, s.wordEnd(start)}, tokenWord}
	}
	for isDigit(s.at(i)) {
		i++
	}
	if c := s.at(i); wordByte[c] || c >= 0x80 {
		if j := s.exponent(i); j > i {
			return token{Span{start, j}, tokenFloat}
		}
		return token{Span{start, s.wordEnd(start)}, tokenWord}
	}
	if s.at(i) != '.' {
		return token{Span{start, i}, tokenInt}
	}
	i++
	for isDigit(s.at(i)) {
		i++
	}
	if c := s.at(i); c == 'e' || c == 'E' {
		j := s.exponent(i)
		if j == i {
			return token{Span{start, s.fail(ReasonSyntax)}, tokenFloat}
		}
		return token{Span{start, j}, tokenFloat}
	}
	return token{Span{start, i}, tokenDecimal}
}

// exponent returns the index after the exponent at i, or i if there is none.
func (s *scanner) exponent(i int) int {
	if c := s.at(i); c != 'e' && c != 'E' {
		return i
	}
	j := i + 1
	if c := s.at(j); c == '+' || c == '-' {
		j++
	}
	if !isDigit(s.at(j)) {
		return i
	}
	for isDigit(s.at(j)) {
		j++
	}
	return j
}

// operator returns the length of the operator at i.
func (s *scanner) operator(i int) int {
	a, b := s.sql[i], s.at(i+1)
	switch {
	case a == '<' && b == '=' && s.at(i+2) == '>':
		return 3
	case (a == '<' || a == '>') && (b == '=' || b == a), a == '<' && b == '>',
		a == '!' && b == '=', a == ':' && b == '=', a == '|' && b == '|', a == '&' && b == '&', a == '@' && b == '@':
		return 2
	}
	return 1
}

// is reports whether t is the unquoted word in upper case given.
func (s *scanner) is(t token, word string) bool {
	return t.kind == tokenWord && foldsTo(s.sql[t.Start:t.End], word)
}

// isOp reports whether t is the operator given.
func (s *scanner) isOp(t token, op string) bool {
	return t.kind == tokenOp && string(s.sql[t.Start:t.End]) == op
}

// foldsTo reports whether b is word, given in upper case, without regard to
// the case of ASCII letters.
func foldsTo(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		c := b[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
