package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-db/sluice/backend"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

const whyBurst rewrite.Reason = "not in a burst"

// insert serves an INSERT or REPLACE: it holds or journals the rows and answers,
// or says why the statement is to be relayed.
func (x *session) insert(sql []byte, seq byte) (handled bool, why rewrite.Reason, err error) {
	b := &x.b
	x.calm = 0
	if b.failed != nil {
		return true, "", x.sayFailed(seq)
	}
	start := time.Now()
	b.prepare(len(sql))
	s, why := b.find(sql)
	if b.current = s; why != "" {
		return false, why, nil
	}
	if b.locked {
		// Before anything is read by the service account: it would wait for these locks.
		return false, "the session holds table locks", nil
	}
	if why, err = x.ready(s, sql); why != "" || err != nil {
		return false, why, err
	}
	facts, why := s.plan.Check(sql, &b.rows)
	if why != "" {
		return false, why, nil
	}
	if b.doubt {
		if why, err := x.askStatus(); why != "" || err != nil {
			return false, why, err
		}
	}
	switch {
	case facts.Timed && b.timeFixed:
		return false, "depends on the time, which secure_timestamp does not let sluice set", nil
	case x.inTransaction():
		return true, "", x.acknowledge(s, sql, facts, seq, start, x.hold)
	case b.Engine == nil:
		return false, "no service account: only transactions are batched", nil
	}
	return true, "", x.acknowledge(s, sql, facts, seq, start, x.journal)
}

// acknowledge keeps the rows of a statement by hold or journal and answers the client.
// A server's or sluice's own refusal is the answer; any other error ends the session.
func (x *session) acknowledge(s *shape, sql []byte, facts rewrite.Facts, seq byte, start time.Time,
	keep func(*shape, []byte, rewrite.Facts, time.Time) error,
) error {
	b := &x.b
	if err := keep(s, sql, facts, start); err != nil {
		var said *wire.Error
		if errors.As(err, &said) {
			return x.client.WriteErr(seq, said)
		}
		return err
	}
	n := b.rows.Len()
	b.run++
	b.traces = trace{valid: true, rows: n}
	if f := b.Observe.Batched; f != nil {
		f(n, time.Since(start))
	}
	return x.client.WriteOK(seq, &wire.OK{
		Affected: uint64(n), InsertID: facts.InsertID, Status: x.insertStatus(), Info: insertInfo(n),
	}, x.backend.Caps)
}

// askStatus learns from the server whether a transaction is open. An error packet does
// not tell, and a deadlock, for one, has ended it: rows held for it would be lost.
func (x *session) askStatus() (rewrite.Reason, error) {
	err := x.backend.WriteCommand(wire.ComPing)
	if err != nil {
		return "", err
	}
	r, err := x.backend.ReadResult()
	if err == nil {
		x.status, x.b.doubt = r.Status, false
		x.b.touched = r.Status&wire.StatusInTrans != 0
	}
	return reasonOrBroken(err)
}

// insertStatus are the flags that the server would give after an insert.
func (x *session) insertStatus() uint16 {
	const kept = wire.StatusInTrans | wire.StatusAutocommit | wire.StatusNoBackslashEscapes
	status := x.status & kept
	if status&wire.StatusAutocommit == 0 {
		status |= wire.StatusInTrans
	}
	return status
}

// insertInfo is the text of the OK packet: the server gives one for several rows.
func insertInfo(rows int) string {
	if rows == 1 {
		return ""
	}
	return fmt.Sprintf("Records: %d  Duplicates: 0  Warnings: 0", rows)
}

// find scans the rows of an insert and finds its shape, a new one if need be.
func (b *batching) find(sql []byte) (*shape, rewrite.Reason) {
	if s := b.latest; s != nil && !s.set && len(sql) > len(s.head) && string(sql[:len(s.head)]) == s.head {
		b.rows.Reset()
		end, why := rewrite.ScanRows(&b.rows, sql, len(s.head), &b.lex)
		if why != "" {
			return nil, why
		}
		if end == len(sql) && s.tail == "" {
			return s, ""
		}
		tail, why := rewrite.TrimTail(sql, end, &b.lex)
		if why != "" {
			return nil, why
		}
		if string(sql[tail.Start:tail.End]) == s.tail {
			return s, ""
		}
	}
	in, why := rewrite.Split(&b.rows, sql, &b.lex)
	if why != "" {
		return nil, why
	}
	key := shapeKey(sql, &in)
	s := b.shapes[key]
	if s == nil {
		if len(b.shapes) >= maxShapes {
			clear(b.shapes)
		}
		s = &shape{
			head: string(sql[in.Head.Start:in.Head.End]),
			tail: string(sql[in.Tail.Start:in.Tail.End]), set: in.Set,
		}
		for _, c := range in.Columns {
			s.columns = append(s.columns, string(sql[c.Start:c.End]))
		}
		b.shapes[key] = s
	}
	b.latest = s
	return s, ""
}

func shapeKey(sql []byte, in *rewrite.Insert) string {
	var k bytes.Buffer
	k.Write(sql[in.Head.Start:in.Head.End])
	for _, c := range in.Columns {
		k.WriteByte(0)
		k.Write(sql[c.Start:c.End])
	}
	k.WriteByte(0)
	k.WriteByte(0)
	k.Write(sql[in.Tail.Start:in.Tail.End])
	return k.String()
}

// ready brings a shape to where its rows may be batched: past the burst, with the
// session's state known, checked by the server.
func (x *session) ready(s *shape, sql []byte) (rewrite.Reason, error) {
	b := &x.b
	if b.Engine != nil {
		if g := b.Engine.Generation(); g != b.generation {
			b.generation = g
			b.forgetPlans()
		}
	}
	if s.burst != b.barriers {
		s.burst, s.seen = b.barriers, 0
	}
	if s.seen < b.need {
		s.seen++
		return whyBurst, nil
	}
	if s.plan != nil && !s.stale(x) {
		return "", nil
	}
	if s.refused != "" && time.Now().Before(s.retryAt) {
		return s.refused, nil
	}
	if b.tracked && x.inTransaction() {
		return "the session tracks its transactions, and would see sluice look", nil
	}
	plan := s.plan
	why, err := x.validate(s, sql)
	if err != nil && plan != nil && s.target != nil {
		if s.plan = plan; x.orphan() {
			return "", nil // under the last validation
		}
	}
	if why != "" {
		s.refuse(why)
	} else {
		s.refused, s.pause = "", 0
	}
	return why, err
}

// refuse has a shape relayed for a while: relaying is always right, and looking
// again each time would be slow.
func (s *shape) refuse(why rewrite.Reason) {
	const least, most = time.Second, time.Minute
	s.plan, s.refused = nil, why
	s.pause = min(max(2*s.pause, least), most)
	s.retryAt = time.Now().Add(s.pause)
}

// forgetPlans has every shape validated again: definitions may have changed.
func (b *batching) forgetPlans() {
	for _, s := range b.shapes {
		s.plan, s.refused, s.pause = nil, "", 0
	}
}

// checkEvery is how long a session's own check of a shape holds in a transaction; a
// journaled shape is checked again once per window, and before the server takes the
// session for idle.
const checkEvery = time.Second

func (s *shape) stale(x *session) bool {
	if s.target != nil && !x.inTransaction() {
		return s.target.Windows() != s.windows || time.Since(s.checked) > x.b.idle
	}
	return time.Since(s.checked) > min(checkEvery, x.b.idle)
}

// journal puts an autocommit insert into the journal: its rows are on disk when
// the client gets its OK.
func (x *session) journal(s *shape, sql []byte, _ rewrite.Facts, now time.Time) error {
	b := &x.b
	b.body = backend.AppendRows(b.body[:0], sql, s.target, &b.rows)
	err := b.Engine.Submit(x.ctx, s.target, b.body, b.rows.Len(), now)
	if err != nil && x.ctx.Err() != nil && x.orphan() {
		// It waited for room when the server went away: nothing was written yet.
		err = b.Engine.Submit(x.ctx, s.target, b.body, b.rows.Len(), now)
	}
	b.wrote = b.wrote || err == nil
	if err == nil || x.ctx.Err() != nil {
		return err
	}
	return &wire.Error{Code: 1026, State: "HY000", Message: "sluice: the row was not accepted: " + err.Error()}
}

// sayFailed answers a statement of a transaction whose held rows have failed.
func (x *session) sayFailed(seq byte) error {
	return x.client.WriteErr(seq, x.b.failed)
}
