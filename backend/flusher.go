package backend

import (
	"errors"

	"github.com/sluice-db/sluice/backend/wire"
)

// Flusher runs held rows on a session's own connection, inside its transaction.
type Flusher struct {
	x executor

	Status    uint16 // server status flags after the last statement
	HasStatus bool
	Cleared   bool // the clock was set back after the last INSERT, which takes ROW_COUNT() with it
}

// NewFlusher returns a flusher for a session's connection.
func NewFlusher(s *wire.Session) *Flusher { return &Flusher{x: executor{conn: s}} }

// Sent is the number of INSERT statements that the last Run sent.
func (f *Flusher) Sent() int { return f.x.Statements }

// savepoint lets a flush of several statements be done over.
const savepoint = "sluice_hold"

// Run inserts the rows of b, in key order where that cannot change the outcome.
// With alone the last client statement runs last and by itself. Where rows
// fail, all is undone and done again in arrival order, one client statement
// failing alone: the first casualty is returned, or with all every one of them
// while the others stand. A *wire.Error that is no casualty (a deadlock, a lock
// wait) is returned as the error; so is a broken connection.
func (f *Flusher) Run(b *Batch, l Limits, alone, all bool) ([]Casualty, error) {
	f.x.limits, f.x.Statements, f.x.answered, f.Cleared = l, 0, false, false
	defer func() { f.Status, f.HasStatus = f.x.status, f.x.answered }()
	last := len(b.entries)
	if alone {
		last--
	}
	order := b.arrangeHeld(l, last)
	undo := alone || !f.x.oneStatement(b)
	if undo {
		if _, err := f.x.conn.Query("SAVEPOINT " + savepoint); err != nil {
			return nil, err
		}
	}
	err := f.x.insert(b, order)
	if err == nil && alone {
		if err = f.x.at(0); err == nil || b.entries[last].time != 0 {
			err = f.x.insertEntries(b, []int{last})
		}
	}
	if err == nil {
		f.Cleared = f.x.second != 0
		return nil, f.x.at(0)
	}
	var said *wire.Error
	if !errors.As(err, &said) {
		return nil, err
	}
	if failureOf(err) == retryFailure {
		return nil, errors.Join(err, f.x.at(0))
	}
	if undo {
		if _, err := f.x.conn.Query("ROLLBACK TO SAVEPOINT " + savepoint); err != nil {
			return nil, err
		}
	}
	entries := make([]int, len(b.entries))
	for i := range entries {
		entries[i] = i
	}
	lost, err := f.x.replayAll(b, entries, !all)
	if resetErr := f.x.at(0); err == nil {
		err = resetErr
	}
	return lost, err
}

// arrangeHeld orders the rows of the first n client statements.
func (b *Batch) arrangeHeld(l Limits, n int) []uint32 {
	part := *b
	part.entries = b.entries[:n]
	if n < len(b.entries) {
		part.rows = b.rows[:b.entries[n].first]
	}
	a := part.Arrange(l)
	b.keys, b.scanned, b.sizes = part.keys, part.scanned, part.sizes
	if a.Order == nil {
		return part.arrivalOrder()
	}
	return a.Order
}
