package backend

import (
	"errors"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/rewrite"
)

// Shape registers a shape with the journal. Sessions that validated the same
// shape share it, and so their rows can share statements.
func (e *Engine) Shape(p *rewrite.Plan, vars map[string]string, user string) (*Shape, error) {
	blob, err := describe(p, vars, user)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	full := len(e.shapes) >= maxShapes
	e.mu.Unlock()
	if full {
		return nil, errors.New("too many shapes are in the journal")
	}
	id, err := e.journal.Shape(blob)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.shapes[id]; s != nil && s.queue != nil {
		return s, nil
	}
	q, err := e.queueOf(p.Table, user)
	if err != nil {
		return nil, err
	}
	s := &Shape{Plan: p, User: user, id: uint32(id), queue: q, lex: p.State.Lex}
	e.shapes[id] = s
	return s, nil
}

// queueOf finds or makes the queue of a table. mu is held.
func (e *Engine) queueOf(t *rewrite.Table, user string) (*queue, error) {
	table := t.Schema + "." + t.Name
	name := table
	if t.SelfReferencing || len(t.Parents) > 0 || len(t.Children) > 0 {
		name = foreignKeys
	}
	q := e.queues[name]
	if q == nil {
		id, err := e.journal.Queue(name)
		if err != nil {
			return nil, err
		}
		q = newQueue(e, name, id)
		e.queues[name], e.byID[id] = q, q
	}
	q.tables[table] = struct{}{}
	s := e.opts.Settings(user, t.Schema, t.Name)
	q.mu.Lock()
	q.settings = s
	q.mu.Unlock()
	return q, nil
}

// shape finds the shape of a record, also of one from an earlier life.
func (e *Engine) shape(id journal.ShapeID, q *queue) *Shape {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.shapes[id]; s != nil {
		return s
	}
	s := revive(e.journal.ShapeBlob(id), q.name)
	s.id = uint32(id)
	if s.dead != nil {
		e.log.Error().Err(s.dead).Str("table", q.name).Msg("this version of sluice does not replay some rows of the journal: their statements go to the reject log")
	}
	e.shapes[id] = s
	return s
}

// Windows counts the windows that were closed on the shape's table: a session
// validates its shape again when it has changed.
func (s *Shape) Windows() uint64 { return s.queue.generation.Load() }
