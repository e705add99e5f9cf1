package semantics

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
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
	each(t, func(s *stage) {
		victim := s.schema + "_victim"
		s.schemas(victim)
		s.server.Exec(s.T,
			"CREATE TABLE "+victim+".secret (a INT PRIMARY KEY, b VARCHAR(20))",
			"CREATE TABLE "+victim+".plain (a INT PRIMARY KEY, b VARCHAR(20)) ENGINE=MyISAM")
		for i, w := range swaps {
			own := fmt.Sprintf("%s_%d", s.schema, i)
			s.schemas(own)
			mallory := s.user(fmt.Sprintf("m%d", i), "ALL ON "+own+".*", "SELECT ON "+victim+".*")
			for _, held := range []int{1, 3} {
				s.server.Exec(s.T, "DROP DATABASE "+own, "CREATE DATABASE "+own)
				s.swapped(mallory, own, victim, w, held)
			}
		}
	})
}

func (s *stage) swapped(mallory, own, victim string, w swap, held int) {
	s.Helper()
	c := s.connect(s.sluice.DSN(mallory, mallory, own))
	direct := s.connect(s.server.DSN(mallory, mallory, own))
	c.exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))")
	c.warm("INSERT INTO t (a, b) VALUES (%d, 'warm')")
	s.flush()
	for i := range held {
		c.holds(fmt.Sprintf("INSERT INTO t (a, b) VALUES (%d, 'held')", i))
	}
	before := s.metric(rejects)
	for _, statement := range w.statements {
		direct.exec(expand(statement, victim))
	}
	s.flush()
	require.Equal(s, before+held, s.metric(rejects), "%s: rejected", w.name)
	require.Zero(s, s.count(victim+".secret"), "%s: rows in the victim's table", w.name)
	require.Zero(s, s.count(victim+".plain"), "%s: rows in the victim's MyISAM table", w.name)
	if len(s.stored("SHOW TABLES FROM "+own+" LIKE 'log'")) > 0 {
		require.Zero(s, s.count(own+".log"), "%s: the trigger ran", w.name)
	}
	c.close()
	direct.close()
}

// TestS01SwappedInARace swaps the table back and forth while rows are flushed, until
// enough rows were batched and found another table. What was acknowledged is in the table or in the
// reject log.
func TestS01SwappedInARace(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, servers.Shared(t, kind))
			s.sluice = servers.StartSluice(t, s.server, "--burst", "1", "--window-delay", "1ms", "--window-max-delay", "1ms")
			victim := s.schema + "_victim"
			s.schemas(victim)
			s.server.Exec(t,
				"CREATE TABLE "+victim+".secret (a INT PRIMARY KEY, b VARCHAR(20))",
				"CREATE TABLE "+victim+".plain (a INT PRIMARY KEY, b VARCHAR(20)) ENGINE=MyISAM")
			mallory := s.user("r", "ALL ON "+s.schema+".*", "SELECT ON "+victim+".*")
			direct, other := s.direct(mallory), s.through(mallory)
			direct.exec("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))")
			stop, acknowledged := s.loadAnyhow(mallory)
			const swaps, hits = 20, 5
			end := time.Now().Add(3 * time.Minute)
			for i := 0; i < swaps || s.metric(rejects) < hits; i++ {
				require.True(t, time.Now().Before(end), "%d swaps, %d batched, %d rejected: %v",
					i, s.metric(batched), s.metric(rejects), s.relayedFor())
				target := []string{".secret", ".plain"}[i%2]
				direct.exec("RENAME TABLE t TO t_old", "CREATE SQL SECURITY INVOKER VIEW t AS SELECT a, b FROM "+victim+target)
				time.Sleep(time.Duration(i%7) * time.Millisecond)
				direct.exec("DROP VIEW t", "RENAME TABLE t_old TO t")
				other.exec("CREATE OR REPLACE VIEW v AS SELECT 1") // sluice looks at refused shapes again
				time.Sleep(time.Duration(20+i%50) * time.Millisecond)
			}
			close(stop)
			sent := <-acknowledged
			s.flush()
			require.Zero(t, s.count(victim+".secret"))
			require.Zero(t, s.count(victim+".plain"))
			require.Equal(t, sent, s.count("t")+s.metric(rejects))
		})
	}
}

// loadAnyhow inserts rows into t, one after the other, until stop is closed, and then
// tells how many were acknowledged; it goes on when one fails. A session whose rows
// are refused time and again has to send more and more of them before sluice batches
// the next: it logs in anew every hundred.
func (s *stage) loadAnyhow(user string) (stop chan<- struct{}, acknowledged <-chan int) {
	ended, result := make(chan struct{}), make(chan int)
	go func() {
		defer close(result)
		var c *client
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
					c.close()
				}
				if c, err = s.tryConnect(s.sluice.DSN(user, user, s.schema)); err != nil {
					s.Errorf("log in again: %v", err)
					return
				}
			}
			if _, err := c.try(fmt.Sprintf("INSERT INTO t (a, b) VALUES (%d, 'x')", row)); err == nil { // fails while t is a view or away
				count++
			}
		}
	}()
	return ended, result
}
