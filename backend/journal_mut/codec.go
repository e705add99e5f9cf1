package journal

import (
	"encoding/binary"
	"errors"
)

// The first byte of a log record says what it is.
const (
	kindHeader byte = 1 + iota // first record of each segment
	kindRecord                 // one client statement
	kindQueue                  // definition of a queue and where it stands
	kindShape                  // definition of a shape
	kindSeal                   // a window is about to be applied
	kindDone                   // a window was applied
	kindClose                  // clean end of a segment
	kindReject                 // reject log: one statement
	kindDrop                   // reject log: statements taken out
)

// errMalformed says that a record with a good checksum does not decode: it was
// written by something else than this package.
var errMalformed = errors.New("malformed record")

// decoder takes fields off the front of a record. After the first field that
// does not fit, bad is set and every further field is zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint32() uint32 {
	v := d.uvarint()
	if v > 1<<32-1 {
		d.bad = true
		return 0
	}
	return uint32(v)
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// take returns the next n bytes, not copied.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

// bytes returns a field that is preceded by its length, not copied.
func (d *decoder) bytes() []byte { return d.take(d.uvarint()) }

func (d *decoder) id() (id ID) {
	copy(id[:], d.take(uint64(len(id))))
	return id
}

// end returns errMalformed unless the record was consumed exactly.
func (d *decoder) end() error {
	if d.bad || len(d.b) != 0 {
		return errMalformed
	}
	return nil
}

func appendBytes(b, field []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(field)))
	return append(b, field...)
}

func appendString(b []byte, field string) []byte {
	b = binary.AppendUvarint(b, uint64(len(field)))
	return append(b, field...)
}
