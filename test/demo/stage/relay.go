package stage

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Relay is a TCP relay that delivers every byte a fixed time after it came, in
// both directions, as a long cable would. It does not limit the throughput.
type Relay struct {
	listener net.Listener
	target   string
	delay    time.Duration

	running sync.WaitGroup // the accept loop and four goroutines a connection

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
}

// piece is what one read gave and when it may be written.
type piece struct {
	bytes []byte
	due   time.Time
}

const (
	pieceSize   = 64 << 10
	piecesAhead = 256 // in flight a direction; the sender waits beyond that
)

// StartRelay listens on a free port of 127.0.0.1 in front of target.
func StartRelay(target string, delay time.Duration) (*Relay, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start relay: %w", err)
	}
	r := &Relay{listener: listener, target: target, delay: delay, conns: map[net.Conn]struct{}{}}
	r.running.Go(r.accept)
	return r, nil
}

// Addr is the address to connect to.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Close cuts all connections and returns when no goroutine of the relay is left.
func (r *Relay) Close() error {
	r.mu.Lock()
	r.closed = true
	err := r.listener.Close()
	for conn := range r.conns {
		conn.Close() // ends the reads and writes on it; its error says nothing new
	}
	r.mu.Unlock()
	r.running.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close relay: %w", err)
	}
	return nil
}

func (r *Relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("tcp4", r.target)
		if err != nil {
			client.Close()
			continue
		}
		if !r.track(client, server) {
			return
		}
		var both sync.WaitGroup
		r.pump(&both, server, client)
		r.pump(&both, client, server)
		r.running.Go(func() {
			both.Wait()
			r.forget(client, server)
		})
	}
}

// track remembers the connections for Close, or closes them when that came first.
func (r *Relay) track(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		if r.closed {
			conn.Close()
			continue
		}
		r.conns[conn] = struct{}{}
	}
	return !r.closed
}

func (r *Relay) forget(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range conns {
		conn.Close()
		delete(r.conns, conn)
	}
}

// pump moves one direction: a reader stamps what comes, a writer waits until it is due.
func (r *Relay) pump(both *sync.WaitGroup, to, from net.Conn) {
	flight := make(chan piece, piecesAhead)
	both.Add(2)
	r.running.Go(func() {
		defer both.Done()
		defer close(flight)
		for {
			buffer := make([]byte, pieceSize)
			n, err := from.Read(buffer)
			if n > 0 {
				flight <- piece{bytes: buffer[:n], due: time.Now().Add(r.delay)}
			}
			if err != nil {
				return
			}
		}
	})
	r.running.Go(func() {
		defer both.Done()
		var failed error
		for p := range flight {
			if failed != nil {
				continue // take the rest, so that the reader never hangs
			}
			time.Sleep(time.Until(p.due))
			_, failed = to.Write(p.bytes)
		}
		// The end of the stream is passed on after the same delay, a broken one at once.
		if half, ok := to.(interface{ CloseWrite() error }); ok && failed == nil {
			time.Sleep(r.delay)
			failed = half.CloseWrite()
		}
		if failed != nil && !errors.Is(failed, io.EOF) {
			from.Close()
			to.Close()
		}
	})
}
