package regress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deadlock has x, in a transaction, lose a deadlock.
func (x *client) deadlock() {
	x.Helper()
	other := x.direct()
	defer other.close()
	// The server rolls back who has written less.
	other.exec("BEGIN", "UPDATE u SET n = n + 1 WHERE id > 2", "UPDATE u SET n = n + 1 WHERE id = 2")
	x.exec("UPDATE u SET n = n + 1 WHERE id = 1")
	lost := make(chan error, 1)
	go func() { lost <- x.try("UPDATE u SET n = n + 1 WHERE id = 2") }()
	x.awaitLockWait(other)
	other.exec("UPDATE u SET n = n + 1 WHERE id = 1", "COMMIT")
	require.EqualValues(x, 1213, number(<-lost))
}

// awaitLockWait waits until somebody waits for a lock, as other sees it.
func (x *client) awaitLockWait(other *client) {
	x.Helper()
	for range 60 {
		if other.value("SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'") != "0" {
			return
		}
		time.Sleep(200 * time.Millisecond) // InnoDB shows what it knew at the last look, unless that was 100 ms ago
	}
	x.Fatal("nobody waits for a lock: " + other.value("SELECT GROUP_CONCAT(CONCAT_WS(' ', ID, STATE, INFO) SEPARATOR ';') FROM information_schema.PROCESSLIST") +
		other.value("SELECT GROUP_CONCAT(CONCAT_WS(' ', trx_mysql_thread_id, trx_state, trx_query) SEPARATOR ';') FROM information_schema.INNODB_TRX"))
}

// A deadlock ends the transaction, and its error does not say so: rows that were held
// for it were lost when the client went away.
func TestInsertsAfterADeadlock(t *testing.T) {
	each(t, func(c *scene) {
		c.direct().exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))", "CREATE TABLE u (id INT PRIMARY KEY, n INT)",
			"INSERT INTO u VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)")
		x := c.through()
		x.warm("INSERT INTO t VALUES (%d, 'x')", 1)
		x.exec("BEGIN")
		x.warm("INSERT INTO t VALUES (%d, 'x')", 100)
		x.exec("COMMIT", "BEGIN")
		x.deadlock()
		for i := range 20 {
			x.exec(fmt.Sprintf("INSERT INTO t VALUES (%d, 'after')", 1000+i))
		}
		x.close()
		y := c.through()
		require.Equal(c, "20", y.value("SELECT COUNT(*) FROM t WHERE b = 'after'"))
	})
}

// The flush of held rows itself loses a deadlock.
func TestInsertsAfterADeadlockOfTheFlush(t *testing.T) {
	each(t, func(c *scene) {
		c.direct().exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))", "CREATE TABLE u (id INT PRIMARY KEY, n INT)",
			"INSERT INTO u VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)")
		x := c.through()
		x.warm("INSERT INTO t VALUES (%d, 'x')", 1)
		x.exec("BEGIN", "UPDATE u SET n = n + 1 WHERE id = 1")
		x.warm("INSERT INTO t VALUES (%d, 'x')", 100)
		other := c.direct()
		other.exec("BEGIN", "UPDATE u SET n = n + 1 WHERE id > 1", "INSERT INTO t VALUES (500, 'other')")
		x.holds("INSERT INTO t VALUES (500, 'lost')")
		lost := make(chan error, 1)
		go func() { lost <- x.try("COMMIT") }()
		x.awaitLockWait(other)
		other.exec("UPDATE u SET n = n + 1 WHERE id = 1", "COMMIT")
		err := <-lost
		require.EqualValues(c, 1213, number(err), "%v", err)
		x.holds("INSERT INTO t VALUES (1000, 'after')", "INSERT INTO t VALUES (1001, 'after')")
		x.close()
		require.Equal(c, "2", c.through().value("SELECT COUNT(*) FROM t WHERE b = 'after'"))
	})
}

// Held rows a little too large for one statement were inserted in two without a
// savepoint; when the second failed, the first was inserted again.
func TestFailureInTheSecondStatement(t *testing.T) {
	each(t, func(c *scene) {
		c.direct().exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(80))", "INSERT INTO t VALUES (999999, 'there')")
		x := c.through()
		x.warm("INSERT INTO t VALUES (%d, 'x')", 1)
		x.exec("BEGIN")
		const rows = 100
		for i := range rows { // 40 bytes each: 4,000 of 4,096, and with commas and head more
			x.exec(fmt.Sprintf("INSERT INTO t VALUES (%06d, '%s')", 1000+i, strings.Repeat("x", 28)))
		}
		x.exec("INSERT INTO t VALUES (999999, 'twice')")
		err := x.try("COMMIT")
		require.EqualValues(c, 1062, number(err), "%v", err)
		require.Contains(c, err.Error(), "999999")
	}, "--statement-bytes", "4KiB")
}

// With on_error: error a failing row of a transaction went to the reject log all the
// same, and COMMIT succeeded, when DDL had been seen after it was held.
func TestFailureAfterDDLElsewhere(t *testing.T) {
	each(t, func(c *scene) {
		c.direct().exec("CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (500, 0)", "CREATE TABLE u (a INT PRIMARY KEY, b INT)")
		x, ddl := c.through(), c.through()
		x.warm("INSERT INTO t VALUES (%d, 0)", 1)
		x.exec("BEGIN")
		x.warm("INSERT INTO t VALUES (%d, 0)", 100)
		x.holds("INSERT INTO t VALUES (500, 1)")
		ddl.exec("CREATE TABLE w (a INT)")
		err := x.try("INSERT INTO u VALUES (1, 1)")
		if err == nil {
			err = x.try("COMMIT")
		}
		require.EqualValues(c, 1062, number(err), "%v", err)
		require.Zero(c, c.metric("sluice_rejects_total"))
	})
}
