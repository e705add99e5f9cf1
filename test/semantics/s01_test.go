package semantics

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// swap is what a table's owner does, past sluice, between the OK to her rows and
// their flush.
type swap struct {
	name       string
	statements []string
}

// swaps lead to a table of somebody else, or to code that would run with the
// service account's rights. Two of them end in an engine without transactions,
// where a rollback would come too late.
var swaps = []swap{
	{"view", []string{
		"RENAME TABLE t TO t_old",
		"CREATE SQL SECURITY INVOKER VIEW t AS SELECT a, b FROM $victim.secret",
	}},
	{"view on MyISAM", []string{
		"RENAME TABLE t TO t_old",
		"CREATE SQL SECURITY INVOKER VIEW t AS SELECT a, b FROM $victim.plain",
	}},
	{"check option", []string{
		"RENAME TABLE t TO t_old",
		"CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER " +
			"BEGIN INSERT INTO $victim.plain VALUES (x, 'function'); RETURN 1; END",
		"CREATE SQL SECURITY INVOKER VIEW t AS SELECT a, b FROM t_old WHERE f(a) = 1 WITH CHECK OPTION",
	}},
	{"other columns", []string{
		"DROP TABLE t",
		"CREATE TABLE t (b VARCHAR(20), a INT PRIMARY KEY)",
	}},
	{"trigger", []string{
		"CREATE TABLE log (a INT) ENGINE=MyISAM",
		"CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.a)",
	}},
	{"trigger that asks for a retry", []string{
		"CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213",
	}},
	{"trigger that waits for a lock", []string{
		"CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205",
	}},
	{"dropped", []string{"DROP TABLE t"}},
}

// TestS01TableSwapped: rows that were accepted for a table never go anywhere
// else. They end in the reject log, and the queue goes on.
func TestS01TableSwapped(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		victim := s.Schema + "_victim"
		s.Schemas(victim)
		s.Server.Exec(s.T,
			"CREATE TABLE "+victim+".secret (a INT PRIMARY KEY, b VARCHAR(20))",
			"CREATE TABLE "+victim+".plain (a INT PRIMARY KEY, b VARCHAR(20)) ENGINE=MyISAM")
		for i, w := range swaps {
			own := fmt.Sprintf("%s_%d", s.Schema, i)
			s.Schemas(own)
			mallory := s.User(fmt.Sprintf("m%d", i), "ALL ON "+own+".*", "SELECT ON "+victim+".*")
			for _, held := range []int{1, 3} {
				s.Server.Exec(s.T, "DROP DATABASE "+own, "CREATE DATABASE "+own)
				swapped(s, mallory, own, victim, w, held)
			}
		}
	})
}

func swapped(s *stage.Stage, mallory, own, victim string, w swap, held int) {
	s.Helper()
	c := s.Connect(s.Sluice.DSN(mallory, mallory, own))
	direct := s.Connect(s.Server.DSN(mallory, mallory, own))
	c.Exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))")
	c.Warm("INSERT INTO t (a, b) VALUES (%d, 'warm')")
	s.Flush()
	for i := range held {
		c.Holds(fmt.Sprintf("INSERT INTO t (a, b) VALUES (%d, 'held')", i))
	}
	before := s.Metric(stage.Rejects)
	for _, statement := range w.statements {
		direct.Exec(expand(statement, victim))
	}
	s.Flush()
	require.Equal(s, before+held, s.Metric(stage.Rejects), "%s: rejected", w.name)
	require.Zero(s, s.Count(victim+".secret"), "%s: rows in the victim's table", w.name)
	require.Zero(s, s.Count(victim+".plain"), "%s: rows in the victim's MyISAM table", w.name)
	if len(s.Stored("SHOW TABLES FROM "+own+" LIKE 'log'")) > 0 {
		require.Zero(s, s.Count(own+".log"), "%s: the trigger ran", w.name)
	}
	c.Close()
	direct.Close()
}

// TestS01SwappedInARace swaps the table back and forth while rows are flushed, until
// enough rows were batched and found another table. What was acknowledged is in the table or in the
// reject log.
func TestS01SwappedInARace(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		s := stage.New(t, server)
		s.Sluice = servers.StartSluice(t, s.Server, "--burst", "1", "--window-delay", "1ms", "--window-max-delay", "1ms")
		victim := s.Schema + "_victim"
		s.Schemas(victim)
		s.Server.Exec(t,
			"CREATE TABLE "+victim+".secret (a INT PRIMARY KEY, b VARCHAR(20))",
			"CREATE TABLE "+victim+".plain (a INT PRIMARY KEY, b VARCHAR(20)) ENGINE=MyISAM")
		mallory := s.User("r", "ALL ON "+s.Schema+".*", "SELECT ON "+victim+".*")
		direct, other := s.Direct(mallory), s.Through(mallory)
		direct.Exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))")
		stop, acknowledged := loadAnyhow(s, mallory)
		const swaps, hits = 20, 5
		end := time.Now().Add(3 * time.Minute)
		for i := 0; i < swaps || s.Metric(stage.Rejects) < hits; i++ {
			require.True(t, time.Now().Before(end), "%d swaps, %d batched, %d rejected: %v",
				i, s.Metric(stage.Batched), s.Metric(stage.Rejects), s.RelayedFor())
			target := []string{".secret", ".plain"}[i%2]
			direct.Exec("RENAME TABLE t TO t_old", "CREATE SQL SECURITY INVOKER VIEW t AS SELECT a, b FROM "+victim+target)
			time.Sleep(time.Duration(i%7) * time.Millisecond)
			direct.Exec("DROP VIEW t", "RENAME TABLE t_old TO t")
			other.Exec("CREATE OR REPLACE VIEW v AS SELECT 1") // sluice looks at refused shapes again
			time.Sleep(time.Duration(20+i%50) * time.Millisecond)
		}
		close(stop)
		sent := <-acknowledged
		s.Flush()
		require.Zero(t, s.Count(victim+".secret"))
		require.Zero(t, s.Count(victim+".plain"))
		require.Equal(t, sent, s.Count("t")+s.Metric(stage.Rejects))
	})
}

// loadAnyhow inserts rows into t, one after the other, until stop is closed, and then
// tells how many were acknowledged; it goes on when one fails. A session whose rows
// are refused time and again has to send more and more of them before sluice batches
// the next: it logs in anew every hundred.
func loadAnyhow(s *stage.Stage, user string) (stop chan<- struct{}, acknowledged <-chan int) {
	ended, result := make(chan struct{}), make(chan int)
	go func() {
		defer close(result)
		var c *stage.Client
		for row, count := 0, 0; ; row++ {
			select {
			case <-ended:
				result <- count
				return
			default:
			}
			if row%100 == 0 {
				var err error
				if c != nil {
					c.Close()
				}
				if c, err = s.TryConnect(s.Sluice.DSN(user, user, s.Schema)); err != nil {
					s.Errorf("log in again: %v", err)
					return
				}
			}
			if _, err := c.Try(fmt.Sprintf("INSERT INTO t (a, b) VALUES (%d, 'x')", row)); err == nil { // fails while t is a view or away
				count++
			}
		}
	}()
	return ended, result
}
