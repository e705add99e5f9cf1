package regress

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// An error packet has no status flags. A session whose last reply was one did not know
// that a transaction had been opened, or ended, by the statement that failed.

func count(x *stage.Client) int {
	x.Helper()
	n, err := strconv.Atoi(x.Value("SELECT COUNT(*) FROM a"))
	require.NoError(x, err)
	return n
}

// TestDoubtLocksHeld: the failed statement has left a transaction open, with locks; a read
// waited for rows that waited for them.
func TestDoubtLocksHeld(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE a (x INT PRIMARY KEY)",
			"CREATE PROCEDURE p() BEGIN START TRANSACTION; SELECT COUNT(*) INTO @n FROM a FOR UPDATE; SIGNAL SQLSTATE '45000'; END")
		w, x := c.Through("app"), c.Through("app")
		w.Warm("INSERT INTO a VALUES (%d)")
		c.Flush()
		before := c.Count("a")
		x.Fails(1644, "CALL p()")
		w.Holds("INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)")
		require.Equal(c, before, count(x))
		x.Exec("ROLLBACK")
		require.Equal(c, before+2, count(x))
	})
}

// TestDoubtRolledBack: the failed statement has ended the transaction; a read that was
// taken for part of it did not see what others had been told was stored.
func TestDoubtRolledBack(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE a (x INT PRIMARY KEY)", "CREATE TABLE d (x INT PRIMARY KEY, n INT)",
			"INSERT INTO d VALUES (1, 0), (2, 0)")
		w := c.Through("app")
		w.Warm("INSERT INTO a VALUES (%d)")
		c.Flush()
		before := c.Count("a")
		sides := []*stage.Client{c.Through("app"), c.Through("app")}
		for i, x := range sides {
			x.Exec("BEGIN", []string{"UPDATE d SET n = 1 WHERE x = 1", "UPDATE d SET n = 1 WHERE x = 2"}[i])
		}
		first := make(chan error, 1)
		go func() {
			_, err := sides[0].Try("UPDATE d SET n = 2 WHERE x = 2")
			first <- err
		}()
		_, err := sides[1].Try("UPDATE d SET n = 2 WHERE x = 1")
		victim := sides[1]
		if other := <-first; err == nil {
			victim, err = sides[0], other
		}
		var said *mysql.MySQLError
		require.True(c, errors.As(err, &said), "no deadlock: %v", err)
		require.EqualValues(c, 1213, said.Number)
		w.Holds("INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)")
		require.Equal(c, before+2, count(victim))
	})
}

// TestDoubtChangeUser: MariaDB keeps a connection whose COM_CHANGE_USER it has denied, and
// has rolled its transaction back.
func TestDoubtChangeUser(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		if c.Server.Kind != servers.KindMariaDB {
			return // MySQL closes it
		}
		c.Direct("root").Exec("CREATE TABLE a (x INT PRIMARY KEY)")
		w := c.Through("app")
		w.Warm("INSERT INTO a VALUES (%d)")
		c.Flush()
		x, err := rawclient.Dial(c.Sluice.Addr, rawclient.Options{User: "app", Password: "app", Schema: c.Schema})
		require.NoError(c, err)
		defer func() { _ = x.Close() }()
		for _, statement := range []string{"BEGIN", "SELECT 1"} {
			_, err := x.Do(x.Query([]byte(statement)))
			require.NoError(c, err)
		}
		reply, err := x.Do(x.ChangeUser("app", "wrong", c.Schema))
		require.NoError(c, err)
		require.True(c, reply.Failed())
		w.Holds("INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)")
		pending := c.Metric(stage.Pending)
		require.Equal(c, 2, pending)
		_, err = x.Do(x.Query([]byte("SELECT COUNT(*) FROM a")))
		require.NoError(c, err)
		require.Zero(c, c.Metric(stage.Pending), "not flushed")
	})
}

// TestWaitForNobody: a session that waits for pending rows ends when its client goes.
func TestWaitForNobody(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		lock := c.Direct("root")
		lock.Exec("CREATE TABLE a (x INT PRIMARY KEY)")
		w, x := c.Through("app"), c.Through("app")
		w.Warm("INSERT INTO a VALUES (%d)")
		c.Flush()
		w.Holds("INSERT INTO a VALUES (-1)")
		lock.Exec("BEGIN", "SELECT COUNT(*) FROM a FOR UPDATE")
		sessions := c.Metric("sluice_sessions")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := x.Conn.ExecContext(ctx, "SELECT COUNT(*) FROM a") // the driver closes the connection
		require.ErrorIs(c, err, context.DeadlineExceeded)
		require.Eventually(c, func() bool { return c.Metric("sluice_sessions") < sessions }, parkedDeadline, 50*time.Millisecond)
		lock.Exec("ROLLBACK")
	})
}
