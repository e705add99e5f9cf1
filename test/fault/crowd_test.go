package fault

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestIdleSessions has 9,000 clients log in and do nothing: sluice stays within 1 GiB,
// each of them still works, and what they took is given back.
func TestIdleSessions(t *testing.T) {
	sluice := frontFake(t)
	before := usageOf(t, sluice)
	guests := enterAll(t, sluice.Addr, crowd(t, 9000))
	sluice.WaitFor(t, "sluice_sessions", float64(len(guests)), rawclient.Deadline)
	report(t, "plain", sluice, before, len(guests))
	staysWithin(t, sluice, 1024*mib)
	for i := 0; i < len(guests); i += 20 {
		require.NoError(t, guests[i].ping())
	}
	leaveAll(guests)
	settlesTo(t, sluice, before, 0)
}

// crowd is how many sessions of n are possible. This process has both ends of each, and
// sluice two descriptors.
func crowd(t *testing.T, n int) int {
	t.Helper()
	const others = 1000 // of tests beside this one
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	if most := int(limit.Cur-others) / 2; n > most { // the Go runtime has raised it to what is allowed
		t.Logf("%d file descriptors are for %d sessions, not %d", limit.Cur, most, n)
		n = most
	}
	if most := 2000; servers.Race && n > most {
		t.Logf("the race detector is for %d sessions, not %d", most, n)
		n = most
	}
	return n
}

// report logs what a session takes.
func report(t *testing.T, what string, sluice *servers.Sluice, before usage, n int) int {
	t.Helper()
	now := usageOf(t, sluice)
	each := (now.heap + now.stacks - before.heap - before.stacks) / n
	t.Logf("%d idle sessions, %s: %d bytes each; %d MiB resident", n, what, each, resident(t, sluice, "VmRSS")/mib)
	return each
}

// TestIdleLayers is the same, with fewer sessions, for TLS and compression, once the
// layers have been in use for long packets.
func TestIdleLayers(t *testing.T) {
	for name, c := range map[string]struct {
		options rawclient.Options
		n       int
	}{
		"TLS":          {rawclient.Options{TLS: &tls.Config{InsecureSkipVerify: true}}, long(150, 1000)},
		"zlib":         {rawclient.Options{Compression: rawclient.Compression{Algorithm: rawclient.Zlib}}, 100},
		"zstd":         {rawclient.Options{Compression: rawclient.Compression{Algorithm: rawclient.Zstd}}, 100},
		"TLS and zstd": {rawclient.Options{TLS: &tls.Config{InsecureSkipVerify: true}, Compression: rawclient.Compression{Algorithm: rawclient.Zstd}}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			sluice := frontFake(t)
			before := usageOf(t, sluice)
			clients := make([]*rawclient.Client, c.n)
			c.options.User, c.options.Plugin, c.options.Caps = "app", rawclient.NativePassword, rawclient.DefaultCaps&^rawclient.SessionTrack
			var group errgroup.Group
			group.SetLimit(16)
			for i := range clients {
				group.Go(func() (err error) {
					if clients[i], err = rawclient.Dial(sluice.Addr, c.options); err != nil {
						return err
					}
					return ask(clients[i], "DO '"+strings.Repeat("long ", 20_000)+"'")
				})
			}
			require.NoError(t, group.Wait())
			each := report(t, name, sluice, before, c.n)
			if !servers.Race {
				require.Less(t, each, 128<<10)
			}
			for _, client := range clients {
				require.NoError(t, ask(client, "DO 1"))
				require.NoError(t, client.Close())
			}
			settlesTo(t, sluice, before, 0)
		})
	}
}

// ask runs a statement that has to succeed.
func ask(c *rawclient.Client, sql string) error {
	reply, err := c.Do(c.Query([]byte(sql)))
	if err == nil && reply.Failed() {
		err = fmt.Errorf("%.40s: %s", sql, reply)
	}
	return err
}

// TestIdleAfterLoad: sessions that have held rows of a transaction, and sent and received
// long packets, keep none of the memory when they are idle.
func TestIdleAfterLoad(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		const n, rows = 16, 2000
		server.Exec(t, "DROP TABLE IF EXISTS test.loaded", "CREATE TABLE test.loaded (n INT PRIMARY KEY, v VARCHAR(300))")
		sluice := servers.StartSluice(t, server)
		require.NoError(t, visit(sluice.Addr))
		before := usageOf(t, sluice)
		for i := range n {
			c := login(t, sluice.Addr)
			t.Cleanup(func() { _ = c.Close() })
			commands := []rawclient.Command{c.Query([]byte("BEGIN"))}
			for k := range rows {
				commands = append(commands, c.Query(fmt.Appendf(nil, "INSERT INTO loaded VALUES (%d, '%s')", i*rows+k, strings.Repeat("x", 200))))
			}
			commands = append(commands, c.Query([]byte("COMMIT")))
			require.NoError(t, c.Send(commands...))
			for _, command := range commands {
				reply, err := c.Receive(command)
				require.NoError(t, err)
				require.False(t, reply.Failed(), "%s", reply)
			}
			require.NoError(t, ask(c, "SELECT REPEAT('x', 3000000)"))
			require.NoError(t, ask(c, "DO '"+strings.Repeat("y", 1_000_000)+"'"))
		}
		require.NotZero(t, sluice.Metric(t, "sluice_rows_out_total"))
		collect(t, sluice) // pools let go of their memory at the second collection
		each := report(t, "after a load", sluice, before, n)
		if !servers.Race {
			require.Less(t, each, 256<<10)
		}
	})
}
