package fault

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/test/servers"
)

// obstacle is a lock of somebody else that a flush runs into and cannot get past.
type obstacle struct {
	lock, unlock string
}

var obstacles = []obstacle{
	// What comes after the last checkpoint: the first statement of the transaction waits.
	{"START TRANSACTION; SELECT win FROM sluice.applied ORDER BY journal DESC, queue DESC, win DESC, chunk DESC LIMIT 1 FOR UPDATE", "ROLLBACK"},
	// The checkpoint is inserted, the rows wait.
	{"LOCK TABLES test.crash READ", "UNLOCK TABLES"},
}

// aim kills sluice where it hurts: when an obstacle shows that a flush is under way.
type aim struct {
	server *servers.Server
	sluice *servers.Sluice

	last int64 // the server's threads up to this one are not of the sluice that runs now
}

// strike kills sluice inside a flush, and again inside the replay of what was flushed.
// With late the obstacle goes away only when the second replay has met it too, while
// the transactions of those that were killed may still be waiting.
func (a *aim) strike(t *testing.T, o obstacle, late bool) {
	t.Helper()
	// Inserts that are relayed stand still at the obstacle too: somebody has to be past
	// the burst, or nothing is ever flushed.
	require.Eventually(t, func() bool {
		return a.sluice.Metrics(t)[`sluice_statements_total{verdict="batched"}`] > 0
	}, 2*time.Minute, 5*time.Millisecond, "nothing is batched")
	conn, err := a.server.Open(t).Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), o.lock)
	require.NoError(t, err)
	a.await(t, conn)
	a.killDuring(t, "a flush")
	a.sluice.Begin(t)
	a.await(t, conn)
	a.killDuring(t, "a replay")
	if late {
		a.sluice.Begin(t)
		a.await(t, conn)
	}
	_, err = conn.ExecContext(t.Context(), o.unlock)
	require.NoError(t, err)
	if !late {
		a.sluice.Begin(t)
	}
	a.sluice.Await(t)
}

// await waits until the server runs an INSERT of sluice's own. It cannot be committed:
// the obstacle was there first.
func (a *aim) await(t *testing.T, conn *sql.Conn) {
	t.Helper()
	require.Eventually(t, func() bool {
		var n int
		err := conn.QueryRowContext(context.Background(), "SELECT COUNT(*) FROM information_schema.processlist"+
			" WHERE user = 'sluice_svc' AND command = 'Query' AND info LIKE 'INSERT%' AND id > ?", a.last).Scan(&n)
		return err == nil && n > 0
	}, 2*time.Minute, 5*time.Millisecond, "no flush meets the obstacle")
}

// kill kills sluice. The server still has its threads for a while.
func (a *aim) kill(t *testing.T) {
	t.Helper()
	a.sluice.Kill9(t)
	require.NoError(t, a.server.Open(t).QueryRow("SELECT CONNECTION_ID()").Scan(&a.last))
}

// killDuring kills sluice when acknowledged rows are on their way to the server: a
// window is sealed and not done.
func (a *aim) killDuring(t *testing.T, what string) {
	t.Helper()
	a.kill(t)
	summary, err := journal.Info(journal.Options{Dir: filepath.Join(a.sluice.DataDir, "journal")})
	require.NoError(t, err)
	sealed := slices.ContainsFunc(summary.Queues, func(q journal.QueueState) bool { return q.Sealed != nil })
	require.True(t, sealed, "no window was under way when sluice was killed during %s", what)
}
