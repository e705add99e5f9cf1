package proxy

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluice-db/sluice/backend"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// hold keeps an insert of a transaction until the next statement that could see it.
func (x *session) hold(s *shape, sql []byte, facts rewrite.Facts, now time.Time) error {
	b := &x.b
	if !b.touched {
		// The transaction's first statement: what other sessions were told is
		// stored must be there before a snapshot can be taken (S23).
		if err := x.awaitAll(); err != nil {
			return err
		}
		b.touched = true
	}
	size := len(sql)
	reserved := b.Memory.Reserve(size)
	if b.held.Len() > 0 && (!reserved || b.held.Len() >= b.HoldRows || b.held.Bytes()+size > b.HoldBytes) {
		if err := x.flushHeld("memory", false); err != nil {
			if reserved {
				b.Memory.Release(size)
			}
			return err
		}
	}
	if !reserved {
		b.Memory.Force(size) // one statement is always held: it is in memory anyway
	}
	b.reserved += size
	b.heldReject = s.reject && (b.heldReject || b.held.Len() == 0)
	second := int64(0)
	if facts.Timed {
		second = now.Unix()
	}
	b.held.Add(s.target, sql, &b.rows, second)
	return nil
}

// dropHeld forgets the held rows: the transaction is rolled back.
func (x *session) dropHeld() {
	b := &x.b
	if b.Batching == nil {
		return
	}
	b.held.Release()
	b.Memory.Release(b.reserved)
	b.reserved = 0
}

// flushHeld runs the held rows on the session's own connection. alone runs the last
// client statement by itself, so that ROW_COUNT() and SHOW WARNINGS are its own
// (S26). If a row fails, the transaction is rolled back and stays failed (S14), and
// the error is the one that the statement alone would have got.
func (x *session) flushHeld(reason string, alone bool) error {
	b := &x.b
	if b.held.Len() == 0 {
		return nil
	}
	start := time.Now()
	if b.flusher == nil {
		b.flusher = backend.NewFlusher(x.backend)
	}
	limits := b.Limits
	limits.PacketBytes = b.maxPacket()
	f := backend.Flush{
		Table: "(transaction)", Reason: reason, Rows: b.held.Len(), Statements: b.held.Statements(), Bytes: b.held.Bytes(),
	}
	lost, err := b.flusher.Run(&b.held, limits, alone, x.rejects())
	if b.flusher.HasStatus {
		x.status = b.flusher.Status
	}
	var said *wire.Error
	if err != nil && !errors.As(err, &said) {
		return err // the connection is gone: so is the transaction
	}
	if err == nil && len(lost) > 0 {
		if x.rejects() {
			err = b.Engine.Reject(&b.held, lost)
		} else {
			said = &wire.Error{Code: lost[0].Err.Code, State: lost[0].Err.State, Message: fmt.Sprintf(
				"%s (sluice: statement %d of the %d held in this transaction, which is rolled back)",
				lost[0].Err.Message, lost[0].Statement+1, b.held.Statements())}
			err = said
		}
	}
	x.dropHeld()
	if err == nil {
		f.Sent, f.Rejected, f.Took = b.flusher.Sent(), len(lost), time.Since(start)
		if b.Observe.Flushed != nil {
			b.Observe.Flushed(f)
		}
		return nil
	}
	if said == nil {
		said = &wire.Error{Code: 1105, State: "HY000", Message: "sluice: " + err.Error()}
	}
	// After a deadlock the server has rolled back already: only what the session's
	// status is now has to be known, or the next insert would be held for nobody.
	r, err := x.backend.Query("ROLLBACK")
	if err != nil {
		return err
	}
	x.status = r.Status
	if said.Code == deadlock {
		b.touched = false // the client starts over, as it would directly
		return said
	}
	b.failed = said
	return said
}

// deadlock is the error with which the server has rolled back the whole transaction.
const deadlock = 1213

// rejects says whether failing statements among those held are rejected: all their
// shapes have to agree.
func (x *session) rejects() bool { return x.b.Engine != nil && x.b.heldReject }

func (b *batching) maxPacket() int {
	n := 0
	for _, c := range b.vars["max_allowed_packet"] {
		n = n*10 + int(c-'0')
	}
	return n
}
