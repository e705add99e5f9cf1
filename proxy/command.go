package proxy

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// commands reads and serves the client's commands until either side is gone.
func (x *session) commands() error {
	for {
		x.client.Shrink()
		x.b.shrink()
		if x.isCalm() {
			if done, err := x.resume(x.park()); done || err != nil {
				return err
			}
		}
		if !x.startWaiting() {
			if x.backendGone.Load() && x.orphan() {
				continue
			}
			return x.idleEnd(os.ErrDeadlineExceeded)
		}
		raw, whole, err := x.client.Packet()
		x.stopWaiting()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && x.backendGone.Load() && x.orphan() {
				continue
			}
			return x.idleEnd(err)
		}
		if x.client.Compressed() != nil {
			raw[3] = 0
		}
		x.noteCalm(whole && len(raw) < smallCommand)
		serve := x.command
		if x.orphaned {
			serve = x.orphanCommand
		}
		done, err := serve(raw, whole)
		if done || err != nil {
			return err
		}
	}
}

// idleEnd says why waiting for a command ended. The server's parting words, if
// it had any (error 4031 after wait_timeout), are passed on as they came.
func (x *session) idleEnd(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if x.backendGone.Load() {
			if c := x.client.Compressed(); c != nil {
				c.Restart() // no answer, but in place of the next one
			}
			_ = x.backend.SetReadDeadline(time.Now().Add(time.Second))
			_, _ = io.Copy(x.client.Conn, drained{x.backend.Conn})
		}
		return nil
	}
	return err
}

// drained reads what a connection still has, buffered bytes first.
type drained struct{ c *wire.Conn }

func (d drained) Read(p []byte) (int, error) {
	if _, err := d.c.Peek(1); err != nil {
		return 0, err
	}
	b, err := d.c.Peek(d.c.Buffered())
	n := copy(p, b)
	d.c.Discard(n)
	return n, err
}

// command serves one command whose first packet is raw, not yet consumed.
func (x *session) command(raw []byte, whole bool) (done bool, err error) {
	kind := wire.ComSleep // an empty packet: the server has its own opinion on it
	if payload := raw[4:]; len(payload) > 0 {
		kind = payload[0]
	}
	x.begin(kind)
	if cutShort(kind, raw) {
		x.st.command = wire.ComSleep // a barrier, like what is not known
	}
	if kind == wire.ComChangeUser && x.isServiceUser(cString(raw[5:])) {
		seq, err := x.consume(raw, whole)
		if err == nil {
			x.denyServiceUser(seq + 1)
		}
		return true, err
	}
	if x.b.Batching != nil {
		handled, said, err := x.batch(raw, whole)
		switch {
		case err != nil:
			return true, err
		case said != nil:
			seq, err := x.consume(raw, whole)
			if err == nil {
				err = x.client.WriteErr(seq+1, said)
			}
			return err != nil, err
		case handled:
			x.client.Discard(len(raw))
			return false, nil
		}
	}
	return x.relay(kind, raw, whole)
}

// consume takes a command whose first packet is raw, all its parts, and returns the
// sequence id of the last one: an answer goes on from there.
func (x *session) consume(raw []byte, whole bool) (seq byte, err error) {
	if whole {
		seq = raw[3]
		x.client.Discard(len(raw))
		return seq, nil
	}
	seq, _, err, _ = x.client.ForwardPacket(io.Discard, 0)
	return seq, err
}

// begin starts a command.
func (x *session) begin(kind byte) {
	x.st = statement{command: kind}
	if f := x.server.opts.Counters.Command; f != nil {
		f(kind)
	}
}

// batch looks at a command and serves it if it can be batched; else it does what has
// to be done before the command is relayed. handled means that the client has its
// answer, which is only so if the command is whole; said is an error that is to be it.
func (x *session) batch(raw []byte, whole bool) (handled bool, said *wire.Error, err error) {
	st := &x.st
	switch st.command {
	case wire.ComQuery:
		text, ok := x.queryText(raw[5:])
		switch {
		case !ok:
			// Query attributes, or not understood: any statement could be in it.
			st.class.Inspects = true
			st.locks = takesLocks(rewrite.StmtOther, raw[5:])
		case rewrite.IsInsert(text) && !whole:
			// Large already: nothing to gain, and it is not read to its end.
			st.class = rewrite.Class{Kind: rewrite.StmtInsert, Inspects: true}
		case rewrite.IsInsert(text):
			handled, st.why, err = x.insert(text, raw[3]+1)
			if handled || err != nil {
				return handled, nil, err
			}
			st.text = text
			s := x.b.current
			st.plain = s != nil && x.b.state != nil && (s.plan != nil || x.plainTarget(s, text))
			st.class = rewrite.Classify(text, &x.b.lex) // more than an insert may be in it
			st.locks = takesLocks(st.class.Kind, text)
		case whole:
			st.text = text
			st.class = rewrite.Classify(text, &x.b.lex)
			st.locks = takesLocks(st.class.Kind, text)
			st.autocommit = setsAutocommit(text)
		default: // not read to its end: it could be several statements
			st.class.Inspects = true
			st.locks = takesLocks(rewrite.StmtOther, text)
		}
	case wire.ComStmtPrepare:
		st.class = rewrite.Class{Inspects: true}
		if whole {
			st.class = rewrite.Classify(raw[5:], &x.b.lex)
		}
		x.b.preparedInspects = x.b.preparedInspects || st.class.Inspects
		x.b.preparedLocks = x.b.preparedLocks || takesLocks(st.class.Kind, raw[5:])
	case wire.ComStmtExecute, wire.ComStmtBulkExecute:
		st.class.Inspects, st.locks = x.b.preparedInspects, x.b.preparedLocks
	}
	x.observe()
	said, err = x.before(st)
	return false, said, err
}

// observe counts a statement that is relayed.
func (x *session) observe() {
	o := &x.b.Observe
	switch {
	case x.st.command != wire.ComQuery:
	case x.st.why != "":
		if o.Relayed != nil {
			o.Relayed(x.st.why)
		}
	case o.Barrier != nil:
		o.Barrier()
	}
}

// queryText is the text of a COM_QUERY, behind the query attributes if those are
// agreed on (MySQL Internals "COM_QUERY"). With attributes there it is not looked for.
func (x *session) queryText(p []byte) (text []byte, ok bool) {
	if x.backend.Caps.Base&wire.ClientQueryAttributes == 0 {
		return p, true
	}
	if len(p) < 2 || p[0] != 0 || p[1] != 1 {
		return nil, false
	}
	return p[2:], true
}

// relay forwards the command and its reply as they are.
func (x *session) relay(kind byte, raw []byte, whole bool) (done bool, err error) {
	if kind == wire.ComChangeUser {
		return x.changeUser()
	}
	short := cutShort(kind, raw)
	x.b.newest.name(kind, raw)
	if whole {
		if x.st.instead != nil {
			err = x.backend.SendQuery(x.st.instead)
		} else {
			_, err = x.backend.Write(raw)
		}
		x.client.Discard(len(raw))
		x.st.text = nil // stands in the buffer that was given up
	} else {
		var readErr error
		if _, _, readErr, err = x.client.ForwardPacket(x.backend.Conn.Conn, 0); readErr != nil {
			return true, readErr
		}
	}
	if kind == wire.ComQuit {
		return true, x.awaitClose()
	}
	if err != nil {
		return true, x.lastWords(err)
	}
	switch reply := wire.ReplyTo(kind); reply {
	case wire.ReplyNone:
		if short {
			return true, x.stream()
		}
		return false, nil
	case wire.ReplyStream:
		if first, err := x.backend.Peek(5); err == nil && first[4] == wire.IsErr {
			return x.relayReply(wire.ReplyUnknown) // refused: commands go on
		}
		return true, x.stream()
	default:
		return x.relayReply(reply)
	}
}

// cutShort: a command without a reply that is shorter than it has to be. MySQL answers
// it with an error, MariaDB does not: sluice cannot follow what comes after.
func cutShort(kind byte, raw []byte) bool {
	switch kind {
	case wire.ComStmtClose:
		return len(raw) < 4+1+4
	case wire.ComStmtSendLongData:
		return len(raw) < 4+1+4+2
	}
	return false
}

// replied runs when the end of a reply has been seen and before the client has it.
func (x *session) replied() {
	if x.reply.HasFlags {
		x.status = x.reply.Status
	}
	if x.st.command == wire.ComStmtPrepare {
		x.b.newest.prepared(&x.reply)
	}
	x.b.doubt = x.reply.Failed || x.b.doubt && !x.reply.HasFlags
	x.after(&x.st)
}

// relayReply forwards one reply, and the files that it asks for.
func (x *session) relayReply(kind wire.ReplyKind) (done bool, err error) {
	r := &x.reply
	r.Begin(kind, x.backend.Caps)
	for {
		readErr, writeErr := x.backend.RelayReply(x.client.Conn, r, x.onLast)
		if readErr != nil || writeErr != nil {
			return true, errors.Join(readErr, writeErr)
		}
		switch {
		case r.Unknown:
			return true, x.stream()
		case !r.Infile:
			return false, nil
		}
		if err := x.upload(); err != nil {
			return true, err
		}
		r.Infile = false
	}
}

// upload forwards the packets of a LOCAL INFILE up to the empty one that ends it
// (MySQL Internals "LOCAL INFILE Request").
func (x *session) upload() error {
	to := &untilLost{Writer: x.backend.Conn.Conn}
	to.lost = func() { _ = x.client.SetReadDeadline(time.Now().Add(time.Minute)) }
	for seq := x.reply.Seq; ; {
		var empty bool
		var err error
		seq, empty, err, _ = x.client.ForwardPacket(to, seq+1)
		switch {
		case err != nil:
			return errors.Join(to.err, err)
		case empty && to.err != nil:
			return x.uploadFailed(to.err, seq)
		case empty:
			x.client.Shrink()
			return nil
		}
	}
}

// untilLost writes until that fails; what comes after is dropped.
type untilLost struct {
	io.Writer
	lost func()
	err  error
}

func (u *untilLost) Write(p []byte) (int, error) {
	if u.err == nil {
		if _, u.err = u.Writer.Write(p); u.err != nil {
			u.lost()
		}
	}
	return len(p), nil
}

// uploadFailed gives a client that has finished its upload, although the backend went
// away under it, the server's last words or ours: a client in the middle of an upload
// reads nothing, and would report a broken pipe in place of the cause.
func (x *session) uploadFailed(cause error, seq byte) error {
	_ = x.backend.SetReadDeadline(time.Now().Add(time.Second))
	words := &wire.Error{Code: 1158, State: "08S01", Message: "sluice: Lost connection to MySQL server during LOAD DATA LOCAL"}
	if p, _, err := x.backend.ReadPacket(loginLimit); err == nil && len(p) > 0 && p[0] == wire.IsErr {
		words = wire.ParseErr(p)
	}
	_ = x.client.WriteErr(seq+1, words)
	x.linger()
	return cause
}

// lastWords passes on what the backend said before it stopped listening, such as
// error 1153 for a packet that is too large, or 4031; else the client sees the
// connection close, as it would directly.
func (x *session) lastWords(cause error) error {
	_ = x.backend.SetReadDeadline(time.Now().Add(time.Second))
	if n, _ := io.Copy(x.client.Conn, drained{x.backend.Conn}); n > 0 {
		x.linger()
	}
	return cause
}

// awaitClose waits for the server to end the connection after COM_QUIT, so that
// what the session held on the server (locks, temporary tables) is gone when the
// client sees its connection closed.
func (x *session) awaitClose() error {
	_ = x.backend.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.Copy(io.Discard, x.backend.Conn.Conn)
	return nil
}

// stream relays both directions as bytes until either side ends: for commands
// whose replies have no end that sluice knows, such as a binlog dump.
func (x *session) stream() error {
	up := make(chan struct{})
	go func() { // ends when the client's connection is closed, at the latest by close below
		defer close(up)
		_, _ = io.Copy(x.backend.Conn.Conn, drained{x.client})
		_ = x.backend.Close()
	}()
	_, err := io.Copy(x.client.Conn, drained{x.backend.Conn})
	x.close()
	<-up
	return err
}
