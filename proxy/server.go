package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/sluice-db/sluice/backend/wire"
)

// Address is where to dial or listen: network tcp or unix.
type Address struct {
	Network string
	Addr    string // host:port, or the path of a socket
}

// String gives the address as users write it.
func (a Address) String() string {
	if a.Network == "unix" {
		return "unix:" + a.Addr
	}
	return a.Addr
}

// Listener is where clients connect.
type Listener struct {
	Address
	Relay bool // nothing is batched: profile off and no rule that switches it on
}

// Options are what a Server is made of.
type Options struct {
	Backend      Address
	Listen       []Listener
	Batching     func(listener int) *Batching // asked at each login; nil, or giving nil: everything is relayed
	Ready        func() error                 // asked at each connect: an error refuses it, for as long as sluice cannot keep its promises
	Log          zerolog.Logger
	Counters     Counters             // nil fields are not counted
	LoginTimeout func() time.Duration // for the whole login, 0 for none; asked at each one
	DialTimeout  time.Duration
	TLS          *tls.Config    // offered to clients; nil: none
	RequireTLS   bool           // refuses logins over a plain link that is no socket
	BackendTLS   *wire.TLS      // nil: plain
	Compression  wire.Algorithm // what clients may use, wire.Uncompressed among it or not; 0: none
	MaxSessions  int            // 0 for no limit
	ServiceUser  string         // the service account's name: nobody logs in as it through sluice (S03)
	// Vouched is asked before each login when the backend is reached by its
	// socket: it refuses when an account maps to sluice's own uid (S03).
	Vouched func(context.Context) error
}

// Counters are called by sessions; see package metrics.
type Counters struct {
	SessionOpened func()
	SessionClosed func()
	LoginFailed   func()
	Command       func(command byte)
}

// Server accepts clients and relays their sessions.
type Server struct {
	opts      Options
	log       zerolog.Logger
	listeners []net.Listener
	hangups   *hangups
	loops     []*eventLoop
	sessions  sync.WaitGroup
	open      atomic.Int64   // sessions, also before their login
	lingering atomic.Int64   // clients that are told to go
	scarce    zerolog.Logger // of limited rate: what every connect could run into
	deaf      zerolog.Logger // the same for accepts that fail
	nextID    atomic.Uint64
	draining  atomic.Bool
	globals   globals

	mu   sync.Mutex
	live map[*session]struct{}
}

// New opens the listeners. A stale socket file that nobody listens on is replaced.
func New(opts Options) (*Server, error) {
	s := &Server{opts: opts, log: opts.Log, live: make(map[*session]struct{})}
	for _, limited := range []*zerolog.Logger{&s.scarce, &s.deaf} {
		*limited = opts.Log.Sample(&zerolog.BurstSampler{Burst: 5, Period: 10 * time.Second})
	}
	if room := sessionRoom(); int64(opts.MaxSessions) > room {
		s.log.Warn().Int("max_sessions", opts.MaxSessions).Int64("sessions", room).
			Msg("the limit of file descriptors (ulimit -n) leaves room for fewer sessions")
	}
	for _, a := range opts.Listen {
		l, err := listen(a.Address)
		if err != nil {
			s.closeListeners()
			return nil, err
		}
		s.listeners = append(s.listeners, l)
	}
	var err error
	if s.hangups, err = newHangups(); err != nil {
		s.closeListeners()
		return nil, fmt.Errorf("watch for hang-ups: %w", err)
	}
	for range runtime.GOMAXPROCS(0) {
		l, err := newEventLoop()
		if err != nil {
			s.closeListeners()
			s.closeLoops()
			return nil, fmt.Errorf("event loop: %w", err)
		}
		s.loops = append(s.loops, l)
	}
	return s, nil
}

// loopFor spreads the sessions over the event loops.
func (s *Server) loopFor(x *session) *eventLoop { return s.loops[x.id%uint64(len(s.loops))] }

func (s *Server) closeLoops() {
	for _, l := range s.loops {
		l.close()
	}
	s.hangups.close()
}

// Addrs are the addresses listened on, in the order of Options.Listen.
func (s *Server) Addrs() []net.Addr {
	addrs := make([]net.Addr, len(s.listeners))
	for i, l := range s.listeners {
		addrs[i] = l.Addr()
	}
	return addrs
}

// Sessions is the number of open client sessions.
func (s *Server) Sessions() int { return int(s.open.Load()) }

// Run accepts until ctx is done, then stops accepting and returns; sessions go
// on until Close.
func (s *Server) Run(ctx context.Context) error {
	var accepting sync.WaitGroup
	for i, l := range s.listeners {
		accepting.Go(func() { s.accept(ctx, l, i) })
	}
	<-ctx.Done()
	s.draining.Store(true)
	s.closeListeners()
	accepting.Wait()
	return nil
}

// Close ends the sessions: idle ones at once, busy ones after the command they
// are at. It waits for them until ctx is done and then cuts them off.
func (s *Server) Close(ctx context.Context) error {
	s.draining.Store(true)
	s.closeListeners()
	s.each(func(x *session) { x.endWhenIdle() })
	done := make(chan struct{})
	go func() { s.sessions.Wait(); close(done) }()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = fmt.Errorf("%d sessions cut off: %w", s.Sessions(), ctx.Err())
		s.each(func(x *session) { x.cut() })
		<-done
	}
	s.closeLoops()
	return err
}

func (s *Server) each(f func(*session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.live {
		f(x)
	}
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
}

// accept backs off when descriptors run out: the ones that are freed must go to
// sessions, not to a loop of failing accepts.
func (s *Server) accept(ctx context.Context, l net.Listener, number int) {
	const least, most = 5 * time.Millisecond, time.Second
	wait := least
	for {
		c, err := l.Accept()
		if err == nil {
			wait = least
			s.start(c, number)
			continue
		}
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return
		}
		s.deaf.Error().Err(err).Stringer("listener", l.Addr()).Dur("wait", wait).Msg("accept failed")
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		wait = min(2*wait, most)
	}
}

func (s *Server) start(c net.Conn, listener int) {
	x := newSession(s, c, listener)
	s.mu.Lock()
	s.live[x] = struct{}{}
	s.mu.Unlock()
	s.sessions.Go(func() {
		x.run()
		s.mu.Lock()
		delete(s.live, x)
		s.mu.Unlock()
	})
}
