package regress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/stage"
)

// deadlock has x, in a transaction, lose a deadlock.
func deadlock(x *stage.Client) {
	x.Helper()
	other := x.Direct("root")
	defer other.Close()
	// The server rolls back who has written less.
	other.Exec("BEGIN", "UPDATE u SET n = n + 1 WHERE id > 2", "UPDATE u SET n = n + 1 WHERE id = 2")
	x.Exec("UPDATE u SET n = n + 1 WHERE id = 1")
	lost := make(chan error, 1)
	go func() {
		_, err := x.Try("UPDATE u SET n = n + 1 WHERE id = 2")
		lost <- err
	}()
	awaitLockWait(x, other)
	other.Exec("UPDATE u SET n = n + 1 WHERE id = 1", "COMMIT")
	require.EqualValues(x, 1213, stage.Errno(<-lost))
}

// awaitLockWait waits until somebody waits for a lock, as other sees it.
func awaitLockWait(x, other *stage.Client) {
	x.Helper()
	for range 60 {
		if other.Value("SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'") != "0" {
			return
		}
		time.Sleep(200 * time.Millisecond) // InnoDB shows what it knew at the last look, unless that was 100 ms ago
	}
	x.Fatal("nobody waits for a lock: " + other.Value("SELECT GROUP_CONCAT(CONCAT_WS(' ', ID, STATE, INFO) SEPARATOR ';') FROM information_schema.PROCESSLIST") +
		other.Value("SELECT GROUP_CONCAT(CONCAT_WS(' ', trx_mysql_thread_id, trx_state, trx_query) SEPARATOR ';') FROM information_schema.INNODB_TRX"))
}

// A deadlock ends the transaction, and its error does not say so: rows that were held
// for it were lost when the client went away.
func TestInsertsAfterADeadlock(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))", "CREATE TABLE u (id INT PRIMARY KEY, n INT)",
			"INSERT INTO u VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)")
		x := c.Through("app")
		x.Warm("INSERT INTO t VALUES (%d, 'x')")
		x.Exec("BEGIN")
		x.Warm("INSERT INTO t VALUES (%d, 'x')")
		x.Exec("COMMIT", "BEGIN")
		deadlock(x)
		for i := range 20 {
			x.Exec(fmt.Sprintf("INSERT INTO t VALUES (%d, 'after')", 1000+i))
		}
		x.Close()
		y := c.Through("app")
		require.Equal(c, "20", y.Value("SELECT COUNT(*) FROM t WHERE b = 'after'"))
	})
}

// The flush of held rows itself loses a deadlock.
func TestInsertsAfterADeadlockOfTheFlush(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))", "CREATE TABLE u (id INT PRIMARY KEY, n INT)",
			"INSERT INTO u VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)")
		x := c.Through("app")
		x.Warm("INSERT INTO t VALUES (%d, 'x')")
		x.Exec("BEGIN", "UPDATE u SET n = n + 1 WHERE id = 1")
		x.Warm("INSERT INTO t VALUES (%d, 'x')")
		other := c.Direct("root")
		other.Exec("BEGIN", "UPDATE u SET n = n + 1 WHERE id > 1", "INSERT INTO t VALUES (500, 'other')")
		x.Holds("INSERT INTO t VALUES (500, 'lost')")
		lost := make(chan error, 1)
		go func() {
			_, err := x.Try("COMMIT")
			lost <- err
		}()
		awaitLockWait(x, other)
		other.Exec("UPDATE u SET n = n + 1 WHERE id = 1", "COMMIT")
		err := <-lost
		require.EqualValues(c, 1213, stage.Errno(err), "%v", err)
		x.Holds("INSERT INTO t VALUES (1000, 'after')", "INSERT INTO t VALUES (1001, 'after')")
		x.Close()
		require.Equal(c, "2", c.Through("app").Value("SELECT COUNT(*) FROM t WHERE b = 'after'"))
	})
}

// Held rows a little too large for one statement were inserted in two without a
// savepoint; when the second failed, the first was inserted again.
func TestFailureInTheSecondStatement(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(80))", "INSERT INTO t VALUES (999999, 'there')")
		x := c.Through("app")
		x.Warm("INSERT INTO t VALUES (%d, 'x')")
		x.Exec("BEGIN")
		const rows = 100
		for i := range rows { // 40 bytes each: 4,000 of 4,096, and with commas and head more
			x.Exec(fmt.Sprintf("INSERT INTO t VALUES (%06d, '%s')", 1000+i, strings.Repeat("x", 28)))
		}
		x.Exec("INSERT INTO t VALUES (999999, 'twice')")
		_, err := x.Try("COMMIT")
		require.EqualValues(c, 1062, stage.Errno(err), "%v", err)
		require.Contains(c, err.Error(), "999999")
	}, "--statement-bytes", "4KiB")
}

// With on_error: error a failing row of a transaction went to the reject log all the
// same, and COMMIT succeeded, when DDL had been seen after it was held.
func TestFailureAfterDDLElsewhere(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (500, 0)", "CREATE TABLE u (a INT PRIMARY KEY, b INT)")
		x, ddl := c.Through("app"), c.Through("app")
		x.Warm("INSERT INTO t VALUES (%d, 0)")
		x.Exec("BEGIN")
		x.Warm("INSERT INTO t VALUES (%d, 0)")
		x.Holds("INSERT INTO t VALUES (500, 1)")
		ddl.Exec("CREATE TABLE w (a INT)")
		_, err := x.Try("INSERT INTO u VALUES (1, 1)")
		if err == nil {
			_, err = x.Try("COMMIT")
		}
		require.EqualValues(c, 1062, stage.Errno(err), "%v", err)
		require.Zero(c, c.Metric(stage.Rejects))
	})
}
