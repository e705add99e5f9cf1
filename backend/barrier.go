package backend

import (
	"context"
	"slices"

	"github.com/sluice-db/sluice/rewrite"
)

// Barrier flushes what a statement that names these tables could see and waits for
// it. Not complete, or a table of unknown reach, flushes everything (S25). A *wire.Error
// is for the client: rows do not get through since the service account is refused.
func (e *Engine) Barrier(ctx context.Context, names []rewrite.TableName, complete bool) error {
	if e.pendingN.Load() == 0 {
		return nil
	}
	type goal struct {
		q   *queue
		seq uint64
	}
	var goals []goal
	e.mu.Lock()
	for _, q := range e.queues {
		if last, ok := q.pending(); ok {
			goals = append(goals, goal{q, last})
		}
	}
	e.mu.Unlock()
	reach := map[string]bool{}
	for _, n := range names {
		if !complete {
			break
		}
		var tables []string
		tables, complete = e.graph.Closure(ctx, n.Schema, n.Table)
		for _, t := range tables {
			reach[t] = true
		}
	}
	if complete {
		goals = slices.DeleteFunc(goals, func(g goal) bool { return !e.touches(g.q, reach) })
	}
	for _, g := range goals {
		g.q.want(g.seq) // all at once, not one after the other
	}
	timeUp, cancel := context.WithTimeout(context.Background(), e.opts.BarrierTimeout)
	defer cancel()
	for _, g := range goals {
		if err := g.q.flush(ctx, g.seq, timeUp.Done()); err != nil {
			return err
		}
	}
	return nil
}

// Inert says whether a SELECT of these tables provably runs nothing but itself (S04).
func (e *Engine) Inert(ctx context.Context, names []rewrite.TableName) bool {
	for _, n := range names {
		if !e.graph.Inert(ctx, n.Schema, n.Table) {
			return false
		}
	}
	return true
}

func (e *Engine) touches(q *queue, reach map[string]bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for t := range q.tables {
		if reach[t] {
			return true
		}
	}
	return q.strange.Load()
}
