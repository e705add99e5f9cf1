package semantics

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cut says what becomes of a COMMIT that crosses a relay.
type cut int

// The cuts. Each but the first ends the connection.
const (
	pass       cut = iota
	unsent         // the COMMIT does not reach the server, whose side ends at once
	unsentLate     // the same, but the server's side and its transaction live on for a while
	unanswered     // the COMMIT is sent, its reply is not
	late           // the client's side ends at once; the COMMIT reaches the server a while later
)

// relay forwards connections to a server and does to each COMMIT what decide says.
type relay struct {
	addr     string
	server   string
	decide   func() (cut, time.Duration)
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func newRelay(t *testing.T, server string, decide func() (cut, time.Duration)) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{addr: l.Addr().String(), server: server, decide: decide, listener: l}
	r.running.Go(r.accept)
	t.Cleanup(func() {
		_ = l.Close()
		r.mu.Lock()
		for _, c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		r.running.Wait()
	})
	return r
}

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		r.running.Go(func() {
			_, _ = io.Copy(client, server)
			_ = client.Close()
		})
		r.running.Go(func() { r.up(client, server) })
	}
}

var commit = append([]byte{7, 0, 0, 0, 3}, "COMMIT"...)

// up forwards the client's side. A COMMIT comes in one piece: sluice waits for the
// reply to each statement and writes each packet at once.
func (r *relay) up(client, server net.Conn) {
	defer func() { _ = server.Close() }()
	defer func() { _ = client.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(buf[:n], commit) {
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
			continue
		}
		what, wait := r.decide()
		switch what {
		case unsent:
			return
		case unsentLate:
			_ = client.Close()
			time.Sleep(wait)
			return
		case unanswered:
			// Nothing that comes back is forwarded: the client's side is gone.
			_ = client.Close()
			_, _ = server.Write(buf[:n])
			time.Sleep(wait)
			return
		case late:
			_ = client.Close()
			time.Sleep(wait)
			_, _ = server.Write(buf[:n])
			time.Sleep(5 * time.Millisecond)
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}
