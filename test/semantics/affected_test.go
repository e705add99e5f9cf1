package semantics

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/stage"
)

const (
	relayedExact = `sluice_relayed_total{reason="IGNORE, REPLACE or ON DUPLICATE KEY UPDATE under affected_rows: exact"}`
	unique       = "CREATE TABLE %s (a INT PRIMARY KEY, b INT, c TINYINT NOT NULL DEFAULT 0, UNIQUE KEY (b))"
)

// TestAffectedRowsExact: under affected_rows: exact the reply to INSERT IGNORE, REPLACE
// and ON DUPLICATE KEY UPDATE is the server's own, field by field, also with
// CLIENT_FOUND_ROWS, while plain INSERTs are batched as ever.
func TestAffectedRowsExact(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		var play []string
		plain, counted, next := 0, 0, 0
		for range 3 {
			// Enough for a burst of each shape; the keys of the plain ones are the ones to hit.
			first := next
			for range 6 {
				play = append(play, fmt.Sprintf("INSERT INTO t VALUES (%d, %d, 1)", next, next))
				next++
				plain++
			}
			for i := range 4 {
				odku := "INSERT INTO t VALUES (%[1]d, %[1]d, 7) ON DUPLICATE KEY UPDATE c = VALUES(c)"
				for _, format := range []string{
					"INSERT IGNORE INTO t VALUES (%[1]d, %[2]d, 2)",                       // a duplicate
					"INSERT IGNORE INTO t VALUES (%[2]d, %[1]d, 2), (%[2]d, %[2]d, 1000)", // one of each, and a value that is clipped
					"INSERT IGNORE INTO t SET a = %[2]d, b = %[2]d, c = NULL",             // NULL for NOT NULL, and a duplicate
					"REPLACE INTO t VALUES (%[2]d, %[2]d, 3)",                             // replaces one row
					"REPLACE INTO t VALUES (%[1]d, %[2]d, 3)",                             // replaces two
					"REPLACE INTO t VALUES (%[2]d + 100000, NULL, 3), (%[1]d, %[1]d, 4)",  // several
					odku, odku, // updates; changes nothing
					"INSERT INTO t VALUES (%[2]d + 200000, NULL, 7) ON DUPLICATE KEY UPDATE c = 5", // inserts
					"INSERT INTO t VALUES (%[1]d, 1, 1), (%[2]d + 300000, NULL, 1), (%[1]d, 2, 2) ON DUPLICATE KEY UPDATE c = c + 1",
				} {
					play = append(play, fmt.Sprintf(format, first+i, 1000*(first+i+1)))
					counted++
				}
			}
			play = append(play, "SHOW WARNINGS") // which ends the burst
		}
		for _, found := range []uint64{0, rawclient.FoundRows} {
			for _, begin := range []string{"", "BEGIN"} {
				all := play
				if begin != "" {
					all = join([]string{begin}, play, []string{"COMMIT"})
				}
				rebuild(s, []string{fmt.Sprintf(unique, "t")})
				direct := replies(s, s.Server.Addr, found, all)
				want := dump(s)
				rebuild(s, []string{fmt.Sprintf(unique, "t")})
				batchedBefore, relayedBefore := s.Metric(stage.Batched), s.Sluice.Metrics(s.T)[relayedExact]
				through := replies(s, s.Sluice.Addr, found, all)
				for i := range direct {
					require.Equal(s, direct[i], through[i], "found rows %d, %q", found, all[i])
				}
				require.Equal(s, want, dump(s))
				require.GreaterOrEqual(s, s.Metric(stage.Batched)-batchedBefore, plain/2, "plain inserts are batched; %v", s.RelayedFor())
				require.GreaterOrEqual(s, int(s.Sluice.Metrics(s.T)[relayedExact]-relayedBefore), counted/2, "%v", s.RelayedFor())
			}
		}
	}, "--affected-rows", "exact")
}

// replies are what a client is told of each statement.
func replies(s *stage.Stage, addr string, caps uint64, statements []string) []string {
	s.Helper()
	c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: s.Schema, Caps: rawclient.DefaultCaps | caps})
	require.NoError(s, err)
	defer func() { _ = c.Close() }()
	list := make([]string, len(statements))
	for i, statement := range statements {
		r, err := c.Do(c.Query([]byte(statement)))
		require.NoError(s, err)
		list[i] = r.String()
	}
	return list
}

// TestAffectedRowsByRule: a rule sets for a table what the rest of the configuration
// does not.
func TestAffectedRowsByRule(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	require.NoError(t, os.WriteFile(file, []byte("rules: [{table: counted, affected_rows: exact}]\n"), 0o600))
	stage.Each(t, func(s *stage.Stage) {
		s.Root(fmt.Sprintf(unique, "counted"), fmt.Sprintf(unique, "t"))
		c := s.Through("app")
		for range 3 {
			c.Exec("REPLACE INTO t VALUES (1, 1, 1)", "REPLACE INTO counted VALUES (1, 1, 1), (2, 2, 2)")
		}
		c.Holds("REPLACE INTO t VALUES (1, 1, 1)")
		n, err := c.Try("REPLACE INTO t VALUES (1, 1, 2), (2, 2, 2)")
		require.NoError(s, err)
		require.Equal(s, 2, n, "per row")
		n, err = c.Try("REPLACE INTO counted VALUES (1, 1, 2), (2, 2, 3)")
		require.NoError(s, err)
		require.Equal(s, 4, n, "two deleted, two inserted")
	}, "--config", file)
}
