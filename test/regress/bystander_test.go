package regress

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// TestBystanders: a session that inserts nothing flushes the tables that its statements
// name, and no others; it used to flush all, since its settings were not known.
func TestBystanders(t *testing.T) {
	const pending = "sluice_pending_rows"
	each(t, func(c *scene) {
		root := c.direct()
		root.exec("DROP USER IF EXISTS svc_bystander@'%'", "CREATE USER svc_bystander@'%' IDENTIFIED BY '"+servers.ServicePassword+"'",
			"GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER, SHOW VIEW ON `test%`.* TO svc_bystander@'%'",
			"GRANT ALL ON sluice.* TO svc_bystander@'%'", "GRANT PROCESS, REFERENCES ON *.* TO svc_bystander@'%'",
			"CREATE TABLE a (x INT PRIMARY KEY)", "CREATE TABLE b (x INT PRIMARY KEY)")
		t.Cleanup(func() { c.server.Exec(c, "DROP USER svc_bystander@'%'") })
		c.sluice = servers.StartSluice(c, c.server, "--burst", "1", "--window-delay", "1h", "--window-max-delay", "1h",
			"--backend", "mysql://svc_bystander@"+c.server.Addr+"/")
		loader, other := c.through(), c.through()
		loader.warm("INSERT INTO a VALUES (%d)", 1)
		rows := c.metric(pending)
		require.Positive(c, rows)
		for _, statement := range []string{
			"SELECT 1", "SELECT COUNT(*) FROM b", "INSERT INTO b VALUES (1)", "UPDATE b SET x = x", "SELECT 2",
		} {
			other.exec(statement)
			require.Equal(c, rows, c.metric(pending), statement)
			time.Sleep(1100 * time.Millisecond) // its settings are looked at once a second
		}
		total := root.value("SELECT COUNT(*) FROM a")
		require.NotEqual(c, total, other.value("SELECT COUNT(*) FROM a"))
		require.Zero(c, c.metric(pending))
	})
}

// TestDrainWaitsForHeldRows: SIGTERM waits for a transaction whose rows are all still
// held, of which the server knows nothing.
func TestDrainWaitsForHeldRows(t *testing.T) {
	each(t, func(c *scene) {
		c.direct().exec("CREATE TABLE a (x INT PRIMARY KEY)")
		x := c.through()
		x.exec("SET autocommit = 0")
		x.warm("INSERT INTO a VALUES (%d)", 1)
		x.exec("COMMIT")
		for i := range 5 {
			x.holds(fmt.Sprintf("INSERT INTO a VALUES (%d)", 100+i))
		}
		c.sluice.Signal(c, syscall.SIGTERM)
		require.Eventually(c, func() bool { return strings.Contains(c.sluice.Log(20), "draining") }, deadline, 10*time.Millisecond)
		x.exec("INSERT INTO a VALUES (200)", "COMMIT")
		require.Equal(c, "6", c.direct().value("SELECT COUNT(*) FROM a WHERE x >= 100"))
	})
}
