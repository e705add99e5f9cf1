package proxy

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// parking is a session's part of the event loop. All of it is guarded by session.mu
// while the session is parked, and belongs to its goroutine otherwise.
type parking struct {
	loop        *eventLoop // nil: the session cannot be parked
	descriptors [2]int32   // of the client's socket and the backend's
	seat        int32
	parked      bool
	leave       chan stage
	stage       stage
	unread      bool   // the client has sent something that was not read yet
	rest        []byte // of a reply or a command that a socket did not take
	calm        int    // small commands relayed one after the other
	need        int    // of them before the session is parked
	served      int    // since it was parked
}

// stage is where a parked session stands.
type stage int

const (
	atCommand stage = iota // waits for the client
	atReply                // waits for the server's reply
	atRest                 // the client is slow to take the reply
	atSend                 // the server is slow to take the command
)

// calmEnough is after how many small commands a session is parked. Being parked and
// fetched back costs system calls too: whom it did not serve long is parked later and later.
const (
	calmEnough = 16
	calmMost   = 4096
)

// smallCommand is less than the small buffers hold, in bytes.
const smallCommand = 4 << 10

// openParking prepares a session for the event loop, which reads and writes plain
// sockets only: not those below TLS or compression.
func (x *session) openParking(l *eventLoop) {
	client, err := descriptor(x.client.Socket())
	if err != nil || !x.client.Plain() || !x.backend.Plain() {
		return
	}
	backend, err := descriptor(x.backend.Socket())
	if err != nil {
		return
	}
	x.loop, x.descriptors = l, [2]int32{client, backend}
	x.leave, x.need, x.served = make(chan stage, 1), calmEnough, calmMost
}

// park leaves the session to the event loop until it has to go on in its goroutine,
// which gets to know from where.
func (x *session) park() stage {
	if !x.enter() {
		return atCommand
	}
	return <-x.leave
}

func (x *session) enter() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.served < 4*x.need {
		x.need = min(max(2*x.need, calmEnough), calmMost)
	} else {
		x.need = calmEnough
	}
	x.calm, x.served = 0, 0
	if x.b.state != nil || x.backendGone.Load() || x.ending || x.client.Buffered() > 0 || x.backend.Buffered() > 0 {
		return false
	}
	x.parked, x.waiting, x.unread, x.stage = true, true, false, atCommand
	if err := x.loop.add(x); err != nil {
		x.log.Debug().Err(err).Msg("event loop")
		x.parked, x.waiting = false, false
		return false
	}
	return true
}

// unpark gives the session back to its goroutine. x.mu is held.
func (x *session) unpark() {
	x.parked, x.waiting = false, false
	x.loop.remove(x)
	x.leave <- x.stage
}

// event tells that a socket can be read or was hung up.
func (x *session) event(who side, events uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case !x.parked:
		return
	case events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0:
		x.unpark()
		return
	case who == clientSide:
		x.unread = true
	case x.stage == atReply:
		x.takeReply()
	}
	for x.parked && x.unread && x.stage == atCommand {
		x.takeCommand()
	}
}

// takeCommand reads a command and passes it on, if that is all that it takes.
func (x *session) takeCommand() {
	x.unread = false
	if err := x.client.TryFill(); err != nil {
		if !errors.Is(err, wire.ErrAgain) {
			x.unpark()
		}
		return
	}
	raw, ok := x.client.OnlyPacket()
	if !ok || !x.isSmall(raw) {
		x.unpark()
		return
	}
	kind := raw[4]
	x.begin(kind)
	if x.b.Batching != nil {
		if handled, said, err := x.batch(raw, true); handled || said != nil || err != nil {
			x.unpark() // does not happen: see isSmall
			return
		}
	}
	x.b.newest.name(kind, raw)
	written, err := x.backend.TryWrite(raw)
	if err != nil {
		x.unpark()
		return
	}
	rest := raw[written:]
	x.client.Discard(len(raw))
	x.st.text = nil
	x.served++
	if len(rest) > 0 { // after commands that have no reply it may have read none of them
		x.rest = append([]byte(nil), rest...)
		x.stage = atSend
		x.unpark()
		return
	}
	if wire.ReplyTo(kind) != wire.ReplyNone {
		x.stage, x.waiting = atReply, false
	}
}

// isSmall says whether a command is relayed without anything that could take time:
// no rows to be flushed or waited for, no question of ours to the server.
func (x *session) isSmall(raw []byte) bool {
	if len(raw) <= 4 || cutShort(raw[4], raw) {
		return false
	}
	switch wire.ReplyTo(raw[4]) {
	case wire.ReplyGeneric, wire.ReplyPrepare:
	case wire.ReplyNone:
		if raw[4] == wire.ComQuit {
			return false
		}
	default:
		return false
	}
	b := &x.b
	if b.Batching == nil {
		return true
	}
	if b.held.Len() > 0 || b.failed != nil || b.traces.valid || b.state != nil ||
		(b.Engine != nil && b.Engine.PendingRows() > 0) {
		return false
	}
	if raw[4] != wire.ComQuery {
		return true
	}
	text, ok := x.queryText(raw[5:])
	return ok && !rewrite.IsInsert(text)
}

// takeReply reads the reply and passes it on when it is whole. A large one of which only
// a part is there is left to the goroutine, which streams it.
func (x *session) takeReply() {
	for {
		switch err := x.backend.TryFill(); {
		case errors.Is(err, wire.ErrAgain) && x.backend.Buffered() == 0:
			return
		case err != nil && !errors.Is(err, wire.ErrAgain):
			x.unpark()
			return
		}
		if !x.backend.Full() {
			break
		}
		if x.backend.Enlarged() {
			x.unpark()
			return
		}
		x.backend.Enlarge()
	}
	r := &x.reply
	r.Begin(wire.ReplyTo(x.st.command), x.backend.Caps)
	n, whole := x.backend.Follow(r)
	switch {
	case r.Infile || r.Unknown || (n == 0 && x.backend.Enlarged()):
		x.unpark()
		return
	case n == 0:
		return // the rest is on its way
	case !whole:
		x.unpark() // there is more behind it
		return
	}
	x.replied()
	reply, _ := x.backend.Peek(n)
	written, err := x.client.TryWrite(reply)
	if err == nil && written == n {
		x.backend.Discard(n)
		x.backend.Shrink()
		x.stage, x.waiting = atCommand, true
		if x.backendGone.Load() || (x.ending && x.idleStatus()) {
			x.unpark()
		}
		return
	}
	x.rest = append([]byte(nil), reply[written:]...)
	x.backend.Discard(n)
	x.backend.Shrink()
	x.stage = atRest
	x.unpark()
}

// resume goes on where the event loop stopped, up to the end of the reply.
func (x *session) resume(from stage) (done bool, err error) {
	rest := x.rest
	x.rest = nil
	switch from {
	case atSend:
		if _, err := x.backend.Write(rest); err != nil {
			return true, x.lastWords(err)
		}
		if reply := wire.ReplyTo(x.st.command); reply != wire.ReplyNone {
			return x.relayReply(reply)
		}
	case atReply:
		return x.relayReply(wire.ReplyTo(x.st.command))
	case atRest:
		_, err := x.client.Write(rest)
		return err != nil, err
	}
	return false, nil
}

// isCalm says whether the session is to be parked before its next command.
func (x *session) isCalm() bool { return x.loop != nil && x.calm >= x.need }

// noteCalm counts the small commands since the last other one.
func (x *session) noteCalm(small bool) {
	if small {
		x.calm++
	} else {
		x.calm = 0
	}
}
