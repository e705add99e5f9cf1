package rewrite

// charsetClass says which bytes after a lead byte belong to the same
// character, as far as that decides what a backslash in a string means. Quotes
// (0x22, 0x27) are a trail byte in none of the sets a client can use; 0x5C is
// one in the sets below (MySQL manual, "Character Sets That MySQL Supports").
type charsetClass uint8

const (
	charsetBytewise charsetClass = iota // no character of several bytes contains an ASCII byte that matters
	charsetGBK
	charsetBig5
	charsetSJIS // sjis and cp932
	charsetGB18030
	charsetUnknown
)

// classOf returns the class of a value of character_set_client. A set that is
// not listed may read ASCII bytes differently (swe7 has letters in place of
// brackets), so it is unknown. ucs2, utf16 and utf32 cannot be client sets.
func classOf(charset string) charsetClass {
	switch charset {
	case "utf8mb4", "utf8", "utf8mb3", "latin1", "ascii", "binary",
		"latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257",
		"cp850", "cp852", "cp866", "dec8", "hp8", "koi8r", "koi8u", "greek", "hebrew",
		"tis620", "armscii8", "geostd8", "macce", "macroman", "keybcs2",
		// Of several bytes, but every trail byte is a letter or 0x80 and above.
		"euckr", "gb2312", "ujis", "eucjpms":
		return charsetBytewise
	case "gbk":
		return charsetGBK
	case "big5":
		return charsetBig5
	case "sjis", "cp932":
		return charsetSJIS
	case "gb18030":
		return charsetGB18030
	}
	return charsetUnknown
}

// width returns the length of the character that starts at b[0], which is
// 0x80 or above, as the server's my_ismbchar does: 1 for a byte that starts no
// valid character.
func (c charsetClass) width(b []byte) int {
	if len(b) < 2 {
		return 1
	}
	lead, trail := b[0], b[1]
	switch c {
	case charsetGBK:
		if lead >= 0x81 && lead <= 0xFE && (trail >= 0x40 && trail <= 0x7E || trail >= 0x80 && trail <= 0xFE) {
			return 2
		}
	case charsetBig5:
		if lead >= 0xA1 && lead <= 0xF9 && (trail >= 0x40 && trail <= 0x7E || trail >= 0xA1 && trail <= 0xFE) {
			return 2
		}
	case charsetSJIS:
		if (lead >= 0x81 && lead <= 0x9F || lead >= 0xE0 && lead <= 0xFC) &&
			(trail >= 0x40 && trail <= 0x7E || trail >= 0x80 && trail <= 0xFC) {
			return 2
		}
	case charsetGB18030:
		if lead < 0x81 || lead > 0xFE {
			return 1
		}
		if trail >= 0x40 && trail <= 0x7E || trail >= 0x80 && trail <= 0xFE {
			return 2
		}
		if len(b) >= 4 && trail >= 0x30 && trail <= 0x39 && b[2] >= 0x81 && b[2] <= 0xFE && b[3] >= 0x30 && b[3] <= 0x39 {
			return 4
		}
	}
	return 1
}

// isUTF8 reports whether names in the text can be read as UTF-8.
func isUTF8(charset string) bool {
	return charset == "utf8mb4" || charset == "utf8mb3" || charset == "utf8"
}

// introducer reports whether _name before a literal is a character set of
// every supported version of the dialect; any other _name is a column.
func introducer(name []byte, dialect Dialect) bool {
	var buf [16]byte
	switch string(lowered(&buf, name)) {
	case "_utf8mb4", "_utf8", "_latin1", "_ascii", "_binary", "_ucs2", "_utf16", "_utf16le", "_utf32",
		"_latin2", "_latin5", "_latin7", "_cp1250", "_cp1251", "_cp1256", "_cp1257",
		"_cp850", "_cp852", "_cp866", "_koi8r", "_koi8u", "_greek", "_hebrew",
		"_gbk", "_gb2312", "_big5", "_sjis", "_cp932", "_euckr", "_ujis", "_eucjpms", "_tis620":
		return true
	case "_gb18030", "_utf8mb3":
		return dialect == MySQL
	}
	return false
}

// lowered returns name in lower case, in buf; nil when it does not fit.
func lowered(buf *[16]byte, name []byte) []byte {
	if len(name) > len(buf) {
		return nil
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return buf[:len(name)]
}
