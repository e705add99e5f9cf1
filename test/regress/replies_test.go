package regress

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/stage"
)

// ROW_COUNT() after a held row that depends on the time.
func TestRowCountOfATimedRow(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE t (a INT PRIMARY KEY, at DATETIME DEFAULT CURRENT_TIMESTAMP)")
		x := c.Through("app")
		x.Warm("INSERT INTO t (a) VALUES (%d)")
		x.Exec("BEGIN")
		x.Warm("INSERT INTO t (a) VALUES (%d)")
		require.Equal(c, "1", x.Value("SELECT ROW_COUNT()"))
		x.Warm("INSERT INTO t (a) VALUES (%d)")
		require.Equal(c, "0", x.Value("SELECT @@warning_count"))
		x.Exec("COMMIT")
		require.Equal(c, "0", x.Value("SELECT COUNT(*) FROM t WHERE at < NOW() - INTERVAL 1 MINUTE OR at > NOW()"))
	})
}

// What a SELECT left in FOUND_ROWS() is still there after batched inserts, and a
// prepared statement sees what a batched insert left behind.
func TestTracesOfBatchedInserts(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE t (a INT PRIMARY KEY)", "CREATE TABLE u (a INT PRIMARY KEY)", "INSERT INTO u VALUES (1), (2), (3)")
		x := c.Through("app")
		counts, err := x.Conn.PrepareContext(context.Background(), "SELECT ROW_COUNT()")
		require.NoError(c, err)
		x.Warm("INSERT INTO t VALUES (%d)")
		x.Exec("SELECT * FROM u")
		x.Warm("INSERT INTO t VALUES (%d)")
		require.Equal(c, "3", x.Value("SELECT FOUND_ROWS()"))
		x.Warm("INSERT INTO t VALUES (%d)")
		var n int
		require.NoError(c, counts.QueryRow().Scan(&n))
		require.Equal(c, 1, n)
		x.Exec("BEGIN")
		x.Warm("INSERT INTO t VALUES (%d)")
		for i := range 3 {
			x.Exec(fmt.Sprintf("INSERT INTO t VALUES (%d)", 400+i))
		}
		require.NoError(c, counts.QueryRow().Scan(&n))
		require.Equal(c, 1, n)
		x.Exec("COMMIT")
	})
}
