package backend

import (
	"strconv"
	"sync"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// statements are buffers for merged statements, at most statement.bytes each but for a
// single row that is longer.
var statements = sync.Pool{New: func() any { return new([]byte) }}

// executor runs statements one after another on one connection.
type executor struct {
	conn   *wire.Session
	limits Limits
	second int64                      // timestamp set on the connection, 0 for none
	become func(*rewrite.State) error // takes on the state of a shape's session; nil where it is that session's own connection

	Statements int    // sent, for the metrics
	status     uint16 // server status flags after the last INSERT
	answered   bool   // status is of an INSERT that went well
}

// exec sends one INSERT of a shape and waits for its outcome.
func (x *executor) exec(s *Shape, second int64, sql []byte) error {
	if x.become != nil {
		if err := x.become(s.Plan.State); err != nil {
			return err
		}
	}
	if err := x.at(second); err != nil {
		return err
	}
	x.Statements++
	if err := x.conn.SendQuery(sql); err != nil {
		return err
	}
	r, err := x.conn.ReadResult()
	if err == nil {
		x.status, x.answered = r.Status, true
	}
	return err
}

// at sets the time that the next statements see (NOW(), CURRENT_TIMESTAMP
// defaults), 0 for the server's own clock.
func (x *executor) at(second int64) error {
	if second == x.second {
		return nil
	}
	value := "DEFAULT"
	if second != 0 {
		value = strconv.FormatInt(second, 10)
	}
	if _, err := x.conn.Query("SET timestamp = " + value); err != nil {
		return &stateError{err}
	}
	x.second = second
	return nil
}

// insert sends the rows of b that order names as merged statements: rows that
// follow one another and share shape and second are one statement, up to the
// limits. Rows of one client statement may end up in two of them: the caller's
// transaction keeps them together.
func (x *executor) insert(b *Batch, order []uint32) error {
	buf := statements.Get().(*[]byte)
	defer statements.Put(buf)
	for at := 0; at < len(order); {
		r := &b.rows[order[at]]
		e := &b.entries[r.entry]
		sql := e.shape.Plan.AppendHead((*buf)[:0])
		limit := x.statementLimit(len(e.shape.Plan.AppendTail(nil)))
		first := at
		for ; at < len(order); at++ {
			r = &b.rows[order[at]]
			next := &b.entries[r.entry]
			if next != e && (next.shape != e.shape || next.time != e.time) {
				break
			}
			if at > first {
				if len(sql)+1+r.end-r.start > limit {
					break
				}
				sql = append(sql, ',')
			}
			sql = append(sql, b.text[r.start:r.end]...)
		}
		sql = e.shape.Plan.AppendTail(sql)
		*buf = sql
		if err := x.exec(e.shape, e.time, sql); err != nil {
			return err
		}
	}
	return nil
}

// oneStatement says whether insert sends all of b as one statement, whatever the order.
func (x *executor) oneStatement(b *Batch) bool {
	if len(b.rows) < 2 {
		return true
	}
	first := &b.entries[0]
	for i := range b.entries {
		if e := &b.entries[i]; e.shape != first.shape || e.time != first.time {
			return false
		}
	}
	p := first.shape.Plan
	return len(p.AppendHead(nil))+len(b.text)+len(b.rows)-1 <= x.statementLimit(len(p.AppendTail(nil)))
}

// statementLimit is what a statement may have before its tail.
func (x *executor) statementLimit(tail int) int {
	const room = 64 // command byte, attributes, packet headers
	limit := x.limits.StatementBytes
	if p := x.limits.PacketBytes; p > 0 {
		limit = min(limit, p-room)
	}
	return limit - tail
}
