package journal

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/record"
)

// Sizes of the record package's format: a chunk has a header of seven bytes and
// never crosses the end of a block.
const (
	blockSize   = 32 << 10
	chunkHeader = 7
)

// indexStep is the distance of the entries of a segment's index.
const indexStep = 1 << 20

// segment is one file of a chain. The owner's lock guards it.
type segment struct {
	number uint64
	path   string
	header header
	void   bool  // its creation failed: it holds nothing
	start  int64 // where the header ends
	end    int64 // what lies behind was abandoned
	size   int64 // bytes on disk, abandoned ones included
	synced int64 // known to be on stable storage
	index  []indexEntry

	lasts     []queueLast // last record of each queue in it, once it is closed
	appliedAt time.Time   // when it was first seen to be wholly applied
	readers   int         // not removed while above zero
}

// indexEntry says that the records from seq on begin at or behind a block.
type indexEntry struct {
	seq   uint64
	block int64
}

// queueLast is the last record of a queue in a segment.
type queueLast struct {
	queue *queue
	seq   uint64
}

// note adds the record that begins at offset to the index, if it is time to.
func (s *segment) note(seq uint64, offset int64) {
	if n := len(s.index); n == 0 || offset-s.index[n-1].block >= indexStep {
		s.index = append(s.index, indexEntry{seq: seq, block: offset &^ (blockSize - 1)})
	}
}

// seek returns the block from which all records >= seq are found.
func (s *segment) seek(seq uint64) int64 {
	i := sort.Search(len(s.index), func(i int) bool { return s.index[i].seq > seq })
	if i == 0 {
		return 0
	}
	return s.index[i-1].block
}

// recordStart returns where the record behind offset begins: a chunk header
// that does not fit moves to the next block.
func recordStart(offset int64) int64 {
	if room := blockSize - offset%blockSize; room < chunkHeader {
		return offset + room
	}
	return offset
}

// header is the first record of each segment.
type header struct {
	kind    string // journal or rejects
	id      ID
	number  uint64
	base    uint64 // all sequence numbers in the segment are >= base
	limit   uint64 // and < limit
	created int64
	mode    SyncMode
	boot    ID // boot of the machine, zero if unknown
	// ends says where the segments before this one end that no earlier header
	// speaks of. The first entry is the direct predecessor that holds records;
	// others are creations that failed.
	ends []segmentEnd
}

type segmentEnd struct {
	number uint64
	end    int64
}

const headerMagic = "sluice segment"

func appendHeader(b []byte, h *header) []byte {
	b = append(b, kindHeader)
	b = append(b, headerMagic...)
	b = binary.AppendUvarint(b, formatVersion)
	b = appendString(b, h.kind)
	b = append(b, h.id[:]...)
	b = binary.AppendUvarint(b, h.number)
	b = binary.AppendUvarint(b, h.base)
	b = binary.AppendUvarint(b, h.limit)
	b = binary.AppendVarint(b, h.created)
	b = append(b, byte(h.mode))
	b = append(b, h.boot[:]...)
	b = binary.AppendUvarint(b, uint64(len(h.ends)))
	for _, e := range h.ends {
		b = binary.AppendUvarint(b, e.number)
		b = binary.AppendUvarint(b, uint64(e.end))
	}
	return b
}

func decodeHeader(payload []byte) (h header, err error) {
	d := decoder{b: payload}
	if d.byte() != kindHeader || string(d.take(uint64(len(headerMagic)))) != headerMagic {
		return h, errMalformed
	}
	if v := d.uvarint(); !d.bad && v != formatVersion {
		return h, fmt.Errorf("%w: written by a newer sluice (version %d, this one knows %d)", ErrVersion, v, formatVersion)
	}
	h.kind = string(d.bytes())
	h.id = d.id()
	h.number = d.uvarint()
	h.base = d.uvarint()
	h.limit = d.uvarint()
	h.created = d.varint()
	h.mode = SyncMode(d.byte())
	h.boot = d.id()
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		return h, errMalformed
	}
	for range n {
		e := segmentEnd{number: d.uvarint(), end: int64(d.uvarint())}
		if e.end < 0 {
			return h, errMalformed
		}
		h.ends = append(h.ends, e)
	}
	return h, d.end()
}

// segmentName returns the file name of a segment.
func segmentName(number uint64) string { return fmt.Sprintf("%010d.log", number) }

// parseSegmentName reads a file name, and reports whether it is one of ours.
func parseSegmentName(name string) (number uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, ".log")
	if !ok || len(digits) < 10 {
		return 0, false
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' || number > 1<<60 {
			return 0, false
		}
		number = number*10 + uint64(c-'0')
	}
	return number, number > 0 && segmentName(number) == name
}

// segmentNumbers lists the segments in the directory, oldest first.
func (d *directory) segmentNumbers() ([]uint64, error) {
	names, err := d.fs.List(d.path)
	if err != nil {
		return nil, fmt.Errorf("list %s directory %s: %w", d.kind, d.path, err)
	}
	var numbers []uint64
	for _, name := range names {
		if n, ok := parseSegmentName(name); ok {
			numbers = append(numbers, n)
		}
	}
	sort.Slice(numbers, func(i, k int) bool { return numbers[i] < numbers[k] })
	return numbers, nil
}

// chain is a log: the segments of a directory, of which the last one may be
// open for writing. It has no lock of its own, its owner's guards it.
type chain struct {
	*directory
	segmentBytes int64
	mode         SyncMode
	boot         ID
	now          func() time.Time

	segments []*segment   // oldest first
	ends     []segmentEnd // not yet told by a header
	next     uint64       // number of the next segment
	total    int64        // bytes on disk
	clean    bool         // after scan: the newest segment was closed in order

	active *segment // the newest segment while it is open
	file   segmentFile
	writer *record.Writer
	broken bool // a write failed: the active segment takes nothing more
}

// segmentFile is the part of vfs.File that a chain needs for writing.
type segmentFile interface {
	Write(p []byte) (int, error)
	Sync() error
	SyncData() error
	Close() error
}

// create begins a new segment for records from base on. Its header is on stable
// storage afterwards, in every mode: it voids what earlier segments hold behind
// their ends, and it sets aside the sequence numbers below its limit.
func (c *chain) create(base uint64) error {
	s := &segment{number: c.next, path: c.fs.PathJoin(c.path, segmentName(c.next))}
	s.header = header{
		kind: c.kind, id: c.id, number: c.next, base: base, limit: base + uint64(c.segmentBytes),
		created: c.now().Unix(), mode: c.mode, boot: c.boot, ends: c.ends,
	}
	f, err := c.fs.Create(s.path, dataCategory)
	if err != nil {
		return writeError("create", s.path, err)
	}
	w := record.NewWriter(f)
	if err = c.restrict(s.path, fileMode); err == nil {
		_, err = w.WriteRecord(appendHeader(nil, &s.header))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = c.sync(c.path)
	}
	if err != nil {
		_ = f.Close()
		if c.fs.Remove(s.path) != nil {
			// It stays, in whatever state: the next header says that it is void.
			c.ends = append(c.ends, segmentEnd{number: s.number})
			c.next++
			c.addVoid(s)
		}
		return writeError("create", s.path, err)
	}
	s.end = w.Size()
	s.start, s.size, s.synced = s.end, s.end, s.end
	c.total += s.size
	c.segments = append(c.segments, s)
	c.ends = nil
	c.next++
	c.active, c.file, c.writer, c.broken = s, f, w, false
	return nil
}

// addVoid keeps account of a file that holds nothing.
func (c *chain) addVoid(s *segment) {
	s.void, s.end = true, 0
	c.segments = append(c.segments, s)
}

// newest returns the last segment that can hold records, or nil.
func (c *chain) newest() *segment {
	for i := len(c.segments) - 1; i >= 0; i-- {
		if !c.segments[i].void {
			return c.segments[i]
		}
	}
	return nil
}

// add puts a record into the writer's buffer. Nothing is written before flush,
// except for full blocks.
func (c *chain) add(head, body []byte) error {
	w, err := c.writer.Next()
	if err == nil {
		_, err = w.Write(head)
	}
	if err == nil && len(body) > 0 {
		_, err = w.Write(body)
	}
	if err != nil {
		c.broken = true
		return writeError("write", c.active.path, err)
	}
	return nil
}

// flush passes what was added to the operating system.
func (c *chain) flush() error {
	if err := c.writer.Flush(); err != nil {
		c.broken = true
		return writeError("write", c.active.path, err)
	}
	end := c.writer.Size()
	c.total += end - c.active.size
	c.active.end, c.active.size = end, end
	return nil
}

// closeActive ends the active segment at its end; the next header will say so.
func (c *chain) closeActive() error {
	if c.active == nil {
		return nil
	}
	s := c.active
	err := c.file.Close()
	if info, serr := c.fs.Stat(s.path); serr == nil {
		c.total += info.Size() - s.size
		s.size = info.Size()
	}
	c.ends = append(c.ends, segmentEnd{number: s.number, end: s.end})
	c.active, c.file, c.writer, c.broken = nil, nil, nil, false
	return err
}

// remove deletes a segment's file. The directory is synced so that segments go
// in order even when the power fails: a gap would look like damage.
func (c *chain) remove(s *segment) error {
	if err := c.fs.Remove(s.path); err != nil {
		return writeError("remove", s.path, err)
	}
	return c.sync(c.path)
}
