package rewrite

import "slices"

// partKind says how the values of a key column are written into a key.
type partKind uint8

const (
	partOther partKind = iota // no more than an approximation
	partInteger
	partDecimal
	partFloat
	partYear
	partDate
	partDateTime
	partTimestamp
	partTime
	partText
)

// keyPart is one column of the primary key. What it appends to a key is never
// a proper prefix of what it appends for another value, so that parts can
// follow one another and each can be inverted for a descending index.
type keyPart struct {
	value    int // position in a row
	column   *Column
	kind     partKind
	desc     bool
	provable bool // the key of a canonical literal is exact
	size     int  // bytes of an integer
	offset   int  // seconds of a TIMESTAMP's time zone east of UTC
	text     textRule
}

// newKeyParts prepares the primary key; nil where rows do not supply it.
func newKeyParts(p *Plan) []keyPart {
	if p.Table.Primary == nil {
		return nil
	}
	var parts []keyPart
	for _, k := range p.Table.Primary.Parts {
		value := slices.Index(p.Columns, k.Column)
		if value < 0 || p.Table.Columns[k.Column].Generated {
			return nil
		}
		part := keyPart{value: value, column: &p.Table.Columns[k.Column], desc: k.Desc}
		part.classify(p.State)
		if k.Prefix > 0 {
			// Rows that differ behind the prefix are equal to the index.
			part.provable = false
		}
		parts = append(parts, part)
	}
	return parts
}

func (k *keyPart) classify(s *State) {
	k.size = integerSize(k.column.Type)
	if k.size > 0 {
		k.kind, k.provable = partInteger, true
		return
	}
	switch k.column.Type {
	case "decimal", "numeric":
		k.kind, k.provable = partDecimal, k.column.Precision > 0 && k.column.Scale <= k.column.Precision
	case "float", "double", "real":
		k.kind = partFloat // the server's own conversions decide on equality
	case "year":
		k.kind, k.provable = partYear, true
	case "date":
		k.kind, k.provable = partDate, true
	case "datetime":
		k.kind, k.provable = partDateTime, true
	case "timestamp":
		// Where clocks are put forward several local times are one instant.
		k.kind = partTimestamp
		k.offset, k.provable = zoneOffset(s.TimeZone)
	case "time":
		k.kind, k.provable = partTime, true
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext",
		"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		k.kind = partText
		k.text = newTextRule(k.column, s)
		k.provable = k.text.collation.known
	default:
		k.text = newTextRule(k.column, s) // enum, set, bit, uuid, inet6, json ...: ordered as text
	}
}

// Key appends the primary key of a row to dst, written so that the order of
// bytes is the order of the index as well as it is known. exact says that two
// exact keys of the same table are equal if and only if the server takes the
// stored values for equal; it never says so for values that the server would
// round, clip or convert in a way not proven. Nothing but speed may depend on
// the order. dst is the only memory that a key needs, except for characters
// above U+FFFF.
func (p *Plan) Key(dst, sql []byte, row []Value) (key []byte, exact bool) {
	exact = len(p.parts) > 0
	for i := range p.parts {
		part := &p.parts[i]
		v := row[part.value]
		start, ok := len(dst), false
		dst, ok = part.append(dst, sql[v.Start:v.End], v.Kind, p.State)
		exact = exact && ok && part.provable
		if part.desc {
			for j := start; j < len(dst); j++ {
				dst[j] = ^dst[j]
			}
		}
	}
	return dst, exact
}

func (k *keyPart) append(dst, text []byte, kind Kind, s *State) ([]byte, bool) {
	switch k.kind {
	case partInteger:
		return appendIntegerKey(dst, text, kind, k.size, k.column.Unsigned)
	case partDecimal:
		return appendDecimalKey(dst, text, kind, k.column)
	case partFloat:
		return appendFloatKey(dst, text, kind), false
	case partYear:
		return appendYearKey(dst, text, kind)
	case partDate, partDateTime, partTimestamp:
		return k.appendDateKey(dst, text, kind)
	case partTime:
		return appendTimeKey(dst, text, kind, k.column.Precision)
	default:
		return k.text.append(dst, text, kind, s.Lex.NoBackslashEscapes)
	}
}

// plainBody returns what is between the quotes of a literal. The callers
// accept digits and punctuation only, so that escapes make them give up.
func plainBody(text []byte, kind Kind) []byte {
	if kind == String && len(text) >= 2 {
		return text[1 : len(text)-1]
	}
	return text
}
