package rewrite

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// textRule says how a literal becomes the stored value of a string column.
type textRule struct {
	collation collation
	asIs      bool // the bytes between the quotes reach the column unchanged
	asciiAsIs bool // they do if they are all ASCII
	utf8      bool // the column holds UTF-8
	basicOnly bool // of three bytes at most (utf8mb3)
	trim      byte // trailing bytes that the column does not store, with trims
	trims     bool
	limit     int // characters, bytes in a binary column; 0 without limit
}

func newTextRule(c *Column, s *State) textRule {
	client, connection := charsetName(s.Lex.Charset), charsetName(s.CharsetConnection)
	column := charsetName(c.Charset)
	if strings.HasSuffix(c.Type, "binary") || strings.HasSuffix(c.Type, "blob") || column == "" {
		column = "binary"
	}
	r := textRule{limit: c.Length, utf8: isUTF8(column), asciiAsIs: asciiBased[client] && asciiBased[connection] && asciiBased[column]}
	if column == "binary" {
		r.collation = bytesCollation
		r.trims, r.trim = c.Type == "binary", 0
	} else {
		r.collation = collationNamed(c.Collation)
		r.trims, r.trim = c.Type == "char", ' '
		if c.Type == "char" && r.collation.noPadName {
			// MariaDB 10.11 fills a CHAR up to its length in characters when it
			// compares: "a" and "a" with an ignorable character differ.
			r.collation.known = false
		}
	}
	r.basicOnly = column == "utf8mb3"
	switch {
	case r.utf8 && isUTF8(client) && isUTF8(connection):
		r.asIs = true
		r.basicOnly = r.basicOnly || client == "utf8mb3" || connection == "utf8mb3"
	case client != connection:
	case client == "binary":
		r.asIs = r.utf8 || singleByte[column] || column == "binary"
	case column == "binary":
		r.asIs = isUTF8(client) || singleByte[client]
	default:
		r.asIs = client == column && singleByte[column]
	}
	return r
}

// charsetName folds the alias of older servers.
func charsetName(name string) string {
	name = strings.ToLower(name)
	if name == "utf8" {
		return "utf8mb3"
	}
	return name
}

// singleByte are the character sets of one byte per character in which every
// byte may be stored, so that equal sets mean equal bytes.
var singleByte = nameSet(`latin1 latin2 latin5 latin7 cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 koi8r koi8u
	greek hebrew`)

// asciiBased are the character sets in which bytes below 0x80 are ASCII,
// wherever they stand in a text of such bytes only.
var asciiBased = nameSet(`ascii latin1 latin2 latin5 latin7 cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 koi8r koi8u
	greek hebrew utf8mb3 utf8mb4 binary gbk gb2312 euckr`)

// append writes the key of a literal: bytes that are never zero, closed by a
// zero.
func (r *textRule) append(dst, text []byte, kind Kind, noBackslash bool) ([]byte, bool) {
	start := len(dst)
	body, exact := text, false
	switch kind {
	case String:
		dst, body = unquote(dst, text, noBackslash)
		exact = true
	case Int:
		// 5 is stored as '5', +5 and 05 as well.
		exact = len(text) < 18 && (text[0] >= '1' && text[0] <= '9' || len(text) == 1) && onlyDigits(text)
	case Hex:
		// The bytes are taken in the column's own character set.
		dst = appendHex(dst, text)
		body, exact = dst[start:], true
	}
	exact = exact && r.proves(body, kind == Hex)
	if r.trims {
		body = trimRight(body, r.trim)
	}
	middle := len(dst)
	dst = r.collation.append(dst, body)
	dst = append(dst, 0)
	if middle > start { // drop the unquoted text again
		dst = dst[:start+copy(dst[start:], dst[middle:])]
	}
	return dst, exact
}

// proves: the column stores exactly this text, neither converted nor cut.
func (r *textRule) proves(body []byte, raw bool) bool {
	ascii := isASCII(body)
	if !raw && !r.asIs && !(r.asciiAsIs && ascii) {
		return false
	}
	length := len(body)
	if r.utf8 && !ascii {
		if !utf8.Valid(body) || r.basicOnly && hasFourBytes(body) || bytes.Contains(body, nonCharacter) {
			return false
		}
		length = utf8.RuneCount(body)
	} else if !ascii && r.collation.asciiOnly {
		return false
	}
	return r.limit == 0 || length <= r.limit
}

// nonCharacter is U+FFFF: MariaDB 10.11 and MySQL 9.7 give it a weight in
// utf8mb4_unicode_ci that our table does not have.
var nonCharacter = []byte("\uffff")

func isASCII(b []byte) bool {
	var or byte
	for _, c := range b {
		or |= c
	}
	return or < 0x80
}

func hasFourBytes(b []byte) bool {
	for _, c := range b {
		if c >= 0xf0 {
			return true
		}
	}
	return false
}

func trimRight(b []byte, trim byte) []byte {
	for len(b) > 0 && b[len(b)-1] == trim {
		b = b[:len(b)-1]
	}
	return b
}

func appendHex(dst, text []byte) []byte {
	digits := hexDigits(text)
	if len(digits)%2 != 0 {
		dst = append(dst, hexValue(digits[0]))
		digits = digits[1:]
	}
	for i := 0; i < len(digits); i += 2 {
		dst = append(dst, hexValue(digits[i])<<4|hexValue(digits[i+1]))
	}
	return dst
}

// unquote returns the text of a string literal. Without escapes that is a part
// of the literal; otherwise it is appended to dst (MySQL manual, "String
// Literals": \% and \_ keep their backslash, an unknown escape loses it).
func unquote(dst, literal []byte, noBackslash bool) (grown, text []byte) {
	if len(literal) < 2 {
		return dst, literal
	}
	quote, body := literal[0], literal[1:len(literal)-1]
	if bytes.IndexByte(body, quote) < 0 && (noBackslash || bytes.IndexByte(body, '\\') < 0) {
		return dst, body
	}
	start := len(dst)
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == quote:
			i++ // doubled
		case c == '\\' && !noBackslash && i+1 < len(body):
			i++
			c = unescaped(body[i])
			if c == '%' || c == '_' {
				dst = append(dst, '\\')
			}
		}
		dst = append(dst, c)
	}
	return dst, dst[start:]
}

func unescaped(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	}
	return c
}
