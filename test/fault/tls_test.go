package fault

import (
	"bytes"
	"crypto/tls"
	"errors"
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

// TestBrokenTLS breaks TLS with a client, and with the server, in all ways. The server may
// count none of it against sluice's host: it blocks hosts at the first error, and sees
// sluice at an address that it does not take for its own. A healthy session works on.
func TestBrokenTLS(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			authority := servers.NewAuthority(t)
			server := servers.Fresh(t, kind, append(authority.ServerOptions(t), "--max-connect-errors=1", servers.ResolveNames)...)
			way := forward(t, server.Addr)
			trusting := &tls.Config{RootCAs: authority.Pool(), ServerName: "localhost"}
			cert, key := authority.Issue(t, "sluice", servers.Certificate{})
			service := "mysql://sluice_svc@" + way + "/"
			ca := []string{"--backend-tls-ca", authority.CA, "--tls-cert", cert, "--tls-key", key}
			sluice := servers.StartSluice(t, server, append(ca, "--backend", service+"?tls=true", "--login-timeout", "2s")...)
			working := startHealthy(t, server, sluice)
			good := func(addr string) {
				t.Helper()
				c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", TLS: trusting})
				require.NoError(t, err)
				require.NoError(t, c.Close())
			}
			before := sluice.Metric(t, "sluice_login_failures_total")
			ways := brokenTLS(t, sluice.Addr)
			require.Eventually(t, func() bool { return sluice.Metric(t, "sluice_login_failures_total") == before+float64(ways) },
				rawclient.Deadline, 50*time.Millisecond, "each counts as a failed login")
			good(sluice.Addr)
			brokenHandshakes(t, sluice.Addr)
			garbage(t, sluice.Addr)
			for range 3 {
				goneInExchange(t, sluice.Addr)
			}
			good(sluice.Addr)

			// A server that is not trusted, or that offers no TLS, by sessions and by the service account.
			for _, url := range []string{"mysql://" + way + "/?tls=true", service + "?tls=true"} {
				args := []string{"--backend", url, "--backend-tls-ca", authority.CA, "--backend-tls-server-name", "db.example", "--data-dir", t.TempDir()}
				if url == service+"?tls=true" {
					status, output := servers.RunSluice(t, append([]string{"check"}, args...)...)
					require.Equal(t, 1, status)
					require.Contains(t, output, "not db.example")
					continue
				}
				for _, name := range []string{"db.example", "localhost"} { // check without an account
					_, output := startAndStop(t, servers.Binary(t), start{backend: url}, append([]string{"check"}, append(args, "--backend-tls-server-name", name)...))
					require.Equal(t, name == "localhost", strings.Contains(output, "ok       server "+way), output)
				}
				untrusting := servers.StartSluice(t, server, args...)
				for range 3 {
					_, err := rawclient.Dial(untrusting.Addr, rawclient.Options{User: "app", Password: "app"})
					require.ErrorIs(t, err, rawclient.ErrRefused)
				}
			}
			good(sluice.Addr)
			require.NotContains(t, sluice.Log(1000), "panic")
			working.check(t, server, sluice)

			// A broken handshake does count where nobody mends it.
			c, err := net.Dial("tcp", way)
			require.NoError(t, err)
			_, err = c.Write(sslRequest)
			require.NoError(t, err)
			_, err = c.Write([]byte("no TLS"))
			require.NoError(t, err)
			require.NoError(t, c.(*net.TCPConn).CloseWrite())
			_, err = io.Copy(io.Discard, c)
			require.NoError(t, err)
			_, err = rawclient.Dial(way, rawclient.Options{User: "app", Password: "app"})
			require.ErrorIs(t, err, rawclient.ErrRefused, "the test proves nothing: the server does not block")
		})
	}
}

// sslRequest asks for TLS, with the flags of an ordinary client.
var sslRequest = append([]byte{32, 0, 0, 1, 0x85, 0xae, 0x3f, 0x01}, make([]byte, 28)...)

// brokenTLS begins TLS and breaks it off, and returns in how many ways.
func brokenTLS(t *testing.T, addr string) int {
	t.Helper()
	begun := func(c *tls.Config) net.Conn {
		conn := connect(t, addr)
		greeting(t, conn)
		_, err := conn.Write(sslRequest)
		require.NoError(t, err)
		if c == nil {
			return conn
		}
		layer := tls.Client(conn, c)
		require.NoError(t, layer.Handshake())
		return layer
	}
	anyone := &tls.Config{InsecureSkipVerify: true}
	login := bytes.Clone(sslRequest)
	login[3] = 2
	ways := map[string]func() net.Conn{
		"garbage":       func() net.Conn { c := begun(nil); _, _ = c.Write([]byte("GET / HTTP/1.1\r\n\r\n")); return c },
		"zeros":         func() net.Conn { c := begun(nil); _, _ = c.Write(make([]byte, 1<<16)); return c },
		"silence":       func() net.Conn { return begun(nil) },
		"gone":          func() net.Conn { c := begun(nil); _ = c.(*net.TCPConn).CloseWrite(); return c },
		"reset":         func() net.Conn { c := begun(nil); reset(t, c); return c },
		"half a hello":  func() net.Conn { c := begun(nil); _, _ = c.Write([]byte{22, 3, 1, 2, 0, 1, 0, 1, 0xfc}); return c },
		"silence in it": func() net.Conn { return begun(anyone) },
		"gone in it":    func() net.Conn { c := begun(anyone); _ = c.Close(); return c },
		"not trusted": func() net.Conn {
			conn := begun(nil)
			_ = tls.Client(conn, &tls.Config{ServerName: "localhost"}).Handshake()
			return conn
		},
		"garbage in it": func() net.Conn { c := begun(anyone); _, _ = c.Write(bytes.Repeat([]byte{0xff}, 1<<16)); return c },
		"TLS asked for again": func() net.Conn {
			c := begun(anyone)
			_, _ = c.Write(login)
			return c
		},
		"a plain login behind the request": func() net.Conn {
			conn := connect(t, addr)
			greeting(t, conn)
			plain := append([]byte{41, 0, 0, 2, 0x85, 0xa6, 0x3f, 0x01}, append(make([]byte, 28), "nopassw\x00\x00"...)...)
			_, _ = conn.Write(append(bytes.Clone(sslRequest), plain...))
			return conn
		},
	}
	var waiting sync.WaitGroup
	for name, way := range ways {
		waiting.Go(func() {
			conn := way()
			defer conn.Close()
			if conn.SetDeadline(time.Now().Add(30*time.Second)) != nil {
				return // reset
			}
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: sluice neither answers nor hangs up", name)
			}
		})
	}
	waiting.Wait()
	return len(ways)
}

// goneInExchange leaves when the server asks for an answer by another plugin.
func goneInExchange(t *testing.T, addr string) {
	t.Helper()
	conn := connect(t, addr)
	greeting(t, conn)
	login := append([]byte{0, 0, 0, 1, 0x85, 0xa2, 0x2b, 0x00}, append(make([]byte, 28), "app\x00\x00nothing\x00"...)...)
	login[0] = byte(len(login) - 4)
	_, err := conn.Write(login)
	require.NoError(t, err)
	var head [5]byte
	_, err = io.ReadFull(conn, head[:])
	require.NoError(t, err)
	require.EqualValues(t, 0xfe, head[4])
	conn.Close()
}

// greeting reads the server's first packet.
func greeting(t *testing.T, conn net.Conn) {
	t.Helper()
	var head [4]byte
	_, err := io.ReadFull(conn, head[:])
	require.NoError(t, err)
	_, err = io.ReadFull(conn, make([]byte, int(head[0])|int(head[1])<<8))
	require.NoError(t, err)
}

// forward relays to a server, which sees the connections come from an address that is not
// the usual one of the loopback: servers count no errors of that one.
func forward(t *testing.T, addr string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 3)}}
	running.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := from.Dial("tcp", addr)
			if err != nil {
				_ = near.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
				running.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].(*net.TCPConn).CloseWrite()
				})
			}
		}
	})
	t.Cleanup(func() { _ = l.Close() }) // what is open ends with its ends
	return l.Addr().String()
}
