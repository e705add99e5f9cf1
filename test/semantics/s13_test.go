package semantics

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/stage"
)

// TestS13OnlyValuesReject: rows wait for what passes, and only those are rejected
// that would have failed directly too.
func TestS13OnlyValuesReject(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		svc := s.Service()
		s.Start("--backend", s.BackendURL(svc))
		rejectedAlone(s)
		s.Root("DROP TABLE t", "CREATE TABLE t (a INT PRIMARY KEY, b INT)")
		c := s.Through("app")
		c.Warm("INSERT INTO t VALUES (%d, 0)")
		s.Flush()
		next := 0
		// waits holds a few rows back, flushes while something is in the way, and sees
		// that they are neither lost nor rejected when it has gone.
		waits := func(name string, begin, end func()) {
			c.Warm("INSERT INTO t VALUES (%d, 0)")
			first := next
			for range 3 {
				next++
				c.Holds(fmt.Sprintf("INSERT INTO t VALUES (%d, 0)", next))
			}
			begin()
			done := make(chan struct{})
			go func() { defer close(done); s.Flush() }()
			time.Sleep(300 * time.Millisecond)
			select {
			case <-done:
				require.Fail(s, "flushed all the same", name)
			default:
			}
			end()
			<-done
			require.Equal(s, 3, s.Count(fmt.Sprintf("t WHERE a > %d AND a <= %d", first, next)), "%s: rows stored", name)
			require.Zero(s, s.Metric(stage.Rejects), "%s: rejects", name)
		}
		blocker := s.Direct("app")
		waits("a lock and a killed query", func() {
			blocker.Exec("BEGIN", fmt.Sprintf("INSERT INTO t VALUES (%d, 1)", next))
		}, func() {
			for range 20 { // each attempt of the window
				kill(s, svc, "KILL QUERY")
				time.Sleep(20 * time.Millisecond)
			}
			blocker.Exec("ROLLBACK")
		})
		waits("a lock and a killed connection", func() {
			blocker.Exec("BEGIN", fmt.Sprintf("INSERT INTO t VALUES (%d, 1)", next))
		}, func() {
			kill(s, svc, "KILL")
			time.Sleep(100 * time.Millisecond)
			blocker.Exec("ROLLBACK")
		})
		waits("table locked", func() { blocker.Exec("LOCK TABLES t READ") }, func() {
			kill(s, svc, "KILL QUERY")
			blocker.Exec("UNLOCK TABLES")
		})
		waits("the service account's right taken", func() {
			s.Server.Exec(s.T, "REVOKE INSERT ON `test%`.* FROM "+svc+"@'%'")
			kill(s, svc, "KILL")
		}, func() { s.Server.Exec(s.T, "GRANT INSERT ON `test%`.* TO "+svc+"@'%'"); kill(s, svc, "KILL") })
		waits("the service account locked out", func() {
			s.Server.Exec(s.T, "ALTER USER "+svc+"@'%' ACCOUNT LOCK")
			kill(s, svc, "KILL")
		}, func() { s.Server.Exec(s.T, "ALTER USER "+svc+"@'%' ACCOUNT UNLOCK") })
		waits("a limit of the account", func() {
			s.Server.Exec(s.T, "ALTER USER "+svc+"@'%' WITH MAX_UPDATES_PER_HOUR 1")
			kill(s, svc, "KILL")
		}, func() {
			s.Server.Exec(s.T, "ALTER USER "+svc+"@'%' WITH MAX_UPDATES_PER_HOUR 0", "FLUSH USER_RESOURCES")
			kill(s, svc, "KILL") // a connection keeps the limit that it was opened with
		})
	})
}

// kill ends all threads of an account, or what they do.
func kill(s *stage.Stage, account, how string) {
	s.Helper()
	db := s.Server.Open(s.T)
	for _, id := range s.Stored("SELECT id FROM information_schema.processlist WHERE user = '" + account + "'") {
		_, _ = db.Exec(how + " " + id) // it may have ended
	}
}

// rejectedAlone: values that fail directly are rejected statement by statement, and
// all the others stand.
func rejectedAlone(s *stage.Stage) {
	s.Helper()
	setup := []string{
		"CREATE TABLE parent (a INT PRIMARY KEY)", "INSERT INTO parent VALUES (1), (2)",
		"CREATE TABLE t (a INT PRIMARY KEY, b TINYINT NOT NULL, c VARCHAR(5), d DATE, e ENUM('x', 'y'), f INT UNIQUE, CHECK (b < 100))",
		"CREATE TABLE child (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (a))",
	}
	insert := func(a int, rest string) string { return fmt.Sprintf("INSERT INTO t VALUES (%d, %s)", a, rest) }
	good := "1, 'x', '2020-01-01', 'x', NULL"
	play := []string{insert(1, good), insert(2, good), insert(3, good)}
	failing := 0
	for i, bad := range []string{
		"NULL, 'x', '2020-01-01', 'x', NULL", "1000, 'x', '2020-01-01', 'x', NULL", "1, 'too long', '2020-01-01', 'x', NULL",
		"1, 'x', '2020-02-31', 'x', NULL", "1, 'x', '2020-01-01', 'z', NULL", "101, 'x', '2020-01-01', 'x', NULL",
		"1, 'x', '2020-01-01', 'x', 'abc'", "1, 'x', '2020-01-01', 'x', 5",
	} {
		play = append(play, insert(10+i, good), insert(30+i, bad), insert(50+i, good))
		failing++
	}
	play = append(play, insert(10, good), insert(70, "1, 'x', '2020-01-01', 'x', 5"), // a duplicate key; a unique key, the first of which stands
		fmt.Sprintf("INSERT INTO t VALUES (80, %s), (81, %s), (10, %s), (82, %s)", good, good, good, good),
		"INSERT INTO t VALUES (83, "+good+"), (84, "+good+")")
	failing += 2
	play = append(play, "INSERT INTO child VALUES (1, 1)", "INSERT INTO child VALUES (2, 1)", "INSERT INTO child VALUES (3, 9)",
		"INSERT INTO child VALUES (4, 2)", "INSERT INTO child VALUES (5, NULL)", "INSERT INTO child VALUES (1, 2)")
	script{setup: setup, play: play, errors: true, rejected: failing + 2}.run(s)
	s.Sluice.Restart(s.T) // with counters at zero
}

// TestS13ReadOnly: rows that cannot be written to a server that is read-only wait.
func TestS13ReadOnly(t *testing.T) {
	stage.EachFresh(t, func(s *stage.Stage) {
		s.Root("CREATE TABLE t (a INT PRIMARY KEY)")
		c := s.Through("app")
		c.Warm("INSERT INTO t VALUES (%d)")
		c.Holds("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
		s.Server.Exec(s.T, "SET GLOBAL read_only = 1")
		done := make(chan struct{})
		go func() { defer close(done); s.Flush() }()
		time.Sleep(500 * time.Millisecond)
		require.Zero(s, s.Metric(stage.Rejects))
		s.Server.Exec(s.T, "SET GLOBAL read_only = 0")
		<-done
		require.Equal(s, 2, s.Count("t WHERE a < 3"))
		require.Zero(s, s.Metric(stage.Rejects))
		readOnlyByOneself(s, c)
	})
}

// readOnlyByOneself: who makes the server read-only through sluice is not made to
// wait for the rows that wait for her (S24).
func readOnlyByOneself(s *stage.Stage, writer *stage.Client) {
	s.Helper()
	admin := s.Through("root")
	writer.Warm("INSERT INTO t VALUES (%d)")
	admin.Exec("SET GLOBAL read_only = 1")
	_, _ = writer.Try("INSERT INTO t VALUES (3)") // batched or refused
	admin.Query("SELECT COUNT(*) FROM t")
	admin.Exec("SET GLOBAL read_only = 0")
	s.Flush()
}
