package backend

import (
	"errors"

	"github.com/sluice-db/sluice/backend/wire"
)

// Casualty is a client statement that the server refused for its own values.
type Casualty struct {
	Statement int // its position in the Batch, from 0
	Err       *wire.Error
}

// replay applies whole client statements in arrival order, merged as long as
// that goes well and halved where it does not, until each failing statement has
// failed alone: the outcome is what it would have been without merging. A merged
// INSERT that fails leaves nothing behind (the engine has transactions, design
// section 3), so no savepoint is needed. It returns the statements that failed,
// or the error that stopped it; with first it stops at the first casualty.
func (x *executor) replay(b *Batch, entries []int, first bool) ([]Casualty, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	err := x.insertEntries(b, entries)
	if err == nil {
		return nil, nil
	}
	var e *wire.Error
	if !errors.As(err, &e) || failureOf(err) == retryFailure {
		return nil, err
	}
	if len(entries) == 1 {
		return []Casualty{{entries[0], e}}, nil
	}
	if failureOf(err) == shapeFailure && sameShape(b, entries) {
		lost := make([]Casualty, len(entries))
		for i, n := range entries {
			lost[i] = Casualty{n, e}
		}
		return lost, nil
	}
	half := len(entries) / 2
	lost, err := x.replay(b, entries[:half], first)
	if err != nil || (first && len(lost) > 0) {
		return lost, err
	}
	more, err := x.replay(b, entries[half:], first)
	return append(lost, more...), err
}

// replayGroup is how many client statements replay merges at most: a group that
// fails is sent again about log2 times.
const replayGroup = 256

// replayAll is replay over runs that each fit one statement.
func (x *executor) replayAll(b *Batch, entries []int, first bool) ([]Casualty, error) {
	var lost []Casualty
	for at := 0; at < len(entries); {
		end := x.runEnd(b, entries, at)
		more, err := x.replay(b, entries[at:end], first)
		lost = append(lost, more...)
		if err != nil || (first && len(lost) > 0) {
			return lost, err
		}
		at = end
	}
	return lost, nil
}

// runEnd is where a run of statements that merge into one ends: one shape, one
// second, one statement's bytes. A client statement larger than that is a run of its own.
func (x *executor) runEnd(b *Batch, entries []int, at int) int {
	e := &b.entries[entries[at]]
	limit := x.statementLimit(len(e.shape.Plan.AppendTail(nil))) - len(e.shape.Plan.AppendHead(nil))
	size := 0
	end := at
	for ; end < len(entries) && end-at < replayGroup; end++ {
		n := &b.entries[entries[end]]
		if n.shape != e.shape || n.time != e.time {
			break
		}
		if n.count > 0 {
			size += b.rows[n.first+n.count-1].end - b.rows[n.first].start + n.count
		}
		if end > at && size > limit {
			break
		}
	}
	return end
}

// insertEntries sends client statements as one statement, whatever its size: a
// client statement is atomic.
func (x *executor) insertEntries(b *Batch, entries []int) error {
	e := &b.entries[entries[0]]
	buf := statements.Get().(*[]byte)
	defer statements.Put(buf)
	*buf = b.appendStatement((*buf)[:0], entries)
	return x.exec(e.shape, e.time, *buf)
}

// appendStatement renders client statements of one shape as one.
func (b *Batch) appendStatement(dst []byte, entries []int) []byte {
	p := b.entries[entries[0]].shape.Plan
	dst = p.AppendHead(dst)
	sep := false
	for _, n := range entries {
		for i := range b.entries[n].count {
			r := &b.rows[b.entries[n].first+i]
			if r.start == r.end {
				continue // its text is in the row before: see addDead
			}
			if sep {
				dst = append(dst, ',')
			}
			sep = true
			dst = append(dst, b.text[r.start:r.end]...)
		}
	}
	return p.AppendTail(dst)
}

func sameShape(b *Batch, entries []int) bool {
	for _, n := range entries {
		if b.entries[n].shape != b.entries[entries[0]].shape {
			return false
		}
	}
	return true
}

// entriesOf lists the client statements that have rows in order, as they arrived.
func entriesOf(b *Batch, order []uint32) []int {
	in := make([]bool, len(b.entries))
	for _, r := range order {
		in[b.rows[r].entry] = true
	}
	entries := make([]int, 0, len(order))
	for i, ok := range in {
		if ok {
			entries = append(entries, i)
		}
	}
	return entries
}
