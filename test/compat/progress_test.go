package compat

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestProgress has MariaDB report the progress of ALTER TABLE. A report looks like an
// error and comes before the reply, to clients that asked for it at login: the first
// after some thousand rows, others a second apart.
func TestProgress(t *testing.T) {
	t.Parallel()
	server := servers.MariaDB(t, "--progress-report-time=1")
	sluice := servers.StartSluice(t, server)
	server.Exec(t, "CREATE TABLE test.p (id INT PRIMARY KEY, v VARCHAR(20))",
		"INSERT INTO test.p SELECT seq, seq FROM test.seq_1_to_150000")
	statements := []string{
		"SET progress_report_time = 1",
		"ALTER TABLE p ADD COLUMN s CHAR(64) AS (SHA2(v, 256)) PERSISTENT, ALGORITHM=COPY",
		"SELECT 1", // the reply to this and to no other
		"ALTER TABLE p DROP COLUMN nothere",
		"ALTER TABLE p DROP COLUMN s, ALGORITHM=COPY",
		"SELECT COUNT(*) FROM p",
	}
	play := func(addr string, caps uint64) (replies []rawclient.Reply, reports [][]string) {
		c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: "test", Caps: caps})
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		for _, sql := range statements {
			reply, err := c.Do(c.Query([]byte(sql)))
			require.NoError(t, err, sql)
			replies = append(replies, reply)
			reports = append(reports, c.Progress)
		}
		return replies, reports
	}
	const asking = rawclient.DefaultCaps&^rawclient.LongPassword | rawclient.Progress
	direct, want := play(server.Addr, asking)
	proxied, got := play(sluice.Addr, asking)
	require.Equal(t, direct, proxied)
	for i, sql := range statements {
		if sql[:5] != "ALTER" || len(direct[i]) > 1 || direct[i].Failed() {
			require.Empty(t, got[i], sql)
			continue
		}
		t.Logf("%.30s: %q directly, %q through sluice", sql, want[i], got[i])
		require.NotEmpty(t, want[i], sql)
		require.NotEmpty(t, got[i], sql)
		require.Equal(t, want[i][0], got[i][0], sql)
	}
	_, silent := play(sluice.Addr, rawclient.DefaultCaps)
	require.Equal(t, make([][]string, len(statements)), silent, "reports to a client that did not ask")
}
