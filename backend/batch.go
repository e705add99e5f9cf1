package backend

import (
	"encoding/binary"
	"sync"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/rewrite"
)

// Batch is what a window or a transaction gathered: client statements in arrival
// order, with their rows. It belongs to one goroutine.
type Batch struct {
	entries []entry
	rows    []row
	text    []byte // the rows' bytes, back to back

	keys    rewrite.Keys
	scanned rewrite.Rows
	sizes   []uint32
}

// entry is one client statement.
type entry struct {
	shape *Shape
	seq   uint64 // in the journal, 0 if held
	time  int64  // second at which the client sent it, 0 if its rows do not depend on it
	first int    // its rows are rows[first : first+count]
	count int
}

// row is one row: text[start:end] is `(v1,v2,...)` as the client sent it.
type row struct {
	start, end int
	entry      int32
}

// Reset empties b and keeps its memory.
func (b *Batch) Reset() {
	b.entries, b.rows, b.text = b.entries[:0], b.rows[:0], b.text[:0]
}

// spareBatches are those that sessions have released.
var spareBatches sync.Pool // *Batch

// Release empties b and leaves its memory to other sessions' batches.
func (b *Batch) Release() {
	if cap(b.rows) == 0 {
		return
	}
	b.Reset()
	spare := *b
	*b = Batch{}
	spareBatches.Put(&spare)
}

// reserve makes room at once for what a window is known to have: growing by doubling
// would take twice the memory.
func (b *Batch) reserve(rows, bytes int) {
	if cap(b.text) < bytes {
		b.text = make([]byte, 0, bytes)
	}
	if cap(b.rows) < rows {
		b.rows = make([]row, 0, rows)
	}
}

// Len is the number of rows.
func (b *Batch) Len() int { return len(b.rows) }

// Bytes is the size of the rows' text.
func (b *Batch) Bytes() int { return len(b.text) }

// Statements is the number of client statements.
func (b *Batch) Statements() int { return len(b.entries) }

// Add appends one client statement whose rows stand in sql as scanned says.
func (b *Batch) Add(s *Shape, sql []byte, scanned *rewrite.Rows, second int64) {
	if cap(b.rows) == 0 {
		if spare, ok := spareBatches.Get().(*Batch); ok {
			*b = *spare
		}
	}
	b.open(s, 0, second)
	if s.Plan.Set {
		b.addRow(AppendSetRow(nil, sql, scanned))
		return
	}
	for _, span := range scanned.Spans {
		b.addRow(sql[span.Start:span.End])
	}
}

// addRecord appends one client statement as the journal has it.
func (b *Batch) addRecord(s *Shape, r *journal.Record) {
	if s.dead != nil {
		b.addDead(s, r)
		return
	}
	lex := s.lex
	b.scanned.Reset()
	why := rewrite.ScanRowList(&b.scanned, r.Body, &lex)
	var facts rewrite.Facts
	if why == "" {
		facts, why = s.Plan.Check(r.Body, &b.scanned)
	}
	if why != "" {
		b.addDead(s.without(why), r)
		return
	}
	second := r.Time
	if !facts.Timed {
		second = 0
	}
	b.open(s, r.Seq, second)
	for _, span := range b.scanned.Spans {
		b.addRow(r.Body[span.Start:span.End])
	}
}

// addDead appends a client statement that is to be rejected. Its rows cannot be told
// apart: all their text is the first one's.
func (b *Batch) addDead(s *Shape, r *journal.Record) {
	b.open(s, r.Seq, 0)
	text := r.Body
	for range max(r.Rows, 1) {
		b.addRow(text)
		text = nil
	}
}

func (b *Batch) open(s *Shape, seq uint64, second int64) {
	b.entries = append(b.entries, entry{shape: s, seq: seq, time: second, first: len(b.rows)})
}

func (b *Batch) addRow(text []byte) {
	start := len(b.text)
	b.text = append(b.text, text...)
	b.rows = append(b.rows, row{start, len(b.text), int32(len(b.entries) - 1)})
	b.entries[len(b.entries)-1].count++
}

// AppendSetRow writes the values of an INSERT ... SET as a row of a VALUES list.
func AppendSetRow(dst, sql []byte, rows *rewrite.Rows) []byte {
	for i, v := range rows.Values {
		sep := byte(',')
		if i == 0 {
			sep = '('
		}
		dst = append(append(dst, sep), sql[v.Start:v.End]...)
	}
	return append(dst, ')')
}

// AppendRows writes the rows of a client statement as the journal keeps them.
func AppendRows(dst, sql []byte, s *Shape, rows *rewrite.Rows) []byte {
	if s.Plan.Set {
		return AppendSetRow(dst, sql, rows)
	}
	for i, span := range rows.Spans {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, sql[span.Start:span.End]...)
	}
	return dst
}

// Arrangement is the order in which a batch's rows are applied and where it is
// cut into transactions.
type Arrangement struct {
	Order  []uint32 // row numbers; nil is arrival order
	Chunks []uint32 // first position of each chunk in Order, beginning with 0
}

// Limits bound what is sent to the server at once.
type Limits struct {
	ChunkRows      int // rows of a transaction
	ChunkBytes     int // bytes of a transaction
	StatementBytes int // bytes of a statement
	PacketBytes    int // the server's max_allowed_packet
}

// Arrange puts the rows in order (design section 4). Only an order that cannot
// change the outcome is taken; else rows stay as they arrived.
func (b *Batch) Arrange(l Limits) Arrangement {
	switch {
	case len(b.entries) == 0:
		return Arrangement{Chunks: []uint32{0}}
	case b.oneShape():
		if a, ok := b.byKey(l); ok {
			return a
		}
	case b.allPlain():
		return Arrangement{Order: b.byShape(), Chunks: []uint32{0}}
	}
	return Arrangement{Chunks: b.arrivalChunks(l)}
}

func (b *Batch) oneShape() bool {
	for i := range b.entries {
		if b.entries[i].shape != b.entries[0].shape {
			return false
		}
	}
	return true
}

// allPlain: every shape is a plain INSERT that may be put in order, so shapes may
// change places; if a row fails, all is replayed as it arrived.
func (b *Batch) allPlain() bool {
	for i := range b.entries {
		if b.entries[i].shape.Plan.Order != rewrite.ByKey {
			return false
		}
	}
	return true
}

// byKey sorts the rows of one shape by second and primary key.
func (b *Batch) byKey(l Limits) (Arrangement, bool) {
	p := b.entries[0].shape.Plan
	if p.Order == rewrite.Arrival {
		return Arrangement{}, false
	}
	cut, timed := p.Cut, false
	for i := range b.entries {
		cut = cut && b.entries[i].count == 1
		timed = timed || b.entries[i].time != b.entries[0].time
	}
	b.keys.Reset()
	exact := true
	var key []byte
	lex := p.State.Lex
	for i := range b.rows {
		r := &b.rows[i]
		b.scanned.Reset()
		text := b.text[r.start:r.end]
		if why := rewrite.ScanRowList(&b.scanned, text, &lex); why != "" {
			return Arrangement{}, false
		}
		key = key[:0]
		if timed {
			key = binary.BigEndian.AppendUint64(key, uint64(b.entries[r.entry].time))
		}
		var ok bool
		key, ok = p.Key(key, text, b.scanned.Row(0))
		exact = exact && ok
		b.keys.Append(key)
	}
	if !exact && p.Order == rewrite.ByKeyStable {
		return Arrangement{}, false
	}
	if timed && p.Order == rewrite.ByKeyStable {
		return Arrangement{}, false // the second comes first: equal keys keep their order only within it
	}
	a := Arrangement{Order: b.keys.Sort(nil), Chunks: []uint32{0}}
	if cut && exact && !timed {
		b.sizes = b.sizes[:0]
		for i := range b.rows {
			b.sizes = append(b.sizes, uint32(b.rows[i].end-b.rows[i].start))
		}
		a.Chunks = a.Chunks[:0]
		for _, at := range b.keys.CutPoints(nil, a.Order, b.sizes, l.ChunkRows, l.ChunkBytes) {
			a.Chunks = append(a.Chunks, uint32(at))
		}
	}
	return a, true
}

// byShape groups the rows by shape, in order of first arrival.
func (b *Batch) byShape() []uint32 {
	rank := make(map[*Shape]int)
	var groups [][]uint32
	for i := range b.rows {
		s := b.entries[b.rows[i].entry].shape
		g, ok := rank[s]
		if !ok {
			g = len(groups)
			rank[s] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], uint32(i))
	}
	order := make([]uint32, 0, len(b.rows))
	for _, g := range groups {
		order = append(order, g...)
	}
	return order
}

// arrivalChunks cuts arrival order between client statements.
func (b *Batch) arrivalChunks(l Limits) []uint32 {
	chunks := []uint32{0}
	rows, bytes := 0, 0
	for i := range b.entries {
		e := &b.entries[i]
		if e.count == 0 {
			continue
		}
		size := b.rows[e.first+e.count-1].end - b.rows[e.first].start
		if rows > 0 && (rows+e.count > l.ChunkRows || bytes+size > l.ChunkBytes) {
			chunks = append(chunks, uint32(e.first))
			rows, bytes = 0, 0
		}
		rows += e.count
		bytes += size
	}
	return chunks
}
