package regress

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// A session that took table locks in a way that was not seen waited for rows that
// waited for its locks.
func TestLocksTakenUnseen(t *testing.T) {
	each(t, func(c *scene) {
		c.direct().exec("CREATE TABLE t (a INT PRIMARY KEY)", "CREATE TABLE u (a INT PRIMARY KEY)")
		x := c.connect(c.sluice.DSN("app", "app", c.schema) + "&multiStatements=true")
		writer := c.through()
		writer.warm("INSERT INTO t VALUES (%d)", 1)
		x.exec("SELECT COUNT(*) FROM t")
		take := []func(){func() { x.exec("INSERT INTO u VALUES (1); LOCK TABLES t WRITE") }}
		if c.server.Kind == servers.KindMariaDB { // MySQL prepares no LOCK TABLES
			take = append(take, func() {
				s, err := x.conn.PrepareContext(context.Background(), "LOCK TABLES t WRITE")
				require.NoError(c, err)
				_, err = s.ExecContext(context.Background())
				require.NoError(c, err)
			})
		}
		for i, take := range take {
			take()
			writer.holds([]string{"INSERT INTO t VALUES (1001)", "INSERT INTO t VALUES (1002)"}[i])
			_ = x.value("SELECT COUNT(*) FROM t")
			x.exec("UNLOCK TABLES")
			require.Equal(c, "1", x.value([]string{"SELECT COUNT(*) FROM t WHERE a = 1001", "SELECT COUNT(*) FROM t WHERE a = 1002"}[i]))
		}
	})
}

// A table's name that has LOCK in it was taken for a lock.
func TestNamesLikeLocks(t *testing.T) {
	each(t, func(c *scene) {
		c.direct().exec("CREATE TABLE blocks (a INT PRIMARY KEY)", "CREATE TABLE exports (a INT PRIMARY KEY)")
		x, writer := c.through(), c.through()
		x.exec("WITH q AS (SELECT * FROM blocks) SELECT * FROM q", "WITH q AS (SELECT * FROM exports) SELECT * FROM q")
		writer.warm("INSERT INTO blocks VALUES (%d)", 1)
		writer.holds("INSERT INTO blocks VALUES (1000)")
		require.Equal(c, "1", x.value("SELECT COUNT(*) FROM blocks WHERE a = 1000"))
	})
}
