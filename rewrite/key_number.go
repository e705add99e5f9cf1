package rewrite

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
)

// integerSize is the number of bytes of an integer type, 0 for other types.
func integerSize(typeName string) int {
	switch typeName {
	case "tinyint":
		return 1
	case "smallint":
		return 2
	case "mediumint":
		return 3
	case "int", "integer":
		return 4
	case "bigint":
		return 8
	}
	return 0
}

// parseInteger reads an optional sign and digits, nothing else.
func parseInteger(text []byte) (negative bool, magnitude uint64, ok bool) {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	if len(text) == 0 {
		return false, 0, false
	}
	for _, c := range text {
		d := uint64(c - '0')
		if d > 9 || magnitude > (math.MaxUint64-d)/10 {
			return negative, magnitude, false
		}
		magnitude = magnitude*10 + d
	}
	return negative, magnitude, true
}

// inRange: an integer column of size bytes holds the value unchanged.
func inRange(negative bool, magnitude uint64, size int, unsigned bool) bool {
	bits := 8 * size
	switch {
	case unsigned && negative:
		return magnitude == 0
	case unsigned:
		return bits == 64 || magnitude < 1<<bits
	case negative:
		return magnitude <= 1<<(bits-1)
	default:
		return magnitude < 1<<(bits-1)
	}
}

// appendIntegerKey writes an integer in size bytes, big-endian, moved so that
// negative values come first. '12' in quotes is 12, as both families store it;
// '+1', '1e1', '1.0' and ' 7' are left to the server.
func appendIntegerKey(dst, text []byte, kind Kind, size int, unsigned bool) ([]byte, bool) {
	exact := false
	negative, magnitude, ok := false, uint64(0), true
	switch kind {
	case Bool:
		exact = true
		if len(text) == 4 { // TRUE, not FALSE
			magnitude = 1
		}
	case Int, String:
		body := plainBody(text, kind)
		negative, magnitude, ok = parseInteger(body)
		exact = ok && (kind == Int || body[0] != '+' && (magnitude != 0 || !negative))
	case Hex:
		magnitude, ok = parseHex(text)
	default:
		negative, magnitude, ok = parseInteger(leadingInteger(text))
	}
	if !ok && magnitude != 0 {
		magnitude = math.MaxUint64 // too many digits: the far end, as the server clips
	}
	exact = exact && inRange(negative, magnitude, size, unsigned)
	return appendInteger(dst, negative, magnitude, size, unsigned), exact
}

func appendInteger(dst []byte, negative bool, magnitude uint64, size int, unsigned bool) []byte {
	limit := uint64(math.MaxUint64) >> (64 - 8*size)
	var v uint64
	switch half := limit/2 + 1; {
	case unsigned && negative:
	case unsigned:
		v = min(magnitude, limit)
	case negative:
		v = half - min(magnitude, half)
	default:
		v = half + min(magnitude, half-1)
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], v)
	return append(dst, b[8-size:]...)
}

// leadingInteger is the part of a number before its point or exponent.
func leadingInteger(text []byte) []byte {
	if i := bytes.IndexAny(text, ".eE"); i >= 0 {
		return text[:i]
	}
	return text
}

func parseHex(text []byte) (uint64, bool) {
	var v uint64
	for _, c := range hexDigits(text) {
		v = v<<4 | uint64(hexValue(c))
	}
	return v, true
}

// hexDigits strips 0x... or X'...'.
func hexDigits(text []byte) []byte {
	switch {
	case len(text) >= 2 && text[0] == '0':
		return text[2:]
	case len(text) >= 3:
		return text[2 : len(text)-1]
	}
	return nil
}

func hexValue(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// appendYearKey accepts four digits from 1901 to 2155: two digits, 0 and '0'
// have meanings of their own.
func appendYearKey(dst, text []byte, kind Kind) ([]byte, bool) {
	_, year, ok := parseInteger(plainBody(text, kind))
	exact := ok && (kind == Int || kind == String) && len(plainBody(text, kind)) == 4 && year >= 1901 && year <= 2155
	return binary.BigEndian.AppendUint16(dst, uint16(min(year, math.MaxUint16))), exact
}

// appendDecimalKey writes sign and digits, two to a byte, in the precision and
// scale of the column; the bytes of a negative number are inverted.
func appendDecimalKey(dst, text []byte, kind Kind, c *Column) ([]byte, bool) {
	body := plainBody(text, kind)
	negative := len(body) > 0 && body[0] == '-'
	digits := body
	if negative || len(body) > 0 && body[0] == '+' {
		digits = body[1:]
	}
	whole, fraction := digits, []byte(nil)
	exact := kind == Int || kind == Decimal || kind == String && len(body) > 0 && body[0] != '+'
	if point := bytes.IndexByte(digits, '.'); point >= 0 {
		whole, fraction = digits[:point], digits[point+1:]
		exact = exact && len(whole) > 0 && len(fraction) > 0
	}
	exact = exact && len(digits) > 0 && len(digits) <= 65 && onlyDigits(whole) && onlyDigits(fraction)
	whole, fraction = bytes.TrimLeft(whole, "0"), bytes.TrimRight(fraction, "0")
	if len(whole)+len(fraction) == 0 {
		exact = exact && !negative // the server knows a negative zero
		negative = false
	}
	wholes, scale := max(c.Precision-c.Scale, 0), max(c.Scale, 0)
	exact = exact && len(whole) <= wholes && len(fraction) <= scale && !(negative && c.Unsigned)

	start := len(dst)
	dst = append(dst, 0x80)
	var half byte
	for i := range wholes + scale + (wholes+scale)%2 {
		digit := decimalDigit(whole, fraction, i, wholes)
		if i%2 == 0 {
			half = digit << 4
			continue
		}
		dst = append(dst, half|digit)
	}
	if negative {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst, exact
}

// decimalDigit is digit i of a number written with wholes digits before the
// point, counted from the left.
func decimalDigit(whole, fraction []byte, i, wholes int) byte {
	var c byte
	switch at := i - wholes + len(whole); {
	case i < wholes && at >= 0:
		c = whole[at]
	case i >= wholes && i-wholes < len(fraction):
		c = fraction[i-wholes]
	default:
		return 0
	}
	return (c - '0') & 0xf
}

func onlyDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// appendFloatKey orders floating point numbers. It is never exact: whether two
// literals become the same FLOAT is the server's own arithmetic.
func appendFloatKey(dst, text []byte, kind Kind) []byte {
	f, err := strconv.ParseFloat(string(plainBody(text, kind)), 64)
	if err != nil && f == 0 {
		return binary.BigEndian.AppendUint64(dst, 1<<63)
	}
	bits := math.Float64bits(f)
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(dst, bits)
}
