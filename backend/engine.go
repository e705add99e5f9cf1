package backend

import (
	"context"
	"encoding/hex"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/backend/schema"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// Options are what an Engine is made of.
type Options struct {
	Account     Account
	Journal     *journal.Journal
	Rejects     *journal.Rejects
	Connections int    // of the service account, at work at a time
	Schema      string // of the checkpoint table
	Identity    string // path of the file that says which server the journal's rows went to
	Limits      Limits
	// BarrierTimeout is how long a statement waits for rows that do not get through
	// since the service account is refused.
	BarrierTimeout time.Duration
	// Settings resolves the configuration's rules for a user and a table.
	Settings func(user, schema, table string) Settings
	Log      zerolog.Logger
	Observer Observer
}

// Observer is told what the engine does; nil fields are not called.
type Observer struct {
	Flushed  func(f Flush)
	Rejected func(n int)
}

// Flush says how a window was applied.
type Flush struct {
	Table      string
	Reason     string // barrier, drain, rows, bytes, delay, replay
	Rows       int
	Statements int // client statements
	Sent       int // statements sent to the server
	Rejected   int // client statements
	Bytes      int
	Waited     time.Duration // the first row's, until the window was closed
	Took       time.Duration
}

// Engine applies journaled rows. Create it with New, run it with Run.
type Engine struct {
	opts       Options
	log        zerolog.Logger
	journal    *journal.Journal
	pool       *pool // applies rows
	meta       *pool // reads definitions: never waits for rows that are being applied
	checkpoint checkpoint
	tables     *schema.Cache
	graph      *schema.Graph
	batches    sync.Pool
	workers    sync.WaitGroup
	draining   atomic.Bool
	ddl        atomic.Uint64 // counts DDL seen: shapes validated before are not valid any more
	pendingN   atomic.Int64  // rows acknowledged and not yet applied
	pendingB   atomic.Int64
	dialect    rewrite.Dialect
	version    int
	loginTime  time.Duration

	mu     sync.Mutex
	ctx    context.Context // of the workers: cancelled by Close
	cancel context.CancelFunc
	queues map[string]*queue
	byID   map[journal.QueueID]*queue
	shapes map[journal.ShapeID]*Shape
	sick   map[*queue]error
}

// maxShapes bounds the shapes of a journal, which stay in memory.
const maxShapes = 10_000

// foreignKeys is the queue that all tables joined to others by foreign keys share:
// their rows are applied in arrival order (S17).
const foreignKeys = "(foreign keys)"

// New logs the service account in, sees to the checkpoint table and takes over
// what an earlier life of sluice left in the journal. Its errors say what to do.
func New(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{
		opts: o, log: o.Log, journal: o.Journal,
		pool:       newPool(o.Account, o.Connections),
		meta:       newPool(o.Account, 2),
		checkpoint: checkpoint{schema: o.Schema, journal: hex.EncodeToString(idBytes(o.Journal.ID()))},
		queues:     make(map[string]*queue),
		byID:       make(map[journal.QueueID]*queue),
		shapes:     make(map[journal.ShapeID]*Shape),
		sick:       make(map[*queue]error),
	}
	e.batches.New = func() any { return new(Batch) }
	e.ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := e.open(ctx); err != nil {
		e.cancel()
		e.pool.close() // whoever tries again must not pile up connections
		e.meta.close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) open(ctx context.Context) error {
	o := &e.opts
	c, err := e.pool.get(ctx)
	if err != nil {
		return err
	}
	defer e.pool.put(c, false)
	e.dialect, e.version = c.dialect, c.version
	if e.loginTime, err = loginTime(c); err != nil {
		return err
	}
	adopted, err := (identity{o.Identity}).verify(c, &e.checkpoint, o.Journal.Recovered())
	if err != nil {
		return err
	}
	if err := e.checkpoint.check(c); err != nil {
		if err := e.checkpoint.create(c); err != nil {
			return fmt.Errorf("%w; as an administrator: CREATE DATABASE IF NOT EXISTS %s; GRANT ALL ON %s.* TO the service account",
				err, quote(o.Schema), quote(o.Schema))
		}
		if err := e.checkpoint.check(c); err != nil {
			return fmt.Errorf("checkpoint table: %w", err)
		}
	}
	if adopted {
		if err := e.checkpoint.adopt(c, o.Journal.Recovered()); err != nil {
			return fmt.Errorf("checkpoint table: %w", err)
		}
	}
	if err := excess(c, o.Schema); err != nil {
		return err
	}
	source := func(ctx context.Context) (wire.Querier, func(error), error) {
		c, err := e.meta.get(ctx)
		if err != nil {
			return nil, nil, err
		}
		return c, func(err error) { e.meta.put(c, err != nil) }, nil
	}
	e.tables = schema.NewCache(schema.CacheOptions{Dialect: e.dialect, Version: e.version, Source: source})
	e.graph = schema.NewGraph(schema.GraphOptions{Dialect: e.dialect, Source: source})
	e.recover()
	return nil
}

func idBytes(id journal.ID) []byte { return id[:] }

// recover makes the queues that the journal still has rows for.
func (e *Engine) recover() {
	for _, s := range e.journal.Recovered() {
		q := newQueue(e, s.Name, s.ID)
		q.settings = e.opts.Settings("", "", "")
		q.last, q.applied = s.Last, s.Applied
		q.gather = gathering{from: s.Applied, rows: int(s.Rows), bytes: int(s.Bytes), since: time.Now()}
		if s.Sealed != nil {
			q.sealed = s.Sealed
			q.gather.from = s.Sealed.To
			q.gather.rows = max(q.gather.rows-int(s.Sealed.Rows), 0)
		}
		if s.Last > s.Applied {
			q.replay = replaying{to: s.Last, rows: int64(s.Rows), bytes: int64(s.Bytes)}
		}
		e.queues[s.Name], e.byID[s.ID] = q, q
		if name := s.Name; name != foreignKeys {
			q.tables[name] = struct{}{}
		} else {
			q.strange.Store(s.Last > s.Applied)
		}
		if s.Last > s.Applied {
			e.log.Info().Str("table", s.Name).Uint64("rows", s.Rows).Msg("replaying rows from the journal")
			e.pendingN.Add(int64(s.Rows))
			e.pendingB.Add(int64(s.Bytes))
		}
	}
}

// Run starts applying what was recovered and returns when ctx is done.
func (e *Engine) Run(ctx context.Context) error {
	e.mu.Lock()
	for _, q := range e.queues {
		q.mu.Lock()
		start := q.last > q.applied && !q.running
		q.running = q.running || start
		q.mu.Unlock()
		if start {
			e.startWorker(q)
		}
	}
	e.mu.Unlock()
	<-ctx.Done()
	return nil
}

// Drain has every window closed as soon as it can be applied.
func (e *Engine) Drain() {
	e.draining.Store(true)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, q := range e.queues {
		q.poke()
	}
}

// Close flushes what is pending until ctx is done and leaves the rest in the
// journal, where the next start finds it. The error says how much is left.
func (e *Engine) Close(ctx context.Context) error {
	e.Drain()
	done := make(chan struct{})
	go func() { e.workers.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		e.cancel()
		<-done
	}
	e.cancel()
	e.pool.close()
	e.meta.close()
	if n := e.PendingRows(); n > 0 {
		return fmt.Errorf("%d rows are left in the journal; they are applied at the next start", n)
	}
	return nil
}

func (e *Engine) startWorker(q *queue) {
	e.workers.Go(func() {
		for {
			q.measure()
			w, ok := q.next(e.ctx)
			if !ok || q.apply(e.ctx, &w) != nil {
				q.mu.Lock()
				if ok { // interrupted: the window is sealed or still open in the journal
					q.running = false
				}
				q.mu.Unlock()
				return
			}
		}
	})
}

// PendingRows is the number of rows acknowledged and not yet applied.
func (e *Engine) PendingRows() int64 { return e.pendingN.Load() }

// PendingBytes is their size.
func (e *Engine) PendingBytes() int64 { return e.pendingB.Load() }

// Generation changes when a shape that was validated before has to be validated
// again: DDL was seen.
func (e *Engine) Generation() uint64 { return e.ddl.Load() }

// Changed is called for every statement that could change a table's definition.
func (e *Engine) Changed() {
	e.ddl.Add(1)
	e.tables.InvalidateAll()
	e.graph.Invalidate()
}

// Table returns what the service account sees of a table.
func (e *Engine) Table(ctx context.Context, schemaName, table string) (*rewrite.Table, error) {
	return e.tables.Get(ctx, schemaName, table)
}

// Submit journals the rows of one client statement. When it returns nil they may
// be acknowledged. now is when the client sent it; it also waits for room.
func (e *Engine) Submit(ctx context.Context, s *Shape, body []byte, rows int, now time.Time) error {
	q := s.queue
	if err := q.admit(ctx); err != nil {
		return err
	}
	// Counted beforehand: a window may have taken the record along before this goroutine
	// goes on, and a count that is too low would let a barrier pass by.
	e.pendingN.Add(int64(rows))
	e.pendingB.Add(int64(len(body)))
	seq, err := e.journal.Append(journal.Record{
		Queue: q.id, Shape: journal.ShapeID(s.id), Time: now.Unix(), Rows: uint32(rows), Body: body,
	})
	if err != nil {
		e.pendingN.Add(-int64(rows))
		e.pendingB.Add(-int64(len(body)))
		return err
	}
	q.added(seq, rows, len(body), now)
	return nil
}
