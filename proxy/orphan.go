package proxy

import (
	"context"
	"net"
	"time"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// An orphan is a session whose backend is down. sluice knows no password and cannot
// log in again for it, but rows of shapes that the server has validated go on into
// the journal (design section 6). Any other statement ends it, as does an insert once
// the server is back, since rights can be checked again then: the connection is closed,
// which a client library reports as error 2013.

// probeEvery is how often an orphan looks whether the backend is back.
const probeEvery = time.Second

// orphan takes a session whose backend has hung up over, if the backend is down and
// the session may go on inserting. A connection that the server closed by itself
// (KILL, wait_timeout) is no orphan.
func (x *session) orphan() bool {
	b := &x.b
	if x.orphaned || b.Batching == nil || b.Engine == nil || b.locked || b.state == nil ||
		x.inTransaction() || b.held.Len() > 0 || b.failed != nil || b.doubt {
		return false
	}
	validated := false
	for _, s := range b.shapes {
		validated = validated || (s.plan != nil && s.target != nil)
	}
	if !validated || x.backendUp() {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ending {
		return false
	}
	x.orphaned, x.probed = true, time.Now()
	x.ctx, x.cancel = context.WithCancel(context.Background())
	x.backendGone.Store(false)
	if x.woken {
		x.woken = false
		_ = x.client.SetReadDeadline(time.Time{})
	}
	x.log.Info().Msg("backend down: the session goes on inserting into the journal")
	return true
}

// backendUp tries to connect.
func (x *session) backendUp() bool {
	o := &x.server.opts
	c, err := net.DialTimeout(o.Backend.Network, o.Backend.Addr, min(o.DialTimeout, time.Second))
	if err != nil {
		return false
	}
	// A connection that is dropped without a login counts against sluice's host.
	probe := &session{server: x.server, backend: &wire.Session{Conn: wire.NewConn(c)}, log: x.log}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	a := probe.newExchange()
	p, err := a.backend.read()
	if err != nil {
		return false
	}
	if probe.greet, err = wire.ParseGreeting(p); err == nil {
		probe.endHandshake(a)
	}
	return true
}

// orphanCommand serves a command of an orphan: an insert of a validated shape goes
// into the journal, everything else ends the session.
func (x *session) orphanCommand(raw []byte, whole bool) (done bool, err error) {
	defer x.client.Discard(len(raw))
	seq := raw[3] + 1
	if whole && len(raw) > 5 && raw[4] == wire.ComQuery && !x.probeAgain() {
		if text, ok := x.queryText(raw[5:]); ok && rewrite.IsInsert(text) {
			if handled, err := x.orphanInsert(text, seq); handled || err != nil {
				return err != nil, err
			}
		}
	}
	return true, nil
}

// probeAgain looks whether the backend is back.
func (x *session) probeAgain() (up bool) {
	if time.Since(x.probed) < probeEvery {
		return false
	}
	x.probed = time.Now()
	return x.backendUp()
}

func (x *session) orphanInsert(sql []byte, seq byte) (handled bool, err error) {
	b := &x.b
	s, why := b.find(sql)
	if why != "" || s.plan == nil || s.target == nil || b.Engine.Generation() != b.generation {
		return false, nil
	}
	facts, why := s.plan.Check(sql, &b.rows)
	if why != "" || facts.Timed && b.timeFixed {
		return false, nil
	}
	return true, x.acknowledge(s, sql, facts, seq, time.Now(), x.journal)
}
