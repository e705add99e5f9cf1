package fault

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// storm is clients that come at a steady pace and leave in all ways.
type storm struct {
	addr string
	rate int // a second
	time time.Duration
	stay int // clients at most that say nothing and stay until the end
	user func(addr string) error

	errs    chan error
	silent  []net.Conn
	reached int // a second
}

// run lets the storm pass.
func (s *storm) run(t *testing.T) {
	t.Helper()
	const most = 400 // clients at a time
	places := make(chan struct{}, most)
	s.errs = make(chan error, 1)
	var came atomic.Int64
	var mu sync.Mutex
	var coming sync.WaitGroup
	started := time.Now()
	n := int(time.Duration(s.rate) * s.time / time.Second)
	for i := range n {
		time.Sleep(time.Until(started.Add(time.Duration(i) * time.Second / time.Duration(s.rate))))
		places <- struct{}{}
		coming.Go(func() {
			defer func() { <-places }()
			conn, err := s.come(i)
			if err == nil {
				came.Add(1)
			} else {
				select {
				case s.errs <- err:
				default:
				}
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case conn == nil:
			case len(s.silent) < s.stay:
				s.silent = append(s.silent, conn)
			default:
				_ = conn.Close()
			}
		})
	}
	coming.Wait()
	s.reached = int(float64(n) / time.Since(started).Seconds())
	t.Logf("%d connects of %d, %d a second of %d", came.Load(), n, s.reached, s.rate)
	select {
	case err := <-s.errs:
		t.Errorf("%d clients failed, one of them: %v", int64(n)-came.Load(), err)
	default:
	}
	for _, conn := range s.silent {
		_ = conn.Close()
	}
}

// come is one client. A connection that is returned is to be closed.
func (s *storm) come(i int) (net.Conn, error) {
	if i%4 == 0 {
		return nil, s.user(s.addr)
	}
	conn, err := net.DialTimeout("tcp", s.addr, rawclient.Deadline)
	if err != nil {
		return nil, err
	}
	switch i % 4 {
	case 1: // gone at once
		return nil, conn.Close()
	case 2: // gone after the greeting, as a client that crashes
		_ = conn.SetDeadline(time.Now().Add(rawclient.Deadline))
		_, _, err := skipPacket(conn)
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// TestConnectStorm (F079): clients that come at 2,000 a second, most of which never log in,
// are not noticed by a session that works, and leave nothing behind.
func TestConnectStorm(t *testing.T) {
	sluice := frontFake(t)
	regular := startRegular(t, sluice.Addr)
	before := usageOf(t, sluice)
	s := storm{addr: sluice.Addr, rate: 2000, time: long(2*time.Second, 10*time.Second), stay: 400, user: func(addr string) error {
		g, err := enter(addr)
		if err == nil {
			err = g.ping()
			g.quit()
		}
		return err
	}}
	if servers.Race {
		s.rate = 500
	}
	s.run(t)
	settlesTo(t, sluice, before, 1)
	staysWithin(t, sluice, 512*mib)
	regular.check(t)
	require.NotContains(t, sluice.Log(1000), "panic")
}

// TestConnectStormOnServers is the same before a real server, slower.
func TestConnectStormOnServers(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Fresh(t, kind, "--max-connections=1000", "--max-connect-errors=1", servers.ResolveNames)
			way := forward(t, server.Addr)
			sluice := servers.StartSluice(t, server, "--backend", "mysql://sluice_svc@"+way+"/")
			working := startHealthy(t, server, sluice)
			before := usageOf(t, sluice)
			s := storm{addr: sluice.Addr, rate: 100, time: long(2*time.Second, 30*time.Second), stay: 100, user: visit}
			s.run(t)
			settlesTo(t, sluice, before, 1)
			working.check(t, server, sluice)
			require.NoError(t, visit(way), "the server has not locked sluice's host out")
			require.NotContains(t, sluice.Log(1000), "panic")
		})
	}
}
