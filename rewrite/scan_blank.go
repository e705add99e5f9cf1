package rewrite

import (
	"bytes"
	"unicode/utf8"
)

// skip returns the index of the next byte from i on that is neither blank nor
// part of a plain comment (MySQL manual, "Comments"). s.why is set, and
// len(s.sql) returned, where a comment does not end or may hold code.
func (s *scanner) skip(i int) int {
	b := s.sql
	for i < len(b) {
		c := b[i]
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			i++
		case c == '#':
			i = s.lineComment(i + 1)
		case c == '-' && i+1 < len(b) && b[i+1] == '-':
			// Only with a blank or control byte behind it is this a comment;
			// the server sees a NUL behind the last byte.
			if i+2 < len(b) {
				next := b[i+2]
				if next >= 0x80 {
					return s.fail(ReasonForeignBytes)
				}
				if next > ' ' && next != 0x7F {
					return i
				}
			}
			i = s.lineComment(i + 2)
		case c == '/' && i+1 < len(b) && b[i+1] == '*':
			i = s.blockComment(i + 2)
		default:
			return i
		}
	}
	return len(b)
}

// lineComment returns the index after the end of the line that i is in. A NUL
// would end the comment too, and is refused.
func (s *scanner) lineComment(i int) int {
	rest := s.sql[i:]
	n := bytes.IndexByte(rest, '\n')
	if n < 0 {
		n = len(rest) - 1
	}
	if bytes.IndexByte(rest[:n+1], 0) >= 0 {
		return s.fail(ReasonNul)
	}
	return i + n + 1
}

// blockComment returns the index after the comment whose text starts at i. In
// /*/ the slash is text already. Executable comments and hints are refused.
func (s *scanner) blockComment(i int) int {
	rest := s.sql[i:]
	if len(rest) > 0 && (rest[0] == '!' || rest[0] == '+' || (rest[0] == 'M' || rest[0] == 'm') && len(rest) > 1 && rest[1] == '!') {
		return s.fail(ReasonExecutable)
	}
	n := bytes.Index(rest, []byte("*/"))
	if n < 0 {
		return s.fail(ReasonUnclosed)
	}
	if bytes.IndexByte(rest[:n], 0) >= 0 {
		return s.fail(ReasonNul)
	}
	return i + n + 2
}

// nameCharacter returns the length of the character of 0x80 and above at i, or
// 0 where it is not known how the server reads it as part of a name.
func (s *scanner) nameCharacter(i int) int {
	if !s.utf8 {
		return 0
	}
	r, n := utf8.DecodeRune(s.sql[i:])
	if r == utf8.RuneError || n > 3 {
		return 0 // names are stored in utf8mb3: four bytes never are part of one
	}
	return n
}
