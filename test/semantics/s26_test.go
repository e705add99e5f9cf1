package semantics

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/stage"
)

// TestS26Traces: what earlier statements left behind looks as if nothing had been
// batched and sluice had asked nothing.
func TestS26Traces(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		setup := []string{"CREATE TABLE t (a INT PRIMARY KEY, b TINYINT)", "CREATE TABLE ids (id INT AUTO_INCREMENT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (-1, 0), (-2, 0), (-3, 0)"}
		s.Root(setup...)
		const row = "INSERT INTO t (a, b) VALUES (%d, 1)"
		probes := [][]string{
			{"SELECT ROW_COUNT()"}, {"SELECT ROW_COUNT(), ROW_COUNT()", "SELECT ROW_COUNT()"}, {"SHOW WARNINGS"}, {"SHOW ERRORS"}, {"SHOW COUNT(*) WARNINGS"},
			{"SELECT @@warning_count, @@error_count"}, {"SELECT LAST_INSERT_ID()"}, {"SELECT FOUND_ROWS()"}, {"SELECT @@identity"},
			{"GET DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT", "SELECT @n, @r"},
			{"SELECT 1", "SELECT ROW_COUNT()"}, {"SELECT * FROM t WHERE a < 0", "SELECT FOUND_ROWS()"}, {"DO 1", "SELECT ROW_COUNT()"}, {"SET @z = 1", "SELECT ROW_COUNT()"},
			{"SELECT @@in_transaction"}, {"SHOW WARNINGS", "SELECT ROW_COUNT()"}, {"SELECT LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS()"},
		}
		before := [][]string{
			{"SELECT 1"},
			{"SELECT * FROM t WHERE a < 0"}, // FOUND_ROWS() 3
			{"INSERT INTO ids (b) VALUES (1), (2)"},
			{"SELECT 1 / 0, CAST('x' AS SIGNED)"},                 // warnings
			{"SELECT * FROM nowhere"},                             // an error
			{"UPDATE t SET b = b + 1 WHERE a < 0"},                // ROW_COUNT() 3
			{"DROP TABLE IF EXISTS nowhere"},                      // a note
			{"SELECT SQL_CALC_FOUND_ROWS * FROM t LIMIT 1"},       // FOUND_ROWS() beyond LIMIT
			{"INSERT IGNORE INTO t VALUES (-1, 0), (-9, 999999)"}, // warnings of an insert
		}
		again := []string{"DELETE FROM t", "TRUNCATE ids", "INSERT INTO t VALUES (-1, 0), (-2, 0), (-3, 0)"}
		for _, b := range before {
			b = join([]string{"SELECT 1"}, b) // MariaDB has no FOUND_ROWS() worth the name before a SELECT
			var play []string
			key := 100
			for _, p := range probes {
				play = join(play, b, inserts(key, 3, row), p)
				key += 3
			}
			play = join(inserts(1, 10, row), play)
			script{again: again, play: play, unbound: true}.run(s)
			script{again: again, play: join([]string{"BEGIN"}, play, []string{"COMMIT"}), unbound: true}.run(s)
			// Long enough for batching to set in again, a single probe behind it.
			for _, p := range probes[:9] {
				play := join(inserts(1, 4, row), b, inserts(100, 8, row), p)
				script{again: again, play: play, unbound: true}.run(s)
			}
		}
		require.Greater(s, s.Metric(stage.Batched), 200)
		// A statement of several rows counts them.
		var three []string
		for i := range 8 {
			three = append(three, fmt.Sprintf("INSERT INTO t (a, b) VALUES (%d, 1), (%d, 2), (%d, 3)", 10*i, 10*i+1, 10*i+2))
		}
		for _, p := range []string{
			"SELECT ROW_COUNT()", "SELECT 5, ROW_COUNT() AS n, ROW_COUNT()+1", "SELECT * FROM t WHERE ROW_COUNT() = 3 AND a < 0",
			"INSERT INTO ids (b) VALUES (ROW_COUNT())", "SET @n = ROW_COUNT()",
		} {
			script{again: again, play: join(three, []string{p, "SELECT @n", "SELECT ROW_COUNT()"}), unbound: true}.run(s)
			script{again: again, play: join([]string{"BEGIN"}, three, []string{p, "COMMIT"}), unbound: true}.run(s)
		}
		failedCheck(s, row)
		waitTimeout(s, row)
	})
}

// failedCheck: a PREPARE of sluice's that fails shows nowhere.
func failedCheck(s *stage.Stage, row string) {
	s.Helper()
	play := join(inserts(1, 4, row), inserts(1, 4, "INSERT INTO t (a, nothere) VALUES (%d, 1)"), []string{"SHOW WARNINGS", "SELECT ROW_COUNT()"},
		inserts(1, 4, "INSERT INTO nowhere (a) VALUES (%d)"), []string{"SHOW WARNINGS", "SELECT @@error_count"}, inserts(10, 4, row), []string{"SHOW WARNINGS", "SELECT ROW_COUNT()"})
	script{again: []string{"DELETE FROM t"}, play: play}.run(s)
}

// waitTimeout: a client that only inserts is not idle, and one that does nothing is,
// whatever sluice does on its connection.
func waitTimeout(s *stage.Stage, row string) {
	s.Helper()
	idle := s.Through("app")
	idle.Exec("SET wait_timeout = 5")
	idle.Warm(row)
	busy := s.Through("app")
	busy.Exec("SET wait_timeout = 5")
	busy.Warm(row)
	for i := range 14 {
		busy.Exec(fmt.Sprintf(row, 50_000+i))
		time.Sleep(500 * time.Millisecond)
	}
	busy.Exec("DO 1")
	_, err := idle.Try("DO 1")
	require.Error(s, err, "wait_timeout has no meaning any more")
	s.Flush()
}

// TestS26Ping: COM_PING between a batched insert and ROW_COUNT().
func TestS26Ping(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		s.Root("CREATE TABLE t (a INT PRIMARY KEY)")
		play := func(addr string) []rawclient.Reply {
			s.Root("DELETE FROM t")
			c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: s.Schema})
			require.NoError(s, err)
			defer func() { _ = c.Close() }()
			var replies []rawclient.Reply
			for _, command := range []rawclient.Command{
				c.Query([]byte("INSERT INTO t VALUES (1)")), c.Query([]byte("INSERT INTO t VALUES (2)")), c.Query([]byte("INSERT INTO t VALUES (3)")),
				rawclient.Simple(rawclient.ComPing, rawclient.OneReply), c.Query([]byte("SELECT ROW_COUNT()")), c.Query([]byte("SHOW WARNINGS")),
			} {
				reply, err := c.Do(command)
				require.NoError(s, err)
				replies = append(replies, reply)
			}
			return replies
		}
		direct := play(s.Server.Addr)
		before := s.Metric(stage.Batched)
		require.Equal(s, direct, play(s.Sluice.Addr))
		require.Greater(s, s.Metric(stage.Batched), before)
	})
}
