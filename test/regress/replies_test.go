package regress

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// ROW_COUNT() after a held row that depends on the time.
func TestRowCountOfATimedRow(t *testing.T) {
	each(t, func(c *scene) {
		c.direct().exec("CREATE TABLE t (a INT PRIMARY KEY, at DATETIME DEFAULT CURRENT_TIMESTAMP)")
		x := c.through()
		x.warm("INSERT INTO t (a) VALUES (%d)", 1)
		x.exec("BEGIN")
		x.warm("INSERT INTO t (a) VALUES (%d)", 100)
		require.Equal(c, "1", x.value("SELECT ROW_COUNT()"))
		x.warm("INSERT INTO t (a) VALUES (%d)", 200)
		require.Equal(c, "0", x.value("SELECT @@warning_count"))
		x.exec("COMMIT")
		require.Equal(c, "0", x.value("SELECT COUNT(*) FROM t WHERE at < NOW() - INTERVAL 1 MINUTE OR at > NOW()"))
	})
}

// What a SELECT left in FOUND_ROWS() is still there after batched inserts, and a
// prepared statement sees what a batched insert left behind.
func TestTracesOfBatchedInserts(t *testing.T) {
	each(t, func(c *scene) {
		c.direct().exec("CREATE TABLE t (a INT PRIMARY KEY)", "CREATE TABLE u (a INT PRIMARY KEY)", "INSERT INTO u VALUES (1), (2), (3)")
		x := c.through()
		counts, err := x.conn.PrepareContext(context.Background(), "SELECT ROW_COUNT()")
		require.NoError(c, err)
		x.warm("INSERT INTO t VALUES (%d)", 1)
		x.exec("SELECT * FROM u")
		x.warm("INSERT INTO t VALUES (%d)", 100)
		require.Equal(c, "3", x.value("SELECT FOUND_ROWS()"))
		x.warm("INSERT INTO t VALUES (%d)", 200)
		var n int
		require.NoError(c, counts.QueryRow().Scan(&n))
		require.Equal(c, 1, n)
		x.exec("BEGIN")
		x.warm("INSERT INTO t VALUES (%d)", 300)
		for i := range 3 {
			x.exec(fmt.Sprintf("INSERT INTO t VALUES (%d)", 400+i))
		}
		require.NoError(c, counts.QueryRow().Scan(&n))
		require.Equal(c, 1, n)
		x.exec("COMMIT")
	})
}
