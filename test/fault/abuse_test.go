package fault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestBadClients lets clients send garbage, vanish and use wrong passwords,
// while a healthy session works on.
func TestBadClients(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			// With this limit, a few broken handshakes would lock sluice out if
			// they counted against its host.
			server := servers.Fresh(t, kind, "--max-connect-errors=3")
			server.Exec(t, "DROP TABLE IF EXISTS test.gone", "CREATE TABLE test.gone (n INT)")
			sluice := servers.StartSluice(t, server)
			working := startHealthy(t, server, sluice)

			garbage(t, sluice.Addr)
			brokenHandshakes(t, sluice.Addr)
			wrongPasswords(t, sluice.Addr)
			vanishing(t, sluice.Addr)
			require.NotContains(t, sluice.Log(1000), "panic")

			working.check(t, server, sluice)
			good := login(t, sluice.Addr)
			require.NoError(t, good.Close())
			// Acknowledged in autocommit: stored. Held in a transaction that never
			// ended, or only half sent: not stored.
			var sum int
			require.NoError(t, server.Open(t).QueryRow("SELECT COALESCE(SUM(n), 0) FROM test.gone").Scan(&sum))
			require.Equal(t, vanishedRows, sum)
		})
	}
}

func connect(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func login(t *testing.T, addr string) *rawclient.Client {
	t.Helper()
	c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: "test"})
	require.NoError(t, err)
	return c
}

// garbage sends what is no handshake response and reads until sluice hangs up.
func garbage(t *testing.T, addr string) {
	t.Helper()
	pieces := map[string][]byte{
		"HTTP":               []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"zeros":              make([]byte, 4096),
		"empty packet":       {0, 0, 0, 1},
		"short response":     {4, 0, 0, 1, 0x85, 0xa6, 0xff, 0x01},
		"old protocol":       {8, 0, 0, 1, 0, 0, 0, 0, 1, 'a', 'p', 'p'},
		"wrong sequence":     {4, 0, 0, 9, 0x85, 0xa6, 0xff, 0x01},
		"endless headers":    bytes.Repeat([]byte{0xFF, 0xFF, 0xFF, 0x00}, 10000),
		"random":             []byte("\x20\x00\x00\x01\x85\xa6\xff\xff\xff\xff\xff\xff\xff" + strings.Repeat("\xff", 23)),
		"asks for TLS":       append([]byte{32, 0, 0, 1, 0x85, 0xae, 0xff, 0x01}, make([]byte, 28)...),
		"lengths that lie":   append([]byte{60, 0, 0, 1, 0x85, 0xa2, 0x3f, 0x01}, append(make([]byte, 28), "app\x00\xfe\xff\xff\xff\xff\xff\xff\xff\x7fxxxxxxxxxxxxxxx"...)...),
		"long name, no end":  append([]byte{255, 255, 0, 1, 0x85, 0xa2, 0x3f, 0x01}, bytes.Repeat([]byte{'a'}, 65531)...),
		"16 MiB of response": append([]byte{255, 255, 255, 1}, make([]byte, 1<<24)...),
	}
	for name, piece := range pieces {
		conn := connect(t, addr)
		require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
		// Sluice may hang up before the end, which either call may notice.
		_, _ = conn.Write(piece)
		_ = conn.(*net.TCPConn).CloseWrite()
		_, err := io.Copy(io.Discard, conn)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: sluice neither answers nor hangs up", name)
		}
		conn.Close()
	}
}

// brokenHandshakes opens connections and drops them at every stage.
func brokenHandshakes(t *testing.T, addr string) {
	t.Helper()
	for i := range 30 {
		conn := connect(t, addr)
		switch i % 3 {
		case 1: // after the greeting
			_, err := conn.Read(make([]byte, 4))
			require.NoError(t, err)
		case 2: // in the middle of the response
			_, err := conn.Write([]byte{100, 0, 0, 1, 0x85})
			require.NoError(t, err)
		}
		reset(t, conn)
	}
}

// reset closes without the orderly end, as a crashed client or a cut cable.
func reset(t *testing.T, conn net.Conn) {
	t.Helper()
	require.NoError(t, conn.(*net.TCPConn).SetLinger(0))
	require.NoError(t, conn.Close())
}

func wrongPasswords(t *testing.T, addr string) {
	t.Helper()
	for i := range 10 {
		c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "wrong" + strconv.Itoa(i)})
		require.ErrorIs(t, err, rawclient.ErrRefused)
		require.Contains(t, c.Login[len(c.Login)-1], "ERR 1045 28000")
		require.NoError(t, c.Close())
	}
}

// vanishedRows is the sum of what vanishing has acknowledged.
const vanishedRows = 3 * 20 * 21 / 2

// vanishing logs in and disappears: in a command, in a transaction, in a file
// that is asked for, and right after acknowledged inserts.
func vanishing(t *testing.T, addr string) {
	t.Helper()
	for range 3 {
		half := login(t, addr)
		_, err := half.Conn().Write(append([]byte{200, 0, 0, 0, 3}, "INSERT INTO gone VALUES (1000000)"...))
		require.NoError(t, err)
		reset(t, half.Conn())

		holding := login(t, addr)
		insert(t, holding, "BEGIN")
		for n := 1; n <= 20; n++ {
			insert(t, holding, fmt.Sprintf("INSERT INTO gone VALUES (%d)", n*1000000))
		}
		reset(t, holding.Conn())

		asked := login(t, addr)
		asked.QueueInfile(rawclient.Infile{Packets: [][]byte{[]byte("1000000\n")}, Abort: true})
		_, err = asked.Do(asked.Query([]byte("LOAD DATA LOCAL INFILE 'x' INTO TABLE gone")))
		require.NoError(t, err)

		done := login(t, addr)
		for n := 1; n <= 20; n++ {
			insert(t, done, fmt.Sprintf("INSERT INTO gone VALUES (%d)", n))
		}
		reset(t, done.Conn())
	}
}

func insert(t *testing.T, c *rawclient.Client, sql string) {
	t.Helper()
	reply, err := c.Do(c.Query([]byte(sql)))
	require.NoError(t, err)
	require.False(t, reply.Failed(), "%s: %s", sql, reply)
}

// TestBackendThatIsNoServer puts sluice in front of things that are not MySQL:
// clients get an error that says so, sluice serves on.
func TestBackendThatIsNoServer(t *testing.T) {
	t.Parallel()
	behaviours := map[string]func(net.Conn){
		"talks HTTP": func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) },
		"hangs up":   func(net.Conn) {},
		"refuses":    nil,
	}
	for name, behave := range behaviours {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := pretend(t, behave)
			sluice := servers.StartSluice(t, &servers.Server{Addr: addr})
			for range 2 {
				c, err := rawclient.Dial(sluice.Addr, rawclient.Options{User: "app", Password: "app"})
				require.ErrorIs(t, err, rawclient.ErrRefused)
				require.Contains(t, c.Login[0], `"sluice: `)
				require.Contains(t, c.Login[0], addr)
				require.NoError(t, c.Close())
			}
			for kind, client := range map[servers.Kind]string{servers.KindMariaDB: "mariadb", servers.KindMySQL: "mysql"} {
				host, port, err := net.SplitHostPort(sluice.Addr)
				require.NoError(t, err)
				status, output := servers.RunClient(t, kind, client,
					"--no-defaults", "-h", host, "-P", port, "-u", "app", "-papp", "-e", "SELECT 1")
				require.Equal(t, 1, status)
				require.Contains(t, output, " sluice: Can't connect", "as %s shows it", client)
			}
		})
	}
}

// pretend listens and lets behave answer; nil means that nobody listens.
func pretend(t *testing.T, behave func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if behave == nil {
		require.NoError(t, l.Close())
		return l.Addr().String()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			behave(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

// TestDataDirectory holds that a directory that is in use or cannot be written
// ends start-up with a message, and that the sluice that uses it notices nothing.
func TestDataDirectory(t *testing.T) {
	t.Parallel()
	server := servers.MariaDB(t)
	running := servers.StartSluice(t, server)
	working := startHealthy(t, server, running)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for dir, want := range map[string]string{
		running.DataDir: "in use",
		file:            "not a directory",
		"/proc/sluice":  "no such file",
	} {
		status, output := servers.RunSluice(t, "serve", "--backend", server.BackendURL(),
			"--listen", "127.0.0.1:0", "--data-dir", dir)
		require.Equal(t, 1, status, output)
		require.Contains(t, output, want)
		require.Contains(t, output, dir)
	}
	working.check(t, server, running)
}

// TestConfigMistakes holds that all mistakes are reported at once, with lines
// and suggestions, and that nothing is started.
func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sluice.yaml")
	require.NoError(t, os.WriteFile(path, []byte("listen: 127.0.0.1:0\nwindow:\n  dealy: 1s\nmemory:\n  max: 12XB\nprofile: loadr\n"), 0o600))
	status, output := servers.RunSluice(t, "serve", "--config", path)
	require.NotZero(t, status)
	for _, want := range []string{
		path + ":3: ", "window.dealy", "window.delay",
		path + ":5: ", "memory.max", "12XB",
		path + ":6: ", "loadr",
	} {
		require.Contains(t, output, want)
	}
	require.NotContains(t, output, "listening")
}
