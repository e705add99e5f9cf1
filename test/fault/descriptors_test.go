package fault

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// leave sets sluice's limit of file descriptors so that n more can be opened. The limit is
// one of their numbers.
func leave(t *testing.T, sluice *servers.Sluice, n int) {
	t.Helper()
	open := descriptorsOf(t, sluice)
	limit := 0
	for ; n > 0 || open[limit]; limit++ {
		if !open[limit] {
			n--
		}
	}
	limitTo(t, sluice, uint64(limit))
}

func limitTo(t *testing.T, sluice *servers.Sluice, limit uint64) {
	t.Helper()
	var now unix.Rlimit
	require.NoError(t, unix.Prlimit(sluice.PID, unix.RLIMIT_NOFILE, nil, &now))
	now.Cur = limit
	require.NoError(t, unix.Prlimit(sluice.PID, unix.RLIMIT_NOFILE, &now, nil))
}

// occupy opens connections to sluice's HTTP side, which are kept for a minute, until sluice
// has n descriptors open.
func occupy(t *testing.T, sluice *servers.Sluice, n int) {
	t.Helper()
	for len(descriptorsOf(t, sluice)) < n {
		conn := connect(t, strings.TrimPrefix(sluice.HTTP, "http://"))
		_, err := conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: sluice\r\n\r\n"))
		require.NoError(t, err)
		_, err = conn.Read(make([]byte, 1))
		require.NoError(t, err)
	}
}

// refused connects and returns what the client is told in place of a greeting, or what else
// happens.
func refused(t *testing.T, sluice *servers.Sluice) string {
	t.Helper()
	conn := connect(t, sluice.Addr)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(2*time.Second)))
	var p [256]byte
	n, err := conn.Read(p[:])
	switch {
	case err != nil:
		return err.Error()
	case n < 7 || p[4] != 0xff:
		return "no error"
	}
	return string(p[7:n])
}

// TestNoDescriptors: where file descriptors run out clients are told so, or wait until they
// are accepted; sessions that are there go on, and the log does not fill.
func TestNoDescriptors(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		var before unix.Rlimit
		require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
		sluice := servers.StartSluice(t, server)
		working := startHealthy(t, server, sluice)
		require.NoError(t, visit(sluice.Addr))
		// The service account has the connections that it needs for one session.
		require.Eventually(t, func() bool { return working.served.Load() > 200 }, rawclient.Deadline, 10*time.Millisecond)

		// Sessions leave some for the journal and the service account.
		limitTo(t, sluice, 50) // (50-32)/2
		for range 8 {
			t.Cleanup(func(c *rawclient.Client) func() { return func() { _ = c.Close() } }(login(t, sluice.Addr)))
		}
		for range 100 {
			require.Equal(t, "sluice: too many connections (9 sessions take what sluice may have of file descriptors: raise ulimit -n)", refused(t, sluice))
		}

		// One is left for the client, none for its server. Sluice opens and closes some by itself.
		limitTo(t, sluice, 150)
		occupy(t, sluice, 80)
		require.Eventually(t, func() bool {
			leave(t, sluice, 1)
			return refused(t, sluice) == "sluice: too many connections (no file descriptor is left for one to the server: raise ulimit -n)"
		}, rawclient.Deadline, 10*time.Millisecond)

		// None is left.
		var waiting []net.Conn
		require.Eventually(t, func() bool {
			leave(t, sluice, 0)
			waiting = append(waiting, connect(t, sluice.Addr))
			return strings.Contains(sluice.Log(1000), "accept failed")
		}, rawclient.Deadline, 10*time.Millisecond)
		time.Sleep(long(2*time.Second, 20*time.Second))
		served := working.served.Load()
		require.Eventually(t, func() bool { return working.served.Load() > served+10 }, rawclient.Deadline, 10*time.Millisecond, "a session that is there goes on")

		limitTo(t, sluice, before.Cur)
		for _, conn := range waiting {
			require.NoError(t, conn.SetDeadline(time.Now().Add(rawclient.Deadline)))
			_, _, err := skipPacket(conn)
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		}
		require.NoError(t, visit(sluice.Addr))
		require.LessOrEqual(t, strings.Count(sluice.Log(10_000), "descriptor"), 30, "lines of log")
		require.LessOrEqual(t, strings.Count(sluice.Log(10_000), "accept failed"), 30, "lines of log")
		working.check(t, server, sluice)
	})
}
