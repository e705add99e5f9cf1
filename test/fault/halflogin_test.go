package fault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// halfLogins are clients that connect and do not log in.
var halfLogins = map[string]func(net.Conn) error{
	"silence":                         func(net.Conn) error { return nil },
	"half a header":                   send([]byte{32, 0}),
	"half a packet":                   send(append([]byte{60, 0, 0, 1}, make([]byte, 20)...)),
	"a length that announces much":    send([]byte{0xff, 0xff, 0x03, 1}),
	"half a TLS hello":                send(append(bytes.Clone(sslRequest), 22, 3, 1, 2, 0, 1, 0, 1, 0xfc)),
	"a TLS hello that announces much": send(append(bytes.Clone(sslRequest), 22, 3, 1, 0x3f, 0xff, 1, 0, 0xff, 0xff)),
	"a byte at a time": func(conn net.Conn) error {
		for _, b := range guestLogin {
			if _, err := conn.Write([]byte{b}); err != nil {
				break // cut off
			}
			time.Sleep(100 * time.Millisecond)
		}
		return nil
	},
}

func send(p []byte) func(net.Conn) error {
	return func(conn net.Conn) error {
		_, err := conn.Write(p)
		return err
	}
}

// TestHalfLogins: clients that do not log in are cut off before the server would do it,
// which would count that against sluice's host; until then they count as sessions
// (max_sessions), clients that are refused do not. A session that works notices nothing.
func TestHalfLogins(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Fresh(t, kind, "--max-connect-errors=1", "--connect-timeout=4", servers.ResolveNames)
			way := forward(t, server.Addr)
			const sessions = 29
			sluice := servers.StartSluice(t, server, "--backend", "mysql://sluice_svc@"+way+"/", "--max-sessions", fmt.Sprint(sessions))
			working := startHealthy(t, server, sluice)
			before := usageOf(t, sluice)
			failures := sluice.Metric(t, "sluice_login_failures_total")

			full := make(chan struct{})
			var cut sync.WaitGroup
			begun := 1 // the healthy one
			for begun < sessions {
				for name, behave := range halfLogins {
					if begun == sessions {
						break
					}
					begun++
					conn := connect(t, sluice.Addr)
					greeting(t, conn)
					cut.Go(func() {
						if err := behave(conn); err != nil {
							t.Errorf("%s: %v", name, err)
						}
						_ = conn.SetReadDeadline(time.Now().Add(rawclient.Deadline))
						if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
							t.Errorf("%s: sluice does not cut it off", name)
						}
					})
				}
			}
			c, err := rawclient.Dial(sluice.Addr, rawclient.Options{User: "app", Password: "app"})
			require.ErrorIs(t, err, rawclient.ErrRefused)
			require.Equal(t, []string{`0 ERR 1040 "sluice: too many connections (max_sessions)"`}, c.Login)

			// Those that are refused, and stay, do not keep others out.
			stop := refusedFlood(t, sluice.Addr)
			go func() { cut.Wait(); close(full) }()
			select {
			case <-full:
			case <-time.After(rawclient.Deadline):
				t.Fatal("clients that do not log in are not cut off")
			}
			require.Eventually(t, func() bool { return visit(sluice.Addr) == nil }, rawclient.Deadline, 10*time.Millisecond)
			stop()

			require.GreaterOrEqual(t, sluice.Metric(t, "sluice_login_failures_total"), failures+sessions-1)
			settlesTo(t, sluice, before, 1)
			staysWithin(t, sluice, 192*mib)
			working.check(t, server, sluice)
			require.NoError(t, visit(way), "the server has not locked sluice's host out")
			require.False(t, strings.Contains(sluice.Log(1000), "panic"))
		})
	}
}

// refusedFlood connects all the while until it is stopped. Who is refused stays, who is
// not leaves at once.
func refusedFlood(t *testing.T, addr string) (stop func()) {
	t.Helper()
	end := make(chan struct{})
	var flood sync.WaitGroup
	flood.Go(func() {
		var refused []net.Conn
		defer func() {
			for _, conn := range refused {
				_ = conn.Close()
			}
		}()
		for {
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
			conn, err := net.DialTimeout("tcp", addr, rawclient.Deadline)
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.SetDeadline(time.Now().Add(rawclient.Deadline))
			if _, first, err := skipPacket(conn); err == nil && first == 0xff {
				refused = append(refused, conn)
			} else {
				_ = conn.Close()
			}
		}
	})
	return sync.OnceFunc(func() { close(end); flood.Wait() })
}
