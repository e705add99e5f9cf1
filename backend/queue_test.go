package backend

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/backend/wire"
)

// idle is an engine without a server: its queues gather, and nothing applies them.
func idle(t *testing.T, j *journal.Journal, s Settings) *Engine {
	t.Helper()
	e := &Engine{
		opts: Options{Journal: j, Settings: func(_, _, _ string) Settings { return s }}, journal: j, log: zerolog.Nop(),
		queues: make(map[string]*queue), byID: make(map[journal.QueueID]*queue),
		shapes: make(map[journal.ShapeID]*Shape), sick: make(map[*queue]error), pool: newPool(Account{}, 1),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// idleQueue is a queue of such an engine whose worker is said to be there.
func idleQueue(t *testing.T, s Settings) *queue {
	t.Helper()
	j := openJournal(t, t.TempDir())
	e := idle(t, j, s)
	id, err := j.Queue("x.t")
	require.NoError(t, err)
	q := newQueue(e, "x.t", id)
	q.settings, q.running = s, true
	return q
}

func TestDue(t *testing.T) {
	now := time.Unix(1000, 0)
	settings := Settings{WindowRows: 100, WindowBytes: 1000, Delay: time.Second, MaxDelay: time.Minute}
	auto := settings
	auto.WindowRows = 0
	for name, c := range map[string]struct {
		settings Settings
		wantRows int
		wanted   uint64
		draining bool
		gather   gathering
		reason   string
		wait     time.Duration
	}{
		"young":               {settings, 0, 0, false, gathering{rows: 1, since: now, latest: now}, "", time.Second},
		"half old":            {settings, 0, 0, false, gathering{rows: 1, since: now.Add(-400 * time.Millisecond)}, "", 600 * time.Millisecond},
		"old":                 {settings, 0, 0, false, gathering{rows: 1, since: now.Add(-time.Second)}, "delay", 0},
		"rows":                {settings, 0, 0, false, gathering{rows: 100, since: now}, "rows", 0},
		"bytes":               {settings, 0, 0, false, gathering{rows: 1, bytes: 1000, since: now}, "bytes", 0},
		"a barrier":           {settings, 0, 8, false, gathering{from: 7, rows: 1, since: now}, "barrier", 0},
		"a barrier of before": {settings, 0, 7, false, gathering{from: 7, rows: 1, since: now}, "", time.Second},
		"a drain":             {settings, 0, 0, true, gathering{rows: 1, since: now}, "drain", 0},
		"auto, small table":   {auto, 0, 0, false, gathering{rows: 1, since: now.Add(-time.Second)}, "delay", 0},
		"auto, large table, burst goes on": {auto, 500, 0, false,
			gathering{rows: 1, since: now.Add(-10 * time.Second), latest: now.Add(-time.Millisecond)}, "", 999 * time.Millisecond},
		"auto, large table, burst is over": {auto, 500, 0, false,
			gathering{rows: 1, since: now.Add(-10 * time.Second), latest: now.Add(-time.Second)}, "delay", 0},
		"auto, large table, long": {auto, 500, 0, false, gathering{rows: 1, since: now.Add(-time.Minute), latest: now}, "delay", 0},
		"auto, large table, rows": {auto, 500, 0, false, gathering{rows: 500, since: now, latest: now}, "rows", 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Engine{}
			e.draining.Store(c.draining)
			q := newQueue(e, "x.t", 1)
			q.settings, q.wantRows, q.wanted, q.gather = c.settings, c.wantRows, c.wanted, c.gather
			reason, wait := q.due(now)
			require.Equal(t, c.reason, reason)
			require.Equal(t, c.wait, wait)
		})
	}
}

func TestTakeClosesTheOpenWindow(t *testing.T) {
	q := idleQueue(t, Settings{WindowRows: 100, WindowBytes: 1000, Delay: time.Hour})
	now := time.Unix(1000, 0)
	q.added(4, 10, 100, now)
	q.added(9, 20, 200, now.Add(time.Second))
	changed := q.changed
	w, err := q.take("barrier")
	require.NoError(t, err)
	require.Equal(t, journal.Window{ID: 9, Queue: q.id, From: 0, To: 9}, w.Window)
	require.Equal(t, []int{30, 300}, []int{w.rows, w.bytes})
	require.Equal(t, now, w.since)
	require.Equal(t, gathering{from: 9, since: now, latest: now.Add(time.Second)}, q.gather)
	require.EqualValues(t, 1, q.generation.Load())
	<-changed
	last, pending := q.pending()
	require.EqualValues(t, 9, last)
	require.True(t, pending)
	q.applyDone(&w)
	_, pending = q.pending()
	require.False(t, pending)
}

// A record that a window took along before it was counted must not count for the next
// window: with nothing open nobody would ever close that.
func TestAddedAfterItsWindowWasTaken(t *testing.T) {
	q := idleQueue(t, Settings{WindowRows: 1, WindowBytes: 1000, Delay: time.Hour})
	q.added(2, 1, 10, time.Unix(1000, 0))
	_, err := q.take("rows")
	require.NoError(t, err)
	q.added(1, 1, 10, time.Unix(1000, 0))
	require.Zero(t, q.gather.rows)
	require.NoError(t, q.admit(context.Background()))
	later := time.Unix(2000, 0)
	q.added(3, 1, 10, later)
	require.Equal(t, gathering{from: 2, rows: 1, bytes: 10, since: later, latest: later}, q.gather)
}

func TestAdmitWaitsForRoom(t *testing.T) {
	q := idleQueue(t, Settings{WindowRows: 2, WindowBytes: 1000, Delay: time.Hour})
	require.NoError(t, q.admit(context.Background()))
	q.added(1, 2, 10, time.Now())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, q.admit(ctx), context.Canceled)

	admitted := make(chan error, 1)
	go func() { admitted <- q.admit(context.Background()) }()
	<-q.wake // the waiter pokes the worker
	q.mu.Lock()
	_, err := q.take("rows")
	q.mu.Unlock()
	require.NoError(t, err)
	require.NoError(t, <-admitted)

	q.added(2, 2, 10, time.Now())
	q.fares(context.DeadlineExceeded) // the server is away: the journal takes what comes
	require.NoError(t, q.admit(context.Background()))
	q.fares(nil)
	require.ErrorIs(t, q.admit(ctx), context.Canceled)
}

// backlog writes a journal with records of one row each, of which the first ones are a
// sealed window, and opens it again.
func backlog(t *testing.T, name string, records, sealed, done int) *journal.Journal {
	t.Helper()
	dir := t.TempDir()
	j, err := journal.Open(journal.Options{Dir: dir, Sync: journal.SyncOS, MinFree: -1})
	require.NoError(t, err)
	plan, _ := statement(t, "INSERT INTO t (a, b) VALUES (1, 0)", numbers(nil), variables())
	blob, err := describe(plan, variables(), "u")
	require.NoError(t, err)
	shape, err := j.Shape(blob)
	require.NoError(t, err)
	id, err := j.Queue(name)
	require.NoError(t, err)
	for i := range records {
		_, err := j.Append(journal.Record{Queue: id, Shape: shape, Time: 1000, Rows: 1, Body: []byte{'(', byte('0' + i%10), ',', '0', ')'}})
		require.NoError(t, err)
	}
	seal := func(from, to int) {
		require.NoError(t, j.Seal(journal.Window{
			ID: uint64(to), Queue: id, From: uint64(from), To: uint64(to), Rows: uint64(to - from), Chunks: []uint32{0},
		}))
	}
	if done > 0 {
		seal(0, done)
		require.NoError(t, j.Done(id, uint64(done)))
	}
	if sealed > 0 {
		seal(done, done+sealed)
	}
	require.NoError(t, j.Close())
	return openJournal(t, dir)
}

// replayed does with a recovered queue what its worker would, but for the server.
func (q *queue) replayed(t *testing.T) (windows []journal.Window) {
	t.Helper()
	for {
		w, ok := q.next(q.engine.ctx)
		if !ok {
			return windows
		}
		var b Batch
		require.NoError(t, q.load(&w, &b))
		require.NoError(t, q.seal(&w, &b))
		require.NoError(t, q.engine.journal.Done(q.id, w.ID))
		q.applyDone(&w)
		q.engine.applied(q, &w, &b, 1, 0, 0)
		windows = append(windows, w.Window)
	}
}

func TestRecoverASealedWindow(t *testing.T) {
	settings := Settings{WindowRows: 100, WindowBytes: 20, Delay: 0}
	for name, c := range map[string]struct {
		records, done, sealed int
		to                    []uint64
	}{
		"nothing behind it":                 {10, 0, 10, []uint64{10}},
		"records behind it":                 {10, 0, 6, []uint64{6, 10}},
		"a window before it":                {10, 3, 4, []uint64{7, 10}},
		"nothing sealed":                    {10, 0, 0, []uint64{10}},
		"nothing sealed, a window that was": {10, 3, 0, []uint64{10}},
		"nothing left":                      {10, 10, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := idle(t, backlog(t, "x.t", c.records, c.sealed, c.done), settings)
			e.recover()
			q := e.queues["x.t"]
			require.NotNil(t, q)
			require.Contains(t, q.tables, "x.t")
			_, pending := q.pending()
			require.Equal(t, len(c.to) > 0, pending)
			require.GreaterOrEqual(t, e.PendingRows(), int64(c.records-c.done))
			var to []uint64
			for i, w := range q.replayed(t) {
				to = append(to, w.To)
				if i == 0 && c.sealed > 0 {
					require.EqualValues(t, c.sealed, w.Rows)
				}
			}
			require.Equal(t, c.to, to)
			_, pending = q.pending()
			require.False(t, pending)
			require.Zero(t, e.PendingRows(), "what the journal counted too much is taken off")
			require.Zero(t, e.PendingBytes())
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			require.NoError(t, q.admit(ctx), "the queue takes rows again")
		})
	}
}

// The tables of a queue of foreign keys are not known after a restart: any statement
// that waits for anything waits for it, until what was there has been applied.
func TestRecoverForeignKeys(t *testing.T) {
	e := idle(t, backlog(t, foreignKeys, 10, 4, 0), Settings{WindowRows: 100, WindowBytes: 1000})
	e.recover()
	q := e.queues[foreignKeys]
	q.tables["x.t"] = struct{}{} // a session inserts into a table of the queue
	require.True(t, e.touches(q, map[string]bool{"y.z": true}))
	q.replayed(t)
	require.False(t, e.touches(q, map[string]bool{"y.z": true}))
	require.True(t, e.touches(q, map[string]bool{"x.t": true}))
}

// Who waits for rows gets an error when the service account is refused and the time is
// up, and waits for anything else as long as it takes.
func TestFlushWhileTheAccountIsRefused(t *testing.T) {
	refused := fmt.Errorf("service account: %w", &wire.Error{Code: 1045, State: "28000", Message: "Access denied \xff"})
	timeUp := make(chan struct{})
	close(timeUp)
	q := idleQueue(t, Settings{WindowRows: 100, WindowBytes: 1000, Delay: time.Hour})
	q.added(1, 1, 10, time.Now())
	var said *wire.Error
	q.fares(refused)
	require.ErrorAs(t, q.flush(context.Background(), 1, timeUp), &said)
	require.Equal(t, uint16(1105), said.Code)
	require.Contains(t, said.Message, "acknowledged rows for x.t wait in the journal")
	require.Contains(t, said.Message, "ERROR 1045 (28000): Access denied ?")

	// The time is up before the account is refused.
	for _, passing := range []error{nil, errors.New("connection refused"), &wire.Error{Code: 1205}} {
		q.fares(passing)
		done := make(chan error)
		go func() { done <- q.flush(context.Background(), 1, timeUp) }()
		select {
		case err := <-done:
			t.Fatalf("%v: %v", passing, err)
		case <-time.After(10 * time.Millisecond):
		}
		q.fares(refused)
		require.ErrorAs(t, <-done, &said)
	}

	q.fares(errors.New("connection refused"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, q.flush(ctx, 1, timeUp), context.Canceled)
	w, err := q.take("barrier")
	require.NoError(t, err)
	q.applyDone(&w)
	q.fares(refused)
	require.NoError(t, q.flush(context.Background(), 1, timeUp))
}
