package regress

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

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
