package backend

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/backend/wire"
)

// Settings are a table's window and what becomes of its rejects, as the
// configuration's rules resolve them.
type Settings struct {
	WindowRows  int // 0: auto
	WindowBytes int
	Delay       time.Duration // how long a row stays invisible to a direct reader
	MaxDelay    time.Duration // the same, for auto and a burst into a table larger than the buffer pool
}

// autoRows bounds an automatic window whose table needs no larger one.
const autoRows = 1_000_000

// queue is the rows of one table, or of all tables that foreign keys join, in
// arrival order: one window gathers while the one before it is applied.
type queue struct {
	engine *Engine
	name   string
	id     journal.QueueID
	tables map[string]struct{} // schema.table, under engine.mu

	generation atomic.Uint64 // counts seals: a session validates its shape once per window
	replay     replaying     // the worker's
	strange    atomic.Bool   // has rows from before a restart, of tables that are not known

	mu       sync.Mutex
	settings Settings
	wantRows int // auto: rows that make a window worth while on this table, 0 if small ones do
	measured time.Time
	last     uint64
	applied  uint64
	stuck    bool            // its window does not go through: the server is away
	denied   error           // it does not go through because the service account is refused
	sealed   *journal.Window // by an earlier life of sluice, to be applied first
	gather   gathering
	wanted   uint64        // a barrier waits for this record
	running  bool          // a worker is at it
	wake     chan struct{} // tells the worker that the window may be due
	changed  chan struct{} // closed when a window was applied or sealed
}

// gathering is the open window: records after from.
type gathering struct {
	from   uint64
	rows   int
	bytes  int
	since  time.Time // first row
	latest time.Time // last row
}

// replaying is what the journal counted when it was opened: whole runs of records, and
// so somewhat more than there is to apply.
type replaying struct {
	to          uint64 // the last record of then, 0 when it is applied
	rows, bytes int64  // left of the count
}

// surplus takes a window that was applied off the count. With the last one it returns
// what was counted and never there.
func (r *replaying) surplus(w *window, b *Batch) (rows, bytes int64) {
	if r.to == 0 {
		return 0, 0
	}
	for i := range b.entries {
		if e := &b.entries[i]; e.seq <= r.to && e.count > 0 {
			r.rows -= int64(e.count)
			r.bytes -= int64(b.rows[e.first+e.count-1].end - b.rows[e.first].start + e.count - 1)
		}
	}
	if w.To < r.to {
		return 0, 0
	}
	rows, bytes = r.rows, r.bytes
	*r = replaying{}
	return rows, bytes
}

func newQueue(e *Engine, name string, id journal.QueueID) *queue {
	return &queue{
		engine: e, name: name, id: id,
		tables:  make(map[string]struct{}),
		wake:    make(chan struct{}, 1),
		changed: make(chan struct{}),
	}
}

// admit waits until the open window has room: back pressure. While the server is away
// it does not: rows gather in the journal, up to its own bound.
func (q *queue) admit(ctx context.Context) error {
	q.mu.Lock()
	for q.full() && !q.stuck {
		changed := q.changed
		q.mu.Unlock()
		q.poke()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
		q.mu.Lock()
	}
	q.mu.Unlock()
	return nil
}

// fares notes whether the queue's window goes through.
func (q *queue) fares(err error) {
	q.mu.Lock()
	stuck := err != nil
	if back := q.stuck && !stuck; back {
		q.engine.log.Info().Str("table", q.name).Msg("the server takes rows again")
	}
	refused := error(nil)
	if denied(err) {
		refused = err
	}
	if stuck != q.stuck || (refused == nil) != (q.denied == nil) {
		q.announce()
	}
	q.stuck, q.denied = stuck, refused
	q.mu.Unlock()
	q.engine.healthy(q, err)
}

// full says whether the open window has reached its bounds. mu is held.
func (q *queue) full() bool {
	if q.last <= q.gather.from {
		return false // nothing is open: what is counted was taken along by a window already
	}
	return q.gather.rows >= q.maxRows() || q.gather.bytes >= q.settings.WindowBytes
}

func (q *queue) maxRows() int {
	if q.settings.WindowRows > 0 {
		return q.settings.WindowRows
	}
	return max(autoRows, q.wantRows)
}

// added counts an acknowledged record and sees to it that a worker is there.
func (q *queue) added(seq uint64, rows, bytes int, now time.Time) {
	q.mu.Lock()
	first := q.last <= q.gather.from
	q.last = max(q.last, seq)
	if q.last <= q.gather.from {
		q.mu.Unlock() // a record after this one was faster to come here: a window has both
		return
	}
	if first {
		q.gather.rows, q.gather.bytes = 0, 0
	}
	q.gather.rows += rows
	q.gather.bytes += bytes
	q.gather.latest = now
	if first {
		q.gather.since = now
	}
	start := !q.running
	q.running = true
	poke := first || q.full()
	q.mu.Unlock()
	if start {
		q.engine.startWorker(q)
	} else if poke {
		q.poke()
	}
}

func (q *queue) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// pending says whether rows up to the returned record are not applied yet.
func (q *queue) pending() (last uint64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.last, q.last > q.applied
}

// want asks for everything up to seq to be applied now.
func (q *queue) want(seq uint64) {
	q.mu.Lock()
	q.wanted = max(q.wanted, seq)
	q.mu.Unlock()
	q.poke()
}

// flush asks for everything up to seq to be applied now and waits for it: as long as it
// takes, but not for somebody to mend the service account. That is waited for until
// the time is up; then the error is a *wire.Error for the client.
func (q *queue) flush(ctx context.Context, seq uint64, timeUp <-chan struct{}) error {
	for {
		q.mu.Lock()
		if q.applied >= seq {
			q.mu.Unlock()
			return nil
		}
		changed, refused := q.changed, q.denied
		q.mu.Unlock()
		q.want(seq)
		var late <-chan struct{}
		if refused != nil {
			late = timeUp
		}
		select {
		case <-changed:
		case <-late:
			return &wire.Error{Code: 1105, State: "HY000", Message: fmt.Sprintf(
				"sluice: acknowledged rows for %s wait in the journal and cannot be read yet: %s; they are applied by themselves when the account is mended "+
					"(a password that has changed: start sluice again with it)", q.name, strings.ToValidUTF8(refused.Error(), "?"))}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// announce wakes everyone who waits for progress. mu is held.
func (q *queue) announce() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// due says whether the open window is to be sealed now and why, or how long
// until it may be. mu is held.
func (q *queue) due(now time.Time) (reason string, wait time.Duration) {
	s := &q.settings
	switch {
	case q.wanted > q.gather.from:
		return "barrier", 0
	case q.engine.draining.Load():
		return "drain", 0
	case q.gather.rows >= q.maxRows():
		return "rows", 0
	case q.gather.bytes >= s.WindowBytes:
		return "bytes", 0
	}
	age := now.Sub(q.gather.since)
	if s.WindowRows == 0 && q.wantRows > 0 {
		// A table larger than the buffer pool gains from rows that share
		// pages: wait for more of them while the burst lasts.
		if q.gather.rows >= q.wantRows {
			return "rows", 0
		}
		idle := now.Sub(q.gather.latest)
		if age >= s.MaxDelay || idle >= s.Delay {
			return "delay", 0
		}
		return "", min(s.MaxDelay-age, s.Delay-idle)
	}
	if age >= s.Delay {
		return "delay", 0
	}
	return "", s.Delay - age
}

// next waits for the next window to apply. ok is false when there is nothing left
// and the worker has to end.
func (q *queue) next(ctx context.Context) (w window, ok bool) {
	for {
		q.mu.Lock()
		if q.sealed != nil {
			w = window{Window: *q.sealed, reason: "replay", isSealed: true}
			q.mu.Unlock()
			return w, true
		}
		if q.last <= q.gather.from || ctx.Err() != nil {
			q.running = false
			q.mu.Unlock()
			return window{}, false
		}
		reason, wait := q.due(time.Now())
		if reason != "" {
			w, err := q.take(reason)
			q.mu.Unlock()
			if err == nil {
				return w, true
			}
			q.engine.log.Error().Err(err).Str("table", q.name).Msg("cannot close a window")
			wait = time.Second
		} else {
			q.mu.Unlock()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-q.wake:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// take closes the open window, or as much of it as fits the bounds: after the server
// was away, or a crash, more may have gathered than memory can hold. mu is held.
func (q *queue) take(reason string) (window, error) {
	g := &q.gather
	w := window{
		Window: journal.Window{Queue: q.id, From: g.from, To: q.last},
		reason: reason, since: g.since, rows: g.rows, bytes: g.bytes,
	}
	if rows, bytes := q.maxRows(), q.settings.WindowBytes; g.rows > rows+rows/2 || g.bytes > bytes+bytes/2 {
		to, gotRows, gotBytes, err := q.engine.journal.Reach(q.id, g.from, rows, bytes)
		if err != nil {
			return w, err
		}
		if to > g.from && to < q.last {
			w.To, w.rows, w.bytes = to, gotRows, gotBytes
		}
	}
	w.ID = w.To
	g.from = w.To
	g.rows, g.bytes = max(g.rows-w.rows, 0), max(g.bytes-w.bytes, 0)
	if w.To == q.last {
		g.rows, g.bytes = 0, 0
	}
	q.generation.Add(1)
	q.announce()
	return w, nil
}

// applyDone notes that a window is wholly on the server.
func (q *queue) applyDone(w *window) {
	q.mu.Lock()
	q.applied = max(q.applied, w.To)
	q.sealed = nil
	q.announce()
	q.mu.Unlock()
}
