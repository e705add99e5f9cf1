package stream

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// mibEnv names the environment variable with the size of a stream.
const mibEnv = "SLUICE_STREAM_MIB"

// shortStream is the size without it, in MiB.
const shortStream = 256

func TestMain(m *testing.M) { servers.Main(m) }

// total is the size of a stream.
func total(t *testing.T) int {
	t.Helper()
	text := os.Getenv(mibEnv)
	if text == "" {
		return shortStream << 20
	}
	mib, err := strconv.Atoi(text)
	require.NoError(t, err, mibEnv)
	return mib << 20
}

// deadline ends a test that hangs, and judges nothing: a gigabyte takes seconds.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute+time.Duration(total(t)>>20)*time.Second/2)
	t.Cleanup(cancel)
	return ctx
}

// stage is a sluice whose idle memory is known.
func stage(t *testing.T, server *servers.Server) (*servers.Sluice, *memory) {
	t.Helper()
	digits(t, server)
	sluice := servers.StartSluice(t, server)
	require.NoError(t, sluice.Open(t, "test").Ping())
	return sluice, watch(t, sluice.PID)
}

func session(t *testing.T, ctx context.Context, sluice *servers.Sluice) *sql.Conn {
	t.Helper()
	conn, err := sluice.Open(t, "test").Conn(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestResult has a result pass with bounded memory: small rows, large ones, and
// rows that need several packets.
func TestResult(t *testing.T) {
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		ctx := deadline(t)
		sluice, memory := stage(t, server)
		conn := session(t, ctx, sluice)
		for _, size := range []int{1 << 10, 1 << 20, 33 << 20} {
			r := result{size: size, count: max(total(t)/3/size, 1)}
			r.start(t, ctx, conn)
			r.finish(t)
			memory.check(t, fmt.Sprintf("a result of %d rows of %d bytes", r.count, r.size))
		}
	})
}

// TestUpload has a LOAD DATA LOCAL pass with bounded memory.
func TestUpload(t *testing.T) {
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		ctx := deadline(t)
		sluice, memory := stage(t, server)
		conn := session(t, ctx, sluice)
		for _, size := range []int{4 << 10, 4 << 20} {
			u := upload{name: fmt.Sprintf("upload_%s_%d", server.Kind, size), size: size, lines: total(t) / 2 / size}
			server.Exec(t, fmt.Sprintf(createSink, u.name))
			require.NoError(t, u.run(ctx, conn))
			u.check(t, ctx, conn)
			memory.check(t, fmt.Sprintf("an upload of %d lines of %d bytes", u.lines, u.size))
		}
	})
}

// TestSlowReaders has sessions that stop reading in the middle of a result, and
// one that stops sending in the middle of a file. Another session goes on as if
// they were not there, memory stays bounded, and in the end they get all of it.
func TestSlowReaders(t *testing.T) {
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		ctx := deadline(t)
		sluice, memory := stage(t, server)

		const readers = 4
		slow := make([]result, readers)
		var ids []int
		for i := range slow {
			conn := session(t, ctx, sluice)
			ids = append(ids, connectionID(t, ctx, conn))
			slow[i] = result{size: 16 << 10, count: total(t) / readers / (16 << 10)}
			slow[i].start(t, ctx, conn)
		}
		sender := session(t, ctx, sluice)
		ids = append(ids, connectionID(t, ctx, sender))
		u := upload{name: "slow_" + string(server.Kind), size: 16 << 10, lines: 1024,
			stall: 512, stalled: make(chan struct{}), resume: make(chan struct{})}
		server.Exec(t, fmt.Sprintf(createSink, u.name))
		var sending sync.WaitGroup
		var sendErr error
		sending.Go(func() { sendErr = u.run(ctx, sender) })
		resume := sync.OnceFunc(func() { close(u.resume) })
		t.Cleanup(func() { resume(); sending.Wait() })
		select {
		case <-u.stalled:
		case <-ctx.Done():
			t.Fatal("the upload did not get to its middle")
		}

		other := session(t, ctx, sluice)
		const answers = 500
		for i := range answers {
			var one int
			require.NoError(t, other.QueryRowContext(ctx, "SELECT 1").Scan(&one), "answer %d", i)
		}
		// All that time the slow ones were in the middle of their statements.
		require.Equal(t, len(ids), busy(t, server, ids), "slow sessions that are not done")
		memory.check(t, fmt.Sprintf("%d slow readers and a slow sender", readers))

		resume()
		sending.Wait()
		require.NoError(t, sendErr)
		u.check(t, ctx, sender)
		for i := range slow {
			slow[i].finish(t)
		}
		memory.check(t, "slow readers that went on")
	})
}

func connectionID(t *testing.T, ctx context.Context, conn *sql.Conn) int {
	t.Helper()
	var id int
	require.NoError(t, conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id))
	return id
}

// busy counts the connections that are at a statement.
func busy(t *testing.T, server *servers.Server, ids []int) int {
	t.Helper()
	rows, err := server.Open(t).Query("SHOW PROCESSLIST")
	require.NoError(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	count := 0
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		require.NoError(t, rows.Scan(targets...))
		for _, id := range ids {
			if values[0].String == strconv.Itoa(id) && values[4].String == "Query" {
				count++
			}
		}
	}
	require.NoError(t, rows.Err())
	return count
}
