package rewrite

import (
	"strings"
	"unicode/utf8"

	"vitess.io/vitess/go/mysql/collations"
	"vitess.io/vitess/go/mysql/collations/colldata"
)

// collation turns text into bytes that compare as the server compares the
// text. What it appends has no zero byte.
//
// Compared with WEIGHT_STRING() of MariaDB 10.11 and MySQL 9.7 for every
// character up to U+1FFFF, and with = between stored values for texts made of
// awkward characters: the two families agree with one another and with these
// tables for every collation that is known here.
type collation struct {
	known     bool // equality is the server's
	asciiOnly bool // ... of ASCII texts
	pad       bool // PAD SPACE: trailing spaces do not count
	noPadName bool // MariaDB's nopad variant of a PAD SPACE collation
	bytes     *[256]byte
	weights   *weightTable
	levels    colldata.Collation // weights of several levels, NO PAD
}

var (
	identity       = newIdentity()
	bytesCollation = collation{known: true, bytes: identity}
)

func newIdentity() *[256]byte {
	var table [256]byte
	for i := range table {
		table[i] = byte(i)
	}
	return &table
}

// oneLevel are the collations with weights of one level that belong to single
// characters, without contractions. The utf8mb3 ones have the weights of
// their utf8mb4 namesakes.
var oneLevel = nameSet("utf8mb4_general_ci utf8mb4_unicode_ci utf8mb4_unicode_520_ci utf8mb4_0900_ai_ci")

// collationNamed finds a collation. One that is not known is approximated:
// MariaDB's uca1400 ones and the language-specific ones by Unicode weights.
func collationNamed(name string) collation {
	name = strings.ToLower(name)
	if rest, ok := strings.CutPrefix(name, "utf8_"); ok {
		name = "utf8mb3_" + rest
	}
	noPad := strings.Contains(name, "_nopad_") // MariaDB: latin1_swedish_nopad_ci, utf8mb4_nopad_bin
	name = strings.Replace(name, "_nopad_", "_", 1)
	charset, _, _ := strings.Cut(name, "_")
	unicode := charset == "utf8mb4" || charset == "utf8mb3"
	if unicode {
		name = "utf8mb4" + name[len(charset):]
	}
	switch {
	case name == "binary":
		return bytesCollation
	case name == "utf8mb4_0900_bin":
		return collation{known: true, bytes: identity}
	case strings.HasSuffix(name, "_bin"):
		return collation{
			known: unicode || charset == "ascii" || singleByte[charset], asciiOnly: charset == "ascii", pad: !noPad, bytes: identity,
		}
	case oneLevel[name]:
		return collation{known: true, pad: !noPad && name != "utf8mb4_0900_ai_ci", noPadName: noPad, weights: newWeightTable(name)}
	case name == "utf8mb4_0900_as_ci", name == "utf8mb4_0900_as_cs":
		return collation{known: true, levels: lookupCollation(name)}
	case unicode || charset == "uca1400":
		return collation{pad: !noPad, weights: newWeightTable("utf8mb4_0900_ai_ci")}
	}
	c := collation{pad: !noPad, bytes: identity}
	if simple, ok := lookupCollation(name).(*colldata.Collation_8bit_simple_ci); ok {
		c.known, c.asciiOnly, c.bytes = true, charset == "ascii", simpleOrder(simple)
	}
	return c
}

func lookupCollation(name string) colldata.Collation {
	return colldata.Lookup(collations.MySQL8().LookupByName(name))
}

func simpleOrder(c *colldata.Collation_8bit_simple_ci) *[256]byte {
	var table [256]byte
	for i := range table {
		table[i] = c.WeightString(nil, []byte{byte(i)}, 0)[0]
	}
	return &table
}

// append writes the weights of text.
func (c *collation) append(dst, text []byte) []byte {
	switch {
	case c.weights != nil:
		return c.weights.append(dst, text, c.pad)
	case c.levels != nil:
		return c.appendLevels(dst, text)
	}
	end := len(text)
	if c.pad {
		for space := c.bytes[' ']; end > 0 && c.bytes[text[end-1]] == space; end-- {
		}
	}
	for _, b := range text[:end] {
		dst = appendNonZero(dst, c.bytes[b])
	}
	return dst
}

// appendNonZero writes 0 as 1 1 and 1 as 1 2, which keeps the order.
func appendNonZero(dst []byte, b byte) []byte {
	if b <= 1 {
		return append(dst, 1, b+1)
	}
	return append(dst, b)
}

func (c *collation) appendLevels(dst, text []byte) []byte {
	start := len(dst)
	dst = c.levels.WeightString(dst, text, 0)
	low := 0
	for _, b := range dst[start:] {
		if b <= 1 {
			low++
		}
	}
	if low == 0 {
		return dst
	}
	// Make room and write from the end, so that no second buffer is needed.
	from := len(dst)
	for range low {
		dst = append(dst, 0)
	}
	for to := len(dst); from > start; {
		from--
		b := dst[from]
		if b <= 1 {
			to--
			dst[to], b = b+1, 1
		}
		to--
		dst[to] = b
	}
	return dst
}

// tabled is the number of characters whose weights a weightTable holds: those
// of one and two bytes in UTF-8, from Latin to Arabic.
const tabled = 0x800

// weightTable is a collation of one level. Characters that are not in the
// table are looked up; for utf8mb4_unicode_ci and utf8mb4_unicode_520_ci that
// allocates.
type weightTable struct {
	source  colldata.Collation
	space   uint16
	offsets [tabled + 1]uint16
	weights []uint16
}

func newWeightTable(name string) *weightTable {
	t := &weightTable{source: lookupCollation(name), weights: make([]uint16, 0, tabled+tabled/2)}
	var character, weights []byte
	for r := range rune(tabled) {
		character = utf8.AppendRune(character[:0], r)
		weights = t.source.WeightString(weights[:0], character, 0)
		for i := 0; i+1 < len(weights); i += 2 {
			t.weights = append(t.weights, weightAt(weights, i))
		}
		t.offsets[r+1] = uint16(len(t.weights))
	}
	t.space = t.weights[t.offsets[' ']]
	return t
}

func weightAt(b []byte, i int) uint16 { return uint16(b[i])<<8 | uint16(b[i+1]) }

func (t *weightTable) append(dst, text []byte, pad bool) []byte {
	keep := len(dst) // end of the last weight that is not a space
	for i := 0; i < len(text); {
		r, width := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRune(text[i:])
		}
		if r >= tabled {
			for width < len(text)-i && text[i+width] >= 0xe0 { // up to the next character that is
				_, more := utf8.DecodeRune(text[i+width:])
				width += more
			}
			dst, keep = t.appendHigh(dst, text[i:i+width], keep)
			i += width
			continue
		}
		i += width
		for _, w := range t.weights[t.offsets[r]:t.offsets[r+1]] {
			dst = appendWeight(dst, w)
			if w != t.space {
				keep = len(dst)
			}
		}
	}
	if pad {
		return dst[:keep]
	}
	return dst
}

// appendHigh writes characters that are not in the table.
func (t *weightTable) appendHigh(dst, text []byte, keep int) ([]byte, int) {
	start := len(dst)
	dst = t.source.WeightString(dst, text, 0)
	middle := len(dst)
	for i := start; i+1 < middle; i += 2 {
		w := weightAt(dst, i)
		dst = appendWeight(dst, w)
		if w != t.space {
			keep = len(dst) - (middle - start)
		}
	}
	return dst[:start+copy(dst[start:], dst[middle:])], keep
}

// appendWeight writes a weight in one to three bytes without a zero, in order:
// letters of the Unicode collations take two, ASCII of the general ones one.
func appendWeight(dst []byte, w uint16) []byte {
	const (
		one = 0x80
		two = 0x40 * 255
	)
	v := uint32(w) + 1
	if v < one {
		return append(dst, byte(v))
	}
	v -= one
	if v < two {
		return append(dst, byte(one+v/255), byte(v%255)+1)
	}
	v -= two
	return append(dst, byte(0xc0+v/(255*255)), byte(v/255%255)+1, byte(v%255)+1)
}
