package journal

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Window is what is applied at once: all records of a queue in (From, To].
//
// ID must grow from window to window of a queue, and never come back: To is a
// good choice, since sequence numbers are never used twice.
type Window struct {
	ID       uint64
	Queue    QueueID
	From, To uint64
	Rows     uint64
	Order    []uint32 // permutation of the rows, nil for arrival order
	Chunks   []uint32 // index into the order of the first row of each chunk
	Meta     []byte   // the caller's
}

// check reports what is wrong with a window by itself.
func (w *Window) check() error {
	bad := func(what string) error { return fmt.Errorf("journal: seal window %d: %s", w.ID, what) }
	switch {
	case w.ID == 0:
		return bad("the id is zero")
	case w.To <= w.From:
		return bad("it is empty")
	case w.Rows == 0 || w.Rows > 1<<32-1:
		return bad(fmt.Sprintf("%d rows", w.Rows))
	case len(w.Chunks) == 0 || w.Chunks[0] != 0:
		return bad("the first chunk must begin with row 0")
	case w.Order != nil && uint64(len(w.Order)) != w.Rows:
		return bad(fmt.Sprintf("%d rows, but %d in the order", w.Rows, len(w.Order)))
	}
	for i, c := range w.Chunks {
		if uint64(c) >= w.Rows || (i > 0 && c <= w.Chunks[i-1]) {
			return bad(fmt.Sprintf("chunk %d begins with row %d", i, c))
		}
	}
	seen := make([]uint64, (len(w.Order)+63)/64)
	for _, r := range w.Order {
		if uint64(r) >= w.Rows || seen[r/64]&(1<<(r%64)) != 0 {
			return bad(fmt.Sprintf("the order is no permutation at row %d", r))
		}
		seen[r/64] |= 1 << (r % 64)
	}
	return nil
}

// orderWidth is the number of bytes that a row index takes in a window.
func orderWidth(rows uint64) int {
	width := 1
	for width < 4 && rows > 1<<(8*width) {
		width++
	}
	return width
}

// A window is stored as
//
//	kind | queue | id | from | to | rows | meta | chunks | ordered | order
//
// with varints, but for the order, whose entries all have orderWidth bytes.
func appendWindow(b []byte, w *Window) []byte {
	b = append(b, kindSeal)
	b = binary.AppendUvarint(b, uint64(w.Queue))
	b = binary.AppendUvarint(b, w.ID)
	b = binary.AppendUvarint(b, w.From)
	b = binary.AppendUvarint(b, w.To)
	b = binary.AppendUvarint(b, w.Rows)
	b = appendBytes(b, w.Meta)
	b = binary.AppendUvarint(b, uint64(len(w.Chunks)))
	for _, c := range w.Chunks {
		b = binary.AppendUvarint(b, uint64(c))
	}
	if w.Order == nil {
		return append(b, 0)
	}
	b = append(b, 1)
	width := orderWidth(w.Rows)
	var le [4]byte
	for _, r := range w.Order {
		binary.LittleEndian.PutUint32(le[:], r)
		b = append(b, le[:width]...)
	}
	return b
}

// decodeWindow reads a window. Nothing in it points into payload.
func decodeWindow(payload []byte) (*Window, error) {
	d := decoder{b: payload}
	if d.byte() != kindSeal {
		return nil, errMalformed
	}
	w := &Window{Queue: QueueID(d.uint32()), ID: d.uvarint(), From: d.uvarint(), To: d.uvarint(), Rows: d.uvarint()}
	if meta := d.bytes(); len(meta) > 0 {
		w.Meta = append([]byte(nil), meta...)
	}
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		return nil, errMalformed
	}
	w.Chunks = make([]uint32, n)
	for i := range w.Chunks {
		w.Chunks[i] = d.uint32()
	}
	if d.byte() == 1 {
		width := orderWidth(w.Rows)
		if d.bad || w.Rows > uint64(len(d.b)/width) {
			return nil, errMalformed
		}
		w.Order = make([]uint32, w.Rows)
		for i := range w.Order {
			var le [4]byte
			copy(le[:], d.take(uint64(width)))
			w.Order[i] = binary.LittleEndian.Uint32(le[:])
		}
	}
	if err := d.end(); err != nil {
		return nil, err
	}
	if w.check() != nil {
		return nil, errMalformed
	}
	return w, nil
}

func appendDone(b []byte, q QueueID, id, to uint64) []byte {
	b = append(b, kindDone)
	b = binary.AppendUvarint(b, uint64(q))
	b = binary.AppendUvarint(b, id)
	return binary.AppendUvarint(b, to)
}

func decodeDone(payload []byte) (q QueueID, id, to uint64, err error) {
	d := decoder{b: payload}
	if d.byte() != kindDone {
		return 0, 0, 0, errMalformed
	}
	q, id, to = QueueID(d.uint32()), d.uvarint(), d.uvarint()
	return q, id, to, d.end()
}

// Seal writes down a window before its first statement is sent. In the modes
// always and 1s it is on stable storage when Seal returns, with every record
// before it: a crash must not forget how a window was cut of which the server
// has a part. Windows of a queue follow one another without a gap, and one must
// be done before the next is sealed.
func (j *Journal) Seal(w Window) error {
	if err := w.check(); err != nil {
		return err
	}
	payload := appendWindow(nil, &w)
	j.mu.Lock()
	defer j.mu.Unlock()
	q := j.queues[w.Queue]
	if q == nil {
		return fmt.Errorf("journal: seal window %d: %w queue %d", w.ID, ErrUnknown, w.Queue)
	}
	bad := func(what string) error {
		return fmt.Errorf("journal: seal window %d of %s (%d to %d): %w: %s", w.ID, q.name, w.From, w.To, ErrOrder, what)
	}
	switch {
	case q.sealed != nil || q.busy:
		return bad("the window before is not done")
	case w.ID <= q.window:
		return bad(fmt.Sprintf("the last id was %d", q.window))
	case w.From != q.applied:
		return bad(fmt.Sprintf("%d is applied", q.applied))
	case w.To > q.last || len(q.stretches) == 0 || w.To < q.stretches[0].first:
		return bad(fmt.Sprintf("the last record is %d", q.last))
	}
	if err := j.note(q, payload, j.opts.Sync != SyncOS); err != nil {
		return err
	}
	q.seal(&Window{ID: w.ID, Queue: w.Queue, From: w.From, To: w.To, Rows: w.Rows})
	return nil
}

// Done writes down that a sealed window is wholly on the server. It is synced
// in mode always only: a Done that a power loss takes is found again by the
// checkpoint on the server, which therefore must stay until the next window of
// the queue is sealed.
func (j *Journal) Done(id QueueID, window uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	q := j.queues[id]
	if q == nil {
		return fmt.Errorf("journal: window %d done: %w queue %d", window, ErrUnknown, id)
	}
	if q.busy || q.sealed == nil || q.sealed.ID != window {
		return fmt.Errorf("journal: window %d of %s done: %w: it is not the sealed one", window, q.name, ErrOrder)
	}
	to := q.sealed.To
	if err := j.note(q, appendDone(nil, id, window, to), j.opts.Sync == SyncAlways); err != nil {
		return err
	}
	q.finish(window, to)
	for i := range j.recovered {
		if r := &j.recovered[i]; r.ID == id && r.Sealed != nil && r.Sealed.ID == window {
			r.Sealed = nil // its order can be large
		}
	}
	return nil
}

// finish notes that a window was done.
func (q *queue) finish(window, to uint64) {
	q.window = max(q.window, window)
	if q.sealed != nil && q.sealed.ID <= window {
		q.sealed = nil
	}
	q.apply(to)
}

// note writes a record about a queue that is not a statement. Neither a bound
// nor low space stops it: it is what makes room.
func (j *Journal) note(q *queue, payload []byte, sync bool) error {
	q.busy = true
	defer func() { q.busy = false }()
	if err := j.ready(int64(len(payload))); err != nil {
		return err
	}
	c := j.chain
	err := j.define(q, nil)
	if err == nil {
		err = c.add(payload, nil)
	}
	if err == nil {
		err = c.flush()
	}
	if err != nil {
		return j.writeFailed(fmt.Errorf("journal: %w", err))
	}
	if !sync {
		return nil
	}
	return j.await(j.group)
}

// History calls fn for the windows of a queue that are done and whose seal is
// still kept, oldest first: what a server may lack after a fail-over.
func (j *Journal) History(id QueueID, fn func(Window) error) error {
	j.mu.Lock()
	q := j.queues[id]
	if q == nil {
		j.mu.Unlock()
		return fmt.Errorf("journal: history: %w queue %d", ErrUnknown, id)
	}
	done := q.window
	spans := j.chain.spans(0, math.MaxUint64)
	j.mu.Unlock()
	defer release(&j.mu, spans)
	return j.dir.walkSpans(spans, 1, func(head []byte, rest func() ([]byte, error)) error {
		if head[0] != kindSeal {
			return nil
		}
		payload, err := rest()
		if err != nil {
			return err
		}
		win, err := decodeWindow(payload)
		if err != nil {
			return err
		}
		if win.Queue != id || win.ID > done {
			return nil
		}
		if err := fn(*win); err != nil {
			return callbackError{err}
		}
		return nil
	})
}
