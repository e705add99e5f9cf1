package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-db/sluice/backend/journal"
)

// Ping asks the server for a sign of life.
func (e *Engine) Ping(ctx context.Context) error {
	c, err := e.meta.get(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	_, err = c.Query("DO 0")
	e.meta.put(c, !stop() || err != nil)
	return err
}

// Ready says why journaled rows are not being applied, nil if all is well.
func (e *Engine) Ready() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for q, err := range e.sick {
		errs = append(errs, fmt.Errorf("%s: %w", q.name, err))
	}
	return errors.Join(errs...)
}

// healthy notes how a queue fares, nil for well.
func (e *Engine) healthy(q *queue, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		delete(e.sick, q)
		return
	}
	if len(e.sick) == 0 {
		e.pool.forget()
	}
	e.sick[q] = err
}

// applied reports a window that is done.
func (e *Engine) applied(q *queue, w *window, b *Batch, sent, rejected int, took time.Duration) {
	rows, bytes := q.replay.surplus(w, b)
	if q.replay.to == 0 && q.strange.Swap(false) {
		e.log.Info().Str("table", q.name).Msg("rows from the journal are replayed")
	}
	e.pendingN.Add(-rows - int64(b.Len()))
	bodies := b.Bytes() + max(b.Len()-b.Statements(), 0) // the commas between rows
	e.pendingB.Add(-bytes - int64(bodies))
	f := Flush{
		Table: q.name, Reason: w.reason, Rows: b.Len(), Statements: b.Statements(),
		Sent: sent, Rejected: rejected, Bytes: b.Bytes(), Took: took,
	}
	if !w.since.IsZero() {
		f.Waited = time.Since(w.since) - took
	}
	e.log.Debug().Str("table", f.Table).Str("reason", f.Reason).Int("rows", f.Rows).Int("sent", sent).
		Int("chunks", len(w.Chunks)).Int("rejected", rejected).Dur("took", took).Msg("flushed")
	if e.opts.Observer.Flushed != nil {
		e.opts.Observer.Flushed(f)
	}
}

// Reject writes client statements to the reject log, before the COMMIT of the
// transaction that leaves them out. Doing it again is harmless.
func (e *Engine) Reject(b *Batch, lost []Casualty) error {
	entries := make([]journal.Reject, len(lost))
	for i, c := range lost {
		n := &b.entries[c.Statement]
		t := n.shape.Plan.Table
		entries[i] = journal.Reject{
			Journal: e.journal.ID(), Seq: n.seq, Table: t.Schema + "." + t.Name, User: n.shape.User,
			Schema: n.shape.Plan.State.Schema, Statement: b.appendStatement(nil, []int{c.Statement}),
			Time: time.Now().Unix(), Errno: c.Err.Code, SQLState: c.Err.State, Message: c.Err.Message,
		}
	}
	if _, err := e.opts.Rejects.AppendAll(entries); err != nil {
		return fmt.Errorf("reject log: %w", err)
	}
	e.log.Warn().Str("table", entries[0].Table).Int("statements", len(lost)).Uint16("errno", lost[0].Err.Code).
		Str("error", strings.ToValidUTF8(lost[0].Err.Message, "?")).Msg("rejected")
	if e.opts.Observer.Rejected != nil {
		e.opts.Observer.Rejected(len(lost))
	}
	return nil
}
