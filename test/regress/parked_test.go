package regress

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/stage"
)

const parkedDeadline = 20 * time.Second

func query(text []byte) rawclient.Command {
	return rawclient.Simple(rawclient.ComQuery, rawclient.QueryReply, text...)
}

// parked opens a connection through sluice and has it served by the event loop.
func parked(c *stage.Stage) *rawclient.Client {
	c.Helper()
	before := parkedSessions(c)
	x, err := rawclient.Dial(c.Sluice.Addr, rawclient.Options{User: "app", Password: "app", Schema: c.Schema})
	require.NoError(c, err)
	c.Cleanup(func() { _ = x.Close() })
	for range 24 {
		_, err := x.Do(rawclient.Simple(rawclient.ComPing, rawclient.OneReply))
		require.NoError(c, err)
	}
	require.Eventually(c, func() bool { return parkedSessions(c) > before }, parkedDeadline, 10*time.Millisecond, "not parked")
	return x
}

// parkedSessions counts the goroutines that sleep while the event loop serves their session.
func parkedSessions(c *stage.Stage) int {
	c.Helper()
	r, err := http.Get(c.Sluice.HTTP + "/debug/pprof/goroutine?debug=2")
	require.NoError(c, err)
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	require.NoError(c, err)
	return strings.Count(string(text), "proxy.(*session).park(")
}

// TestParkedPipeline: several commands in one piece, and more of them than fit a buffer.
func TestParkedPipeline(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		for _, n := range []int{2, 50, 2000} {
			x := parked(c)
			var commands []rawclient.Command
			for i := range n {
				commands = append(commands, query(fmt.Appendf(nil, "SELECT %d", 1_000_000+i)))
			}
			require.NoError(c, x.Send(commands...))
			for i, command := range commands {
				reply, err := x.Receive(command)
				require.NoError(c, err)
				require.Contains(c, reply.String(), fmt.Sprint(1_000_000+i))
			}
		}
	})
}

// TestParkedSlowReader: a client that does not take its replies holds up nobody else,
// and gets all of them in the end.
func TestParkedSlowReader(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		const n = 4000
		slow := parked(c)
		command := query([]byte("SELECT REPEAT('y', 3000)"))
		sent := make(chan error, 1)
		go func() {
			for range n {
				if err := slow.Send(command); err != nil {
					sent <- err
					return
				}
			}
			sent <- nil
		}()
		for range 8 { // on both loops
			other := parked(c)
			for range 50 {
				_, err := other.Do(query([]byte("SELECT 1")))
				require.NoError(c, err)
			}
		}
		for range n {
			reply, err := slow.Receive(command)
			require.NoError(c, err)
			require.Contains(c, reply.String(), "ROW 3003 bytes")
		}
		require.NoError(c, <-sent)
	})
}

// TestParkedReplies: replies that do not fit the loop's buffers, and small ones after them.
func TestParkedReplies(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		x := parked(c)
		for _, size := range []int{1, 8000, 8100, 8192, 8300, 100_000, 20 << 20, 5} {
			if size > 1<<20 {
				c.Direct("root").Exec("SET GLOBAL max_allowed_packet = 64 << 20")
			}
			reply, err := x.Do(query(fmt.Appendf(nil, "SELECT LENGTH('%s'), REPEAT('z', %d) = 'z'", strings.Repeat("q", min(size, 9000)), min(size, 1000))))
			require.NoError(c, err)
			require.False(c, reply.Failed(), "%s", reply)
			require.Contains(c, reply.String(), fmt.Sprint(min(size, 9000)))
			reply, err = x.Do(query(fmt.Appendf(nil, "SELECT REPEAT('z', %d)", min(size, 1<<20))))
			require.NoError(c, err)
			require.False(c, reply.Failed(), "%s", reply)
			for range 30 {
				_, err = x.Do(query([]byte("DO 1")))
				require.NoError(c, err)
			}
		}
	})
}

// TestParkedKilled: a parked session whose server connection ends, ends too.
func TestParkedKilled(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		x := parked(c)
		c.Direct("root").Exec(fmt.Sprintf("KILL %d", x.Greeting.ThreadID))
		require.Eventually(c, func() bool { return parkedSessions(c) == 0 }, parkedDeadline, 10*time.Millisecond)
		reply, err := x.Do(query([]byte("SELECT 1")))
		require.NoError(c, err)
		require.NotContains(c, reply.String(), "ROW")
	})
}

// TestParkedGone: a client that goes away takes its session along.
func TestParkedGone(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		x := parked(c)
		require.NoError(c, x.Close())
		require.Eventually(c, func() bool { return c.Metric("sluice_sessions") == 0 }, parkedDeadline, 10*time.Millisecond)
	})
}

// TestParkedDrain: SIGTERM ends parked sessions: idle ones at once, the others after
// their reply.
func TestParkedDrain(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		idle, busy := parked(c), parked(c)
		command := query([]byte("SELECT SLEEP(1), 'slept'"))
		require.NoError(c, busy.Send(command))
		time.Sleep(200 * time.Millisecond)
		c.Sluice.Signal(c, syscall.SIGTERM)
		reply, err := busy.Receive(command)
		require.NoError(c, err)
		require.Contains(c, reply.String(), "slept")
		reply, err = idle.Do(query([]byte("SELECT 'still there'")))
		require.NoError(c, err)
		require.NotContains(c, reply.String(), "ROW")
		c.Sluice.AwaitExit(c)
	})
}

// TestParkedLoader: a session that begins to load is batched, and reads what it wrote.
func TestParkedLoader(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE a (x INT PRIMARY KEY)")
		x := parked(c)
		for i := range 100 {
			reply, err := x.Do(query(fmt.Appendf(nil, "INSERT INTO a VALUES (%d)", i)))
			require.NoError(c, err)
			require.False(c, reply.Failed(), "%s", reply)
		}
		require.Greater(c, c.Metric(stage.Batched), 50)
		reply, err := x.Do(query([]byte("SELECT COUNT(*) FROM a")))
		require.NoError(c, err)
		require.Contains(c, reply.String(), "100")
	})
}

// TestParkedUnansweredCommands: the server reads none of many commands that have no reply.
// That holds up their session, but neither the event loop nor the drain.
func TestParkedUnansweredCommands(t *testing.T) {
	stage.EachFresh(t, func(c *stage.Stage) {
		sending := []*rawclient.Client{parked(c), parked(c), parked(c), parked(c)} // on every loop
		for _, x := range sending {
			_, err := x.Do(rawclient.Prepare([]byte("SELECT LENGTH(?)")))
			require.NoError(c, err)
			for range 40 {
				_, err := x.Do(rawclient.Simple(rawclient.ComPing, rawclient.OneReply))
				require.NoError(c, err)
			}
		}
		idle := parked(c)
		c.Server.Pause(c)
		defer c.Server.Resume(c)
		for _, x := range sending {
			id := x.PreparedID()
			go func() {
				for range 10_000 { // ends when sluice does
					if x.Send(rawclient.LongData(id, 0, make([]byte, 3900))) != nil {
						return
					}
				}
			}()
		}
		time.Sleep(2 * time.Second) // the sockets fill
		c.Sluice.Signal(c, syscall.SIGTERM)
		reply, err := idle.Do(rawclient.Simple(rawclient.ComQuit, rawclient.ClosedReply))
		require.NoError(c, err, "%s", reply)
		c.Sluice.AwaitExit(c)
	}, "--drain-timeout", "2s")
}
