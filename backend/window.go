package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/backend/schema"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// window is a range of a queue's records on its way to the server.
type window struct {
	journal.Window
	reason   string
	isSealed bool // by an earlier life of sluice: order and cuts are fixed
	since    time.Time
	rows     int // as counted while gathering; the batch has the exact number
	bytes    int
}

// load reads the window's records back from the journal.
func (q *queue) load(w *window, b *Batch) error {
	b.Reset()
	b.reserve(w.rows, w.bytes)
	return q.engine.journal.Read(q.id, w.From, w.To, func(r journal.Record) error {
		b.addRecord(q.engine.shape(r.Shape, q), &r)
		return nil
	})
}

// seal fixes order and cuts in the journal before anything is sent (design
// section 6): a replay after a crash does the same chunks.
func (q *queue) seal(w *window, b *Batch) error {
	if w.isSealed {
		if w.Rows != uint64(b.Len()) {
			return fmt.Errorf("window %d was sealed with %d rows and has %d", w.ID, w.Rows, b.Len())
		}
		return nil
	}
	a := b.Arrange(q.engine.opts.Limits)
	w.Order, w.Chunks, w.Rows = a.Order, a.Chunks, uint64(b.Len())
	return q.engine.journal.Seal(w.Window)
}

// apply brings a window to the server. It returns an error only when ctx ends;
// whatever else goes wrong is tried again for as long as it takes.
func (q *queue) apply(ctx context.Context, w *window) error {
	e := q.engine
	b := e.batches.Get().(*Batch)
	defer e.batches.Put(b)
	err := q.persist(ctx, "read and seal", func() error {
		if err := q.load(w, b); err != nil {
			return err
		}
		return q.seal(w, b)
	})
	if err != nil {
		return err
	}
	start := time.Now()
	order := w.Order
	if len(order) == 0 {
		order = b.arrivalOrder()
	}
	statements, rejected := 0, 0
	for i := range w.Chunks {
		end := len(order)
		if i+1 < len(w.Chunks) {
			end = int(w.Chunks[i+1])
		}
		c := chunk{queue: q, window: w, number: i, batch: b, order: order[w.Chunks[i]:end], last: i == len(w.Chunks)-1, again: w.isSealed}
		if err := q.persist(ctx, "apply", func() error { return c.apply(ctx) }); err != nil {
			return err
		}
		statements += c.statements
		rejected += c.rejected
	}
	if err := q.persist(ctx, "note as applied", func() error { return e.journal.Done(q.id, w.ID) }); err != nil {
		return err
	}
	e.applied(q, w, b, statements, rejected, time.Since(start))
	q.applyDone(w) // last: who waits for the window may look at the counters
	return nil
}

// persist tries until it succeeds or ctx ends, with growing pauses.
func (q *queue) persist(ctx context.Context, what string, try func() error) error {
	const least, most = 50 * time.Millisecond, 5 * time.Second
	for wait := least; ; wait = min(2*wait, most) {
		err := try()
		if err == nil {
			q.fares(nil)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		q.fares(err)
		q.engine.log.Warn().Err(err).Str("table", q.name).Dur("retry_in", wait).Msg("cannot " + what + " a window; its rows stay in the journal")
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// arrivalOrder numbers the rows as they came.
func (b *Batch) arrivalOrder() []uint32 {
	order := make([]uint32, len(b.rows))
	for i := range order {
		order[i] = uint32(i)
	}
	return order
}

// chunk is one transaction of a window.
type chunk struct {
	queue  *queue
	window *window
	number int
	batch  *Batch
	order  []uint32
	last   bool
	again  bool // it may have been tried before: statements of it may stand in the reject log

	statements int // sent to the server
	rejected   int // client statements
}

// errChanged says that a target is not what the rows were meant for (S01).
var errChanged = errors.New("a target table has changed")

// apply does the chunk's transaction once. A nil error means that its rows are on
// the server or in the reject log.
func (c *chunk) apply(ctx context.Context) error {
	e := c.queue.engine
	conn, err := e.pool.get(ctx)
	if err != nil {
		return err
	}
	broken := true
	defer func() { e.pool.put(conn, broken) }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	conn.executor.limits = e.opts.Limits
	conn.executor.limits.PacketBytes = conn.maxPacket
	conn.executor.Statements = 0
	err = c.attempt(conn)
	c.again = true
	c.statements = conn.executor.Statements
	var said *wire.Error
	if err == nil || errors.Is(err, errChanged) || errors.As(err, &said) {
		broken = rollback(conn) != nil // of what is left open, if anything
	}
	return err
}

// attempt tries the rows merged and in order, and one after the other if that
// does not go through.
func (c *chunk) attempt(conn *conn) error {
	err := c.transaction(conn, nil, c.anyDead() || c.again && c.anyRejected())
	for range 3 { // a table may change between two looks at it
		var dead map[*rewrite.Table]string
		var said *wire.Error
		switch {
		case errors.Is(err, errChanged):
			if err := rollback(conn); err != nil {
				return err
			}
			if dead, err = c.changed(conn); err != nil {
				return err
			}
		case errors.As(err, &said) && failureOf(err) != retryFailure:
			if err := rollback(conn); err != nil {
				return err
			}
		default:
			if errors.Is(err, errApplied) {
				return nil
			}
			return err
		}
		err = c.transaction(conn, dead, true)
	}
	return err
}

func rollback(conn *conn) error {
	if err := conn.executor.at(0); err != nil {
		return err
	}
	_, err := conn.Query("ROLLBACK")
	return err
}

// transaction is checkpoint, rows, check, COMMIT. With replay the rows go one
// client statement after the other as they arrived, and those that fail are
// rejected; statements on dead tables are rejected whole.
func (c *chunk) transaction(conn *conn, dead map[*rewrite.Table]string, replay bool) error {
	e, x := c.queue.engine, &conn.executor
	if i := slices.IndexFunc(c.order, c.alive); i >= 0 {
		if err := conn.take(c.shape(c.order[i]).Plan.State); err != nil {
			return err
		}
	}
	if _, err := conn.Query("START TRANSACTION"); err != nil {
		return err
	}
	if err := e.checkpoint.mark(conn, uint32(c.queue.id), c.window.ID, c.number); err != nil {
		return err
	}
	if err := c.secure(conn, dead); err != nil {
		return err
	}
	var rejects []Casualty
	if replay {
		alive := make([]int, 0, len(c.order))
		for _, n := range entriesOf(c.batch, c.order) {
			if c.again && e.opts.Rejects.Has(e.journal.ID(), c.batch.entries[n].seq) {
				continue // rejected before a COMMIT that did not come: it stays so
			}
			if why := c.batch.entries[n].shape.dead; why != nil {
				rejects = append(rejects, Casualty{n, &wire.Error{Code: 1105, State: "HY000",
					Message: "sluice: this version does not replay the statement, run it yourself: " + why.Error()}})
				continue
			}
			if why, ok := dead[c.batch.entries[n].shape.Plan.Table]; ok {
				rejects = append(rejects, Casualty{n, &wire.Error{Code: 1412, State: "HY000", Message: "sluice: " + why}})
				continue
			}
			alive = append(alive, n)
		}
		lost, err := x.replayAll(c.batch, alive, false)
		if err != nil {
			return err
		}
		rejects = append(rejects, lost...)
	} else if err := x.insert(c.batch, c.order); err != nil {
		return err
	}
	// After the rows and before COMMIT the metadata lock keeps the tables as they are.
	why, err := schema.Unchanged(conn, c.tables(dead)...)
	if err != nil {
		return err
	}
	if why != "" {
		return errChanged
	}
	if err := x.at(0); err != nil {
		return err
	}
	if c.rejected = len(rejects); len(rejects) > 0 {
		if err := e.Reject(c.batch, rejects); err != nil {
			return err
		}
		c.again = true
	}
	if c.last {
		if err := e.checkpoint.tidy(conn, uint32(c.queue.id), c.window.ID); err != nil {
			return err
		}
	}
	_, err = conn.Query("COMMIT")
	return err
}

// secure takes the metadata locks of the targets, which last until the transaction
// ends, and checks the targets under them: no rollback would undo what a row does to
// a table without transactions behind a view, or what a trigger or a function does
// there with the service account's rights. An INSERT of no row takes the lock, and
// runs nothing that somebody else wrote.
func (c *chunk) secure(conn *conn, dead map[*rewrite.Table]string) error {
	tables := c.tables(dead)
	for _, t := range tables {
		_, err := conn.Query("INSERT IGNORE INTO " + quote(t.Schema) + "." + quote(t.Name) +
			" (" + quote(insertable(t)) + ") SELECT NULL FROM DUAL WHERE FALSE")
		var said *wire.Error
		if errors.As(err, &said) && failureOf(err) != retryFailure {
			return fmt.Errorf("%w: %w", errChanged, said)
		}
		if err != nil {
			return err
		}
	}
	why, err := schema.Unchanged(conn, tables...)
	if err != nil {
		return err
	}
	if why != "" {
		return fmt.Errorf("%w: %s", errChanged, why)
	}
	return nil
}

// insertable is a column that an INSERT may name: one of ASCII if there is any, since
// the session's character set may not be UTF-8.
func insertable(t *rewrite.Table) string {
	name := t.Columns[0].Name
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if c := &t.Columns[i]; !c.Generated && isASCII(c.Name) {
			return c.Name
		} else if !c.Generated {
			name = c.Name
		}
	}
	return name
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// anyRejected: a statement of the chunk was rejected by an attempt that did not get
// as far as its COMMIT.
func (c *chunk) anyRejected() bool {
	e := c.queue.engine
	if e.opts.Rejects.Len() == 0 {
		return false
	}
	for _, r := range c.order {
		if e.opts.Rejects.Has(e.journal.ID(), c.batch.entries[c.batch.rows[r].entry].seq) {
			return true
		}
	}
	return false
}

// anyDead: this version does not replay a statement of the chunk.
func (c *chunk) anyDead() bool {
	return slices.ContainsFunc(c.order, func(row uint32) bool { return !c.alive(row) })
}

func (c *chunk) alive(row uint32) bool { return c.shape(row).dead == nil }

func (c *chunk) shape(row uint32) *Shape { return c.batch.entries[c.batch.rows[row].entry].shape }

// tables lists the targets of the chunk that are not dead.
func (c *chunk) tables(dead map[*rewrite.Table]string) []*rewrite.Table {
	var list []*rewrite.Table
	seen := make(map[*rewrite.Table]bool)
	var last *Shape
	for _, r := range c.order {
		s := c.shape(r)
		if s == last || s.dead != nil {
			continue
		}
		last = s
		t := s.Plan.Table
		if _, gone := dead[t]; !gone && !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	return list
}

// changed finds out which tables are not what they were, outside any transaction.
func (c *chunk) changed(conn *conn) (map[*rewrite.Table]string, error) {
	dead := make(map[*rewrite.Table]string)
	for _, t := range c.tables(nil) {
		why, err := schema.Unchanged(conn, t)
		if err != nil {
			return nil, err
		}
		if why != "" {
			dead[t] = why
		}
	}
	return dead, nil
}
