package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/sluice-db/sluice/backend/wire"
)

// session is one client and its own backend connection. All of it belongs to
// the session's goroutine but what the atomics say.
type session struct {
	id       uint64
	server   *Server
	log      zerolog.Logger
	client   *wire.Conn
	backend  *wire.Session // nil before the backend has been dialled
	login    *wire.Login
	greet    *wire.Greeting
	status   uint16 // server status flags of the last reply
	listener int    // its number among Options.Listen
	reply    wire.Reply
	b        batching
	st       statement // the command that is being relayed
	onLast   func()    // runs before the last bytes of its reply are written
	ctx      context.Context
	cancel   context.CancelFunc // when the backend is gone, or the session is cut
	salt     []byte             // the scramble in force

	compression wire.Compression // with the client

	backendGone atomic.Bool
	closeOnce   sync.Once

	parking

	orphaned bool // the backend is down
	probed   time.Time

	mu      sync.Mutex
	waiting bool // for the client's next command: its read may be woken
	ending  bool // end when the client has nothing under way
	woken   bool // the read deadline is in the past
}

func newSession(s *Server, c net.Conn, listener int) *session {
	id := s.nextID.Add(1)
	x := &session{
		id:       id,
		listener: listener,
		server:   s,
		log:      s.log.With().Uint64("session", id).Logger(),
		client:   wire.NewConn(c),
	}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	x.onLast = x.replied
	return x
}

// run is the session from accept to close.
func (x *session) run() {
	defer x.close()
	if refused := x.server.admit(); refused != nil {
		x.server.count(x.server.opts.Counters.LoginFailed)
		x.refuse(refused.Code, refused.State, refused.Message)
		return
	}
	defer x.server.open.Add(-1)
	if !x.connect() {
		x.server.count(x.server.opts.Counters.LoginFailed)
		return
	}
	if err := x.logIn(); err != nil {
		x.server.count(x.server.opts.Counters.LoginFailed)
		x.log.Debug().Err(err).Msg("login failed")
		return
	}
	x.server.count(x.server.opts.Counters.SessionOpened)
	defer x.server.count(x.server.opts.Counters.SessionClosed)
	x.log = x.log.With().Uint32("thread", x.greet.ThreadID).Logger()
	stop, err := x.server.hangups.watch(x.backend.Socket(), x.backendLost)
	if err != nil {
		x.log.Error().Err(err).Msg("cannot watch the backend connection")
		return
	}
	defer stop()
	x.openBatch()
	x.openParking(x.server.loopFor(x))
	defer x.closeBatch()
	if err := x.commands(); err != nil && !isGone(err) {
		x.log.Debug().Err(err).Msg("session ended")
		x.explain(err)
	}
}

func (s *Server) count(f func()) {
	if f != nil {
		f()
	}
}

// connect dials the backend and sends its greeting to the client.
func (x *session) connect() bool {
	o := &x.server.opts
	if x.server.draining.Load() {
		x.refuse(1053, "08S01", "sluice: server shutdown in progress")
		return false
	}
	if o.Ready != nil {
		if err := o.Ready(); err != nil {
			x.refuse(notReached, "HY000", fmt.Sprintf("sluice: Can't connect to MySQL server on '%s' (%s)", o.Backend, err))
			return false
		}
	}
	if o.Vouched != nil && o.Backend.Network == "unix" {
		if err := o.Vouched(context.Background()); err != nil {
			x.refuse(1045, "28000", "sluice: access denied: "+err.Error())
			return false
		}
	}
	d := net.Dialer{Timeout: o.DialTimeout}
	c, err := d.Dial(o.Backend.Network, o.Backend.Addr)
	if isScarcity(err) {
		x.server.scarce.Error().Err(err).Msg("no file descriptor is left for a connection to the backend")
		refused := tooMany("no file descriptor is left for one to the server: raise ulimit -n")
		x.refuse(refused.Code, refused.State, refused.Message)
		return false
	}
	if err != nil {
		x.server.scarce.Warn().Err(err).Uint64("session", x.id).Msg("backend not reached")
		x.refuse(notReached, "HY000", fmt.Sprintf("sluice: Can't connect to MySQL server on '%s' (%s)", o.Backend, reasonOf(err)))
		return false
	}
	x.mu.Lock()
	x.backend = &wire.Session{Conn: wire.NewConn(c)}
	x.mu.Unlock()
	return true
}

// notReached is the number of an error packet that says what error 2003 says. 2003
// itself and its like belong to the client libraries: MariaDB's reports an error packet
// with such a number as malformed. See docs/decisions.
const notReached = 1429 // ER_CONNECT_TO_FOREIGN_DATA_SOURCE

// reasonOf is the number that the client library would show, or words.
func reasonOf(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return fmt.Sprintf("%d \"%s\"", int(no), no.Error())
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "timed out"
	}
	return "not reached"
}

// refuse answers a connection with an error instead of a greeting.
func (x *session) refuse(code uint16, state, text string) {
	if err := x.client.WriteErr(0, &wire.Error{Code: code, State: state, Message: text}); err == nil {
		x.linger()
	}
}

// endWhenIdle ends the session as soon as its client has neither a command nor a
// transaction under way.
func (x *session) endWhenIdle() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ending = true
	if x.waiting && x.idleStatus() {
		x.wake()
	}
}

// backendLost runs when the backend has hung up.
func (x *session) backendLost() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.orphaned {
		return
	}
	x.backendGone.Store(true)
	x.cancel()
	if x.waiting {
		x.wake()
	}
}

// wake makes a blocked read of the client return: a deadline in the past. x.mu is held.
func (x *session) wake() {
	if x.parked {
		x.unpark()
		return
	}
	x.woken = true
	_ = x.client.SetReadDeadline(time.Unix(1, 0))
}

// idleStatus says whether no transaction is open, on the server or in what is held.
// Both may be read under x.mu while the session waits.
func (x *session) idleStatus() bool { return x.status&wire.StatusInTrans == 0 && x.b.held.Len() == 0 }

// startWaiting is called before the session waits for a command; false means
// that it should end instead.
func (x *session) startWaiting() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting = true
	return !x.backendGone.Load() && !(x.ending && x.idleStatus())
}

// stopWaiting is called when a command has come.
func (x *session) stopWaiting() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting = false
	if x.woken {
		x.woken = false
		_ = x.client.SetReadDeadline(time.Time{})
	}
}

// cut closes both connections under the session's goroutine.
func (x *session) cut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cancel()
	if x.parked {
		x.unpark()
	}
	_ = x.client.Close()
	if x.backend != nil {
		_ = x.backend.Close()
	}
}

func (x *session) close() {
	x.closeOnce.Do(func() {
		x.cancel()
		_ = x.client.Shutdown()
		if x.backend != nil {
			_ = x.backend.Shutdown()
		}
	})
}

// linger lets the client read what has been written before the connection goes:
// closing a socket with unread bytes resets it, and the reset can overtake our
// last words. It is bounded in time and in bytes, and in how many do it at a time: a
// flood of clients that have to go is not to take the descriptors of those that may stay.
func (x *session) linger() {
	const wait, most, atATime = 2 * time.Second, 64 << 20, 64
	defer x.server.lingering.Add(-1)
	if x.server.lingering.Add(1) > atATime || x.client.CloseWrite() != nil {
		return
	}
	_ = x.client.SetReadDeadline(time.Now().Add(wait))
	_, _ = io.CopyN(io.Discard, x.client.Socket(), most)
}

// explain tells a client whose compressed packets cannot be read, as a server would.
func (x *session) explain(err error) {
	e := &wire.Error{State: "08S01"}
	switch {
	case errors.Is(err, wire.ErrCompressed):
		e.Code, e.Message = 1157, "sluice: Couldn't uncompress communication packet"
	case errors.Is(err, wire.ErrOutOfOrder):
		e.Code, e.Message = 1156, "sluice: Got packets out of order"
	default:
		return
	}
	if x.client.WriteErr(1, e) == nil {
		x.linger()
	}
}

// isGone says that an error is only a peer that left.
func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
