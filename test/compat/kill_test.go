package compat

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// eager is a sluice that batches from the first insert on and keeps rows until somebody
// asks for them.
func eager(t *testing.T, server *servers.Server, args ...string) *servers.Sluice {
	t.Helper()
	return servers.StartSluice(t, server, append([]string{"--burst", "1", "--window-delay", "1h", "--window-max-delay", "1h"}, args...)...)
}

// table makes a schema of its own with the table t (a INT PRIMARY KEY, s LONGTEXT).
func table(t *testing.T, server *servers.Server, schema string) {
	t.Helper()
	server.Exec(t, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema,
		"CREATE TABLE "+schema+".t (a INT PRIMARY KEY, s LONGTEXT)")
}

// do runs statements that must succeed.
func do(t *testing.T, c *rawclient.Client, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		reply, err := c.Do(c.Query([]byte(sql)))
		require.NoError(t, err, "%.100s", sql)
		require.False(t, reply.Failed(), "%.100s: %s", sql, reply)
	}
}

// ordinary sends 50 inserts, one row each.
func ordinary(t *testing.T, c *rawclient.Client, first int) {
	t.Helper()
	for i := range 50 {
		do(t, c, fmt.Sprintf("INSERT INTO t VALUES (%d, 'ordinary')", first+i))
	}
}

func count(t *testing.T, server *servers.Server, query string) int {
	t.Helper()
	var n int
	require.NoError(t, server.Open(t).QueryRow(query).Scan(&n), query)
	return n
}

// awaitLockWait waits until a thread waits for a row lock: this one, or another one.
func awaitLockWait(t *testing.T, server *servers.Server, id uint32, same bool) (thread uint32) {
	t.Helper()
	db := server.Open(t)
	require.Eventually(t, func() bool {
		err := db.QueryRow("SELECT trx_mysql_thread_id FROM information_schema.INNODB_TRX"+
			" WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE '%kill%' AND (trx_mysql_thread_id = ?) = ?", id, same).Scan(&thread)
		return err == nil
	}, rawclient.Deadline, 150*time.Millisecond) // InnoDB shows what it saw at the last look, unless that was 100 ms ago
	return thread
}

// TestF067 compares a session's thread id wherever it is shown, and kills what a session
// does: a statement of its own, and a flush of rows that it was told are accepted.
func TestF067(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		schema := "test_f067_kill"
		table(t, server, schema)
		sluice := eager(t, server)
		connect := func(addr string) *rawclient.Client {
			c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: schema})
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		root := server.Open(t)
		c := connect(sluice.Addr)
		ordinary(t, c, 1)
		for _, sql := range []string{"SELECT CONNECTION_ID()", "SELECT /*x*/ connection_id() AS my_connection_id"} {
			reply, err := c.Do(c.Query([]byte(sql)))
			require.NoError(t, err)
			require.Contains(t, reply.String(), "ROW own thread id", sql)
		}
		for range 200 {
			_, err := root.Exec(fmt.Sprintf("KILL QUERY %d", c.Greeting.ThreadID))
			require.NoError(t, err)
		}
		_, err := c.Do(c.Query([]byte("SELECT 1"))) // a kill of nothing may hit the next statement
		require.NoError(t, err)
		ordinary(t, c, 100)

		locker, err := root.Conn(t.Context())
		require.NoError(t, err)
		lock := func(statements ...string) {
			for _, sql := range statements {
				_, err := locker.ExecContext(t.Context(), sql)
				require.NoError(t, err)
			}
		}
		insert := fmt.Sprintf("INSERT INTO %s.t VALUES (1000, 'locked')", schema)
		for _, kill := range []string{"KILL QUERY", "KILL"} {
			// A flush of held rows: COMMIT gets the error, and nothing of the transaction stays.
			x := connect(sluice.Addr)
			do(t, x, "BEGIN")
			ordinary(t, x, 2000)
			lock("BEGIN", insert)
			do(t, x, "INSERT INTO t VALUES (1000, 'to be killed')")
			commit := x.Query([]byte("COMMIT"))
			require.NoError(t, x.Send(commit))
			thread := awaitLockWait(t, server, x.Greeting.ThreadID, true)
			_, err := root.Exec(fmt.Sprintf("%s %d", kill, thread))
			require.NoError(t, err)
			reply, err := x.Receive(commit)
			require.NoError(t, err)
			require.True(t, reply.Failed(), "%s: %s", kill, reply)
			if kill == "KILL QUERY" {
				require.Contains(t, reply.String(), "ERR 1317 70100")
				ordinary(t, x, 3000)
			}
			lock("ROLLBACK")
			require.Zero(t, count(t, server, "SELECT COUNT(*) FROM "+schema+".t WHERE a BETWEEN 1000 AND 2999"), kill)

			// A flush of the journal: the rows were accepted for good, so they are tried again.
			y := connect(sluice.Addr)
			lock("BEGIN", insert)
			ordinary(t, y, 4000)
			do(t, y, "INSERT INTO t VALUES (1000, 'to be killed')")
			query := y.Query([]byte("SELECT COUNT(*) FROM t WHERE a BETWEEN 4000 AND 4999 OR a = 1000"))
			require.NoError(t, y.Send(query))
			thread = awaitLockWait(t, server, x.Greeting.ThreadID, false)
			require.NotEqual(t, y.Greeting.ThreadID, thread)
			_, err = root.Exec(fmt.Sprintf("%s %d", kill, thread))
			require.NoError(t, err)
			lock("ROLLBACK")
			reply, err = y.Receive(query)
			require.NoError(t, err)
			require.Contains(t, reply.String(), `ROW "\x0251"`, kill)
			do(t, y, "DELETE FROM t WHERE a >= 1000")
		}
		require.Zero(t, int(sluice.Metrics(t)[rejectsMetric]))
	})
}

// TestF068 has a session end by wait_timeout: its accepted rows are there before, what the
// server says at its end is passed on, and rows that were held for a transaction are gone
// with it, as directly.
func TestF068(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.StartSluice(t, server, "--burst", "1")
		// idle returns what came unasked, up to the end of the connection.
		idle := func(t *testing.T, addr, schema, begin string) []byte {
			table(t, server, schema)
			c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: schema})
			require.NoError(t, err)
			defer func() { _ = c.Close() }()
			do(t, c, "SET SESSION wait_timeout = 2")
			if begin != "" {
				do(t, c, begin)
			}
			ordinary(t, c, 1)
			if begin == "" {
				require.Eventually(t, func() bool {
					return count(t, server, "SELECT COUNT(*) FROM "+schema+".t") == 50
				}, rawclient.Deadline, 50*time.Millisecond)
			}
			require.NoError(t, c.Conn().SetReadDeadline(time.Now().Add(rawclient.Deadline)))
			words := make([]byte, 1000)
			n := 0
			for err == nil {
				var k int
				k, err = c.Conn().Read(words[n:])
				n += k
			}
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			want := map[string]int{"": 50}[begin]
			require.Equal(t, want, count(t, server, "SELECT COUNT(*) FROM "+schema+".t"), "%s: rows", addr)
			return words[:n]
		}
		for mode, begin := range []string{"", "BEGIN", "SET autocommit=0"} {
			t.Run(fmt.Sprintf("%q", begin), func(t *testing.T) {
				t.Parallel()
				direct := idle(t, server.Addr, fmt.Sprintf("test_f068_direct%d", mode), begin)
				require.Equal(t, direct, idle(t, sluice.Addr, fmt.Sprintf("test_f068_%d", mode), begin))
				if server.Kind == servers.KindMySQL {
					require.Contains(t, string(direct), "\xff\xbf\x0f#HY000", "error 4031")
				}
			})
		}
		// A client that goes on inserting is not idle, though the server sees nothing of it.
		t.Run("busy", func(t *testing.T) {
			t.Parallel()
			table(t, server, "test_f068_busy")
			settings := []string{"SET SESSION wait_timeout = 1"}
			if server.Kind == servers.KindMariaDB {
				settings = append(settings, "SET SESSION wait_timeout = 28800, idle_transaction_timeout = 1")
			}
			for i, setting := range settings {
				c, err := rawclient.Dial(sluice.Addr, rawclient.Options{User: "app", Password: "app", Schema: "test_f068_busy"})
				require.NoError(t, err)
				defer func() { _ = c.Close() }()
				do(t, c, setting, "BEGIN")
				for k := range 10 {
					do(t, c, fmt.Sprintf("INSERT INTO t VALUES (%d, 'busy')", 100*i+k))
					time.Sleep(250 * time.Millisecond)
				}
				do(t, c, "COMMIT")
			}
			require.Equal(t, 10*len(settings), count(t, server, "SELECT COUNT(*) FROM test_f068_busy.t"))
		})
	})
}
