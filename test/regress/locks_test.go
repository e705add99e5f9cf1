package regress

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// A session that took table locks in a way that was not seen waited for rows that
// waited for its locks.
func TestLocksTakenUnseen(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE t (a INT PRIMARY KEY)", "CREATE TABLE u (a INT PRIMARY KEY)")
		x := c.Connect(c.Sluice.DSN("app", "app", c.Schema) + "&multiStatements=true")
		writer := c.Through("app")
		writer.Warm("INSERT INTO t VALUES (%d)")
		x.Exec("SELECT COUNT(*) FROM t")
		take := []func(){func() { x.Exec("INSERT INTO u VALUES (1); LOCK TABLES t WRITE") }}
		if c.Server.Kind == servers.KindMariaDB { // MySQL prepares no LOCK TABLES
			take = append(take, func() {
				s, err := x.Conn.PrepareContext(context.Background(), "LOCK TABLES t WRITE")
				require.NoError(c, err)
				_, err = s.ExecContext(context.Background())
				require.NoError(c, err)
			})
		}
		for i, take := range take {
			take()
			writer.Holds([]string{"INSERT INTO t VALUES (1001)", "INSERT INTO t VALUES (1002)"}[i])
			_ = x.Value("SELECT COUNT(*) FROM t")
			x.Exec("UNLOCK TABLES")
			require.Equal(c, "1", x.Value([]string{"SELECT COUNT(*) FROM t WHERE a = 1001", "SELECT COUNT(*) FROM t WHERE a = 1002"}[i]))
		}
	})
}

// A table's name that has LOCK in it was taken for a lock.
func TestNamesLikeLocks(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE blocks (a INT PRIMARY KEY)", "CREATE TABLE exports (a INT PRIMARY KEY)")
		x, writer := c.Through("app"), c.Through("app")
		x.Exec("WITH q AS (SELECT * FROM blocks) SELECT * FROM q", "WITH q AS (SELECT * FROM exports) SELECT * FROM q")
		writer.Warm("INSERT INTO blocks VALUES (%d)")
		writer.Holds("INSERT INTO blocks VALUES (1000)")
		require.Equal(c, "1", x.Value("SELECT COUNT(*) FROM blocks WHERE a = 1000"))
	})
}
