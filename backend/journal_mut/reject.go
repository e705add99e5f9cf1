package journal

import "encoding/binary"

// Reject is a statement that the server refused.
type Reject struct {
	ID        uint64 // given by the log
	Time      int64  // unix seconds of the refusal
	Journal   ID     // where the statement was acknowledged
	Seq       uint64 // its record there, 0 if it was never journaled
	Table     string
	User      string
	Schema    string
	Statement []byte // byte for byte as the client sent it
	Errno     uint16
	SQLState  string
	Message   string
	State     []byte // what a retry needs, the caller's
}

// A reject is stored as
//
//	kind | id | time | journal | seq | errno | table | user | schema | sqlstate | message | state | statement
//
// with varints, and strings preceded by their length.
func appendReject(b []byte, r *Reject) []byte {
	b = append(b, kindReject)
	b = binary.AppendUvarint(b, r.ID)
	b = binary.AppendVarint(b, r.Time)
	b = append(b, r.Journal[:]...)
	b = binary.AppendUvarint(b, r.Seq)
	b = binary.AppendUvarint(b, uint64(r.Errno))
	b = appendString(b, r.Table)
	b = appendString(b, r.User)
	b = appendString(b, r.Schema)
	b = appendString(b, r.SQLState)
	b = appendString(b, r.Message)
	b = appendBytes(b, r.State)
	return appendBytes(b, r.Statement)
}

// decodeReject reads an entry. Statement and State point into payload.
func decodeReject(payload []byte, r *Reject) error {
	d := decoder{b: payload}
	if d.byte() != kindReject {
		return errMalformed
	}
	r.ID = d.uvarint()
	r.Time = d.varint()
	r.Journal = d.id()
	r.Seq = d.uvarint()
	errno := d.uvarint()
	r.Errno = uint16(errno)
	r.Table = string(d.bytes())
	r.User = string(d.bytes())
	r.Schema = string(d.bytes())
	r.SQLState = string(d.bytes())
	r.Message = string(d.bytes())
	r.State = d.bytes()
	r.Statement = d.bytes()
	if errno > 1<<16-1 || r.ID == 0 {
		return errMalformed
	}
	return d.end()
}

// A drop is stored as kind | time | count | ids.
func appendDrop(b []byte, time int64, ids []uint64) []byte {
	b = append(b, kindDrop)
	b = binary.AppendVarint(b, time)
	b = binary.AppendUvarint(b, uint64(len(ids)))
	for _, id := range ids {
		b = binary.AppendUvarint(b, id)
	}
	return b
}

func decodeDrop(payload []byte) (time int64, ids []uint64, err error) {
	d := decoder{b: payload}
	if d.byte() != kindDrop {
		return 0, nil, errMalformed
	}
	time = d.varint()
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		return 0, nil, errMalformed
	}
	ids = make([]uint64, n)
	for i := range ids {
		ids[i] = d.uvarint()
	}
	return time, ids, d.end()
}
