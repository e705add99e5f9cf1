package regress

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/stage"
)

// TestBystanders: a session that inserts nothing flushes the tables that its statements
// name, and no others; it used to flush all, since its settings were not known.
func TestBystanders(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Root("CREATE TABLE a (x INT PRIMARY KEY)", "CREATE TABLE b (x INT PRIMARY KEY)")
		c.Start("--backend", c.BackendURL(c.Service("SHOW VIEW ON `test%`.*", "PROCESS, REFERENCES ON *.*")))
		loader, other := c.Through("app"), c.Through("app")
		loader.Warm("INSERT INTO a VALUES (%d)")
		rows := c.Metric(stage.Pending)
		require.Positive(c, rows)
		for _, statement := range []string{
			"SELECT 1", "SELECT COUNT(*) FROM b", "INSERT INTO b VALUES (1)", "UPDATE b SET x = x", "SELECT 2",
		} {
			other.Exec(statement)
			require.Equal(c, rows, c.Metric(stage.Pending), statement)
			time.Sleep(1100 * time.Millisecond) // its settings are looked at once a second
		}
		total := c.Direct("root").Value("SELECT COUNT(*) FROM a")
		require.NotEqual(c, total, other.Value("SELECT COUNT(*) FROM a"))
		require.Zero(c, c.Metric(stage.Pending))
	})
}

// TestDrainWaitsForHeldRows: SIGTERM waits for a transaction whose rows are all still
// held, of which the server knows nothing.
func TestDrainWaitsForHeldRows(t *testing.T) {
	stage.Each(t, func(c *stage.Stage) {
		c.Direct("root").Exec("CREATE TABLE a (x INT PRIMARY KEY)")
		x := c.Through("app")
		x.Exec("SET autocommit = 0")
		x.Warm("INSERT INTO a VALUES (%d)")
		x.Exec("COMMIT")
		for i := range 5 {
			x.Holds(fmt.Sprintf("INSERT INTO a VALUES (%d)", 100+i))
		}
		c.Sluice.Signal(c, syscall.SIGTERM)
		require.Eventually(c, func() bool { return strings.Contains(c.Sluice.Log(20), "draining") }, time.Minute, 10*time.Millisecond)
		x.Exec("INSERT INTO a VALUES (200)", "COMMIT")
		require.Equal(c, "6", c.Direct("root").Value("SELECT COUNT(*) FROM a WHERE x BETWEEN 100 AND 200"))
	})
}
