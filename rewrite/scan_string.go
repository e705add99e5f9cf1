package rewrite

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// hasZero has the high bit of a byte set where a byte of v is zero. Bits above
// the lowest one may be wrong, the lowest one is right.
func hasZero(v uint64) uint64 { return (v - lowBits) &^ v & highBits }

// closeQuote returns the index just after the quote that closes the string
// whose content starts at i, or -1. It reads as the server's lexer does: a
// character of several bytes is skipped whole, a backslash hides exactly one
// byte, a doubled quote is content.
func (s *scanner) closeQuote(i int, quote byte) int {
	if s.class != charsetBytewise {
		return s.closeQuoteByCharacters(i, quote)
	}
	if s.rawBackslash {
		return s.closeQuoteRaw(i, quote)
	}
	b := s.sql
	quotes := uint64(quote) * lowBits
	for {
		// Eight bytes at a time up to the next quote or backslash.
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			hit := hasZero(w^quotes) | hasZero(w^'\\'*lowBits)
			if hit != 0 {
				i += bits.TrailingZeros64(hit) >> 3
				break
			}
			i += 8
		}
		for i < len(b) && b[i] != quote && b[i] != '\\' {
			i++
		}
		if i >= len(b) {
			return -1
		}
		if b[i] == '\\' {
			i += 2
			continue
		}
		if i+1 < len(b) && b[i+1] == quote {
			i += 2
			continue
		}
		return i + 1
	}
}

// closeQuoteRaw is closeQuote under NO_BACKSLASH_ESCAPES.
func (s *scanner) closeQuoteRaw(i int, quote byte) int {
	for i < len(s.sql) {
		n := bytes.IndexByte(s.sql[i:], quote)
		if n < 0 {
			return -1
		}
		i += n + 1
		if i >= len(s.sql) || s.sql[i] != quote {
			return i
		}
		i++
	}
	return -1
}

// closeQuoteByCharacters is closeQuote for the sets in which a backslash can
// be the trail byte of a character.
func (s *scanner) closeQuoteByCharacters(i int, quote byte) int {
	b := s.sql
	for i < len(b) {
		c := b[i]
		switch {
		case c >= 0x80:
			i += s.class.width(b[i:])
		case c == '\\' && !s.rawBackslash:
			i += 2
		case c == quote:
			if i+1 >= len(b) || b[i+1] != quote {
				return i + 1
			}
			i += 2
		default:
			i++
		}
	}
	return -1
}

// closeName returns the index just after the quote that closes the quoted
// identifier whose content starts at i. The server skips characters here by
// their lead byte alone, so that bytes which are no valid characters would be
// read differently: they are refused.
func (s *scanner) closeName(i int, quote byte) int {
	b := s.sql
	for i < len(b) {
		c := b[i]
		switch {
		case c == quote:
			if i+1 >= len(b) || b[i+1] != quote {
				return i + 1
			}
			i += 2
		case c == 0:
			return s.fail(ReasonNul)
		case c >= 0x80:
			n := s.nameCharacter(i)
			if n == 0 {
				return s.fail(ReasonForeignBytes)
			}
			i += n
		default:
			i++
		}
	}
	return s.fail(ReasonUnclosed)
}
