package journal

import "encoding/binary"

// QueueID names a queue inside one journal.
type QueueID uint32

// ShapeID names a shape inside one journal.
type ShapeID uint32

// MaxBody is the longest body of a record: the largest packet that the protocol
// and the servers allow.
const MaxBody = 1 << 30

// Record is one acknowledged client statement.
type Record struct {
	Seq   uint64 // given by Append
	Queue QueueID
	Shape ShapeID
	Time  int64 // unix seconds at which the client sent it
	Rows  uint32
	Body  []byte // the rows, byte for byte
}

// A record is stored as
//
//	kind | synced | seq | queue | shape | time | rows | length | body
//
// with varints. synced is the length of the segment that was known to be on
// stable storage when the record was written: a later record that reads well
// and promises more than what can be read proves that bytes were lost.
func appendRecordHead(b []byte, r *Record, seq uint64, synced int64) []byte {
	b = append(b, kindRecord)
	b = binary.AppendUvarint(b, uint64(synced))
	b = binary.AppendUvarint(b, seq)
	b = binary.AppendUvarint(b, uint64(r.Queue))
	b = binary.AppendUvarint(b, uint64(r.Shape))
	b = binary.AppendVarint(b, r.Time)
	b = binary.AppendUvarint(b, uint64(r.Rows))
	return binary.AppendUvarint(b, uint64(len(r.Body)))
}

// recordHeadMax bounds what appendRecordHead writes.
const recordHeadMax = 1 + 7*binary.MaxVarintLen64

// decodeRecordHead reads everything but the body, which must be what is left
// in rest when whole is set.
func decodeRecordHead(payload []byte, r *Record, whole bool) (body []byte, err error) {
	d := decoder{b: payload}
	if d.byte() != kindRecord {
		return nil, errMalformed
	}
	d.uvarint() // synced
	r.Seq = d.uvarint()
	r.Queue = QueueID(d.uint32())
	r.Shape = ShapeID(d.uint32())
	r.Time = d.varint()
	r.Rows = d.uint32()
	length := d.uvarint()
	if d.bad || r.Seq == 0 || length > MaxBody || (whole && length != uint64(len(d.b))) {
		return nil, errMalformed
	}
	return d.b, nil
}

// decodeRecord reads a whole record. Body points into payload.
func decodeRecord(payload []byte, r *Record) error {
	body, err := decodeRecordHead(payload, r, true)
	r.Body = body
	return err
}

// promise returns how much of the segment a record says was on stable storage
// before it. The payload may be the beginning of the record only.
func promise(payload []byte) int64 {
	d := decoder{b: payload}
	if d.byte() != kindRecord {
		return 0
	}
	n := d.uvarint()
	if d.bad || n > 1<<62 {
		return 0
	}
	return int64(n)
}
