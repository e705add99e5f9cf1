package semantics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// TestS23Snapshots: whatever opens a snapshot sees every row that was acknowledged
// before, its own and others'.
func TestS23Snapshots(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		s.Root("CREATE TABLE t (a INT PRIMARY KEY)", "CREATE TABLE other (a INT)", "INSERT INTO other VALUES (1)")
		writer := s.Through("app")
		key := 0
		for _, ways := range [][]string{
			{"BEGIN", "SELECT * FROM other"},
			{"START TRANSACTION", "SELECT * FROM other"},
			{"START TRANSACTION WITH CONSISTENT SNAPSHOT"},
			{"SET autocommit = 0", "SELECT * FROM other"},
			{"/*!50000 BEGIN */", "SELECT * FROM other"},
			{"BEGIN; SELECT * FROM other"},
			{"SET autocommit = 0; SELECT * FROM other"},
			{"START TRANSACTION READ ONLY", "SELECT * FROM other"},
			{"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN", "SELECT * FROM other"},
			{"SET autocommit = 0", "COMMIT", "SELECT * FROM other"},
			{"SET autocommit = 0", "COMMIT", "@insert", "INSERT INTO other VALUES (2)", "SELECT * FROM other"},
			{"BEGIN", "@insert", "SELECT * FROM other"},
			{"BEGIN", "COMMIT AND CHAIN", "@insert", "SELECT * FROM other"},
			{"BEGIN", "ROLLBACK AND CHAIN", "SELECT * FROM other"},
			{"BEGIN", "SAVEPOINT s", "SELECT * FROM other"},
			{"BEGIN", "SELECT COUNT(*) FROM other WHERE a IN (SELECT 1)"},
		} {
			for _, reader := range []*stage.Client{s.Through("app"), writer} {
				insert := func(c *stage.Client) {
					key++
					c.Exec(fmt.Sprintf("INSERT INTO t VALUES (%d)", key))
				}
				for range 40 { // the last of them batched, whatever came before
					insert(writer)
				}
				before := key
				for _, w := range ways {
					if w == "@insert" {
						// Another session's row between BEGIN and the first statement:
						// acknowledged before the snapshot is taken.
						other := s.Through("app")
						for range 3 {
							insert(other)
						}
						other.Close()
						before = key
						continue
					}
					reader.Query(w)
				}
				require.Equal(s, []string{fmt.Sprint(before)}, reader.Query("SELECT COUNT(*) FROM t WHERE a < 1000000"), "after %q", ways)
				reader.Exec("ROLLBACK", "SET autocommit = 1")
				if reader != writer {
					reader.Close()
				}
			}
		}
		require.Greater(s, s.Metric(stage.Batched), 200, "%v", s.RelayedFor())
	})
}

// TestS24SelfDeadlock: a session that holds locks never waits for rows that wait for it.
func TestS24SelfDeadlock(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		s.Root("CREATE TABLE t (a INT PRIMARY KEY, b INT)", "CREATE TABLE u (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1, 0), (1000, 0)",
			"CREATE PROCEDURE p() UPDATE t SET b = b + 1")
		ways := [][]string{
			{"BEGIN", "SELECT * FROM t FOR UPDATE"},
			{"BEGIN", "UPDATE t SET b = 1 WHERE a BETWEEN 1 AND 1000"},
			{"BEGIN", "DELETE FROM t WHERE a = 500"},
			{"SET autocommit = 0", "SELECT * FROM t WHERE a > 1 FOR UPDATE"},
			{"BEGIN", "CALL p()"},
			{"BEGIN; SELECT * FROM t FOR UPDATE"},
			{"LOCK TABLES t READ, u READ"},
			{"LOCK TABLES t WRITE, u WRITE"},
			{"LOCK TABLE t READ, u READ"},
			{"/*!40000 LOCK TABLES t WRITE, u WRITE */"},
			{"SELECT 1; LOCK TABLES t READ, u READ"},
			{"FLUSH TABLES t, u WITH READ LOCK"},
			{"FLUSH TABLES WITH READ LOCK"},
			{"XA START 'x'", "SELECT * FROM t FOR UPDATE"},
			{"BEGIN", "INSERT INTO t VALUES (500, 5)"},
		}
		if s.Server.Kind == servers.KindMariaDB {
			ways = append(ways, []string{"PREPARE l FROM 'LOCK TABLES t WRITE, u WRITE'", "EXECUTE l"}, []string{"EXECUTE IMMEDIATE 'LOCK TABLES t READ, u READ'"},
				[]string{"SET STATEMENT lock_wait_timeout = 5 FOR SELECT 1", "LOCK TABLES t WRITE, u WRITE"}, []string{"BACKUP STAGE START", "BACKUP STAGE BLOCK_DDL", "BACKUP STAGE BLOCK_COMMIT"})
		}
		writer := s.Through("app")
		warmed := false
		for i, way := range ways {
			holder := s.Through("root")
			for _, w := range way {
				holder.Query(w)
			}
			if !warmed {
				writer.Exec("USE " + s.Schema)
				warmed = true
			}
			// The writer's row is acknowledged and cannot be applied. Its burst may
			// block: it has a connection of its own to the server.
			done := make(chan struct{})
			go func() {
				defer close(done)
				for k := range 4 {
					if _, err := writer.Try(fmt.Sprintf("INSERT INTO u VALUES (%d)", i*10+k)); err != nil {
						return
					}
				}
				_, _ = writer.Try(fmt.Sprintf("INSERT INTO t VALUES (%d, 9)", 2+i))
				_, _ = writer.Try(fmt.Sprintf("INSERT INTO t VALUES (%d, 9)", 102+i))
			}()
			time.Sleep(50 * time.Millisecond)
			start := time.Now()
			for _, q := range []string{"SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM u", "SELECT 1", "SHOW STATUS LIKE 'x'", "DO 1", "SELECT @@autocommit"} {
				_, err := holder.TryQuery(q)
				require.NoError(s, err, "%s after %q", q, way)
			}
			require.Less(s, time.Since(start), 40*time.Second, "waited for itself after %q", way)
			if strings.HasPrefix(way[0], "XA") {
				holder.Query("XA END 'x'")
				holder.Query("XA ROLLBACK 'x'")
			}
			if strings.HasPrefix(way[0], "BACKUP") {
				holder.Query("BACKUP STAGE END")
			}
			holder.Exec("ROLLBACK", "UNLOCK TABLES")
			<-done
			holder.Close()
			s.Flush()
		}
		require.NotZero(s, s.Metric(stage.Batched))
	})
}

// TestS25Closure: a statement sees the pending rows of all tables that it reaches, and
// waits for no others where that is known.
func TestS25Closure(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		s := stage.New(t, server)
		closure(s)
	})
}

func closure(s *stage.Stage) {
	svc := s.Service("SELECT, PROCESS, REFERENCES, SHOW VIEW ON *.*")
	s.Start("--backend", s.BackendURL(svc))
	s.Root("CREATE TABLE t (a INT PRIMARY KEY)", "CREATE TABLE far (a INT PRIMARY KEY)",
		"CREATE TABLE child (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (a) ON DELETE CASCADE)",
		"CREATE VIEW v AS SELECT a FROM t", "CREATE VIEW vv AS SELECT * FROM v WHERE a > 0", "CREATE VIEW w AS SELECT 1 AS x FROM far WHERE EXISTS (SELECT * FROM t)",
		"CREATE FUNCTION f() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM t)", "CREATE VIEW vf AS SELECT f() AS n",
		"CREATE PROCEDURE p() SELECT COUNT(*) FROM t", "CREATE TABLE log (n INT)", "CREATE TABLE other (n INT)", "CREATE TABLE fires (a INT)",
		"CREATE TRIGGER g AFTER INSERT ON fires FOR EACH ROW INSERT INTO log SELECT COUNT(*) FROM t")
	writer, far, reader := s.Through("app"), s.Through("app"), s.Through("app")
	key, total := 0, 0
	// row leaves one more row of t pending, and says how many there are.
	row := func() string {
		total += writer.Warm("INSERT INTO t VALUES (%d)")
		key++
		writer.Holds(fmt.Sprintf("INSERT INTO t VALUES (%d)", key))
		total++
		return fmt.Sprint(total)
	}
	// known is a session whose schema and settings sluice knows, so that it goes by names.
	known := func() *stage.Client {
		c := s.Through("app")
		c.Warm("INSERT INTO other VALUES (%d)")
		return c
	}
	for _, q := range []struct{ name, query string }{
		{"the table", "SELECT COUNT(*) FROM t"}, {"an alias", "SELECT COUNT(*) FROM far x RIGHT JOIN t y ON x.a = y.a"},
		{"qualified", "SELECT COUNT(*) FROM `" + s.Schema + "` . `t`"}, {"a view", "SELECT COUNT(*) FROM v"}, {"a view of a view", "SELECT COUNT(*) FROM vv"},
		{"a subquery", "SELECT (SELECT COUNT(*) FROM t)"}, {"a function", "SELECT f()"}, {"a function in a view", "SELECT n FROM vf"}, {"a routine", "CALL p()"},
		{"a union", "SELECT COUNT(*) FROM t UNION SELECT COUNT(*) FROM t"}, {"a table expression", "WITH c AS (SELECT a FROM t) SELECT COUNT(*) FROM c"},
		{"a prepared statement", "PREPARE q FROM 'SELECT COUNT(*) FROM t'; EXECUTE q"}, {"an executable comment", "SELECT COUNT(*) FROM /*! t */ /*!99999 far */"},
	} {
		for _, reader := range []*stage.Client{known(), reader} {
			want := row()
			var got []string
			for _, statement := range strings.Split(q.query, "; ") {
				got = reader.Query(statement)
			}
			require.Equal(s, []string{want}, got, q.name)
		}
	}
	reader = known()
	want := row()
	reader.Exec("INSERT INTO fires VALUES (1)")
	require.Equal(s, []string{want}, s.Stored("SELECT n FROM log"), "a trigger")
	reader = known()
	row()
	n, err := reader.Try("UPDATE t SET a = -a WHERE a = 1")
	require.NoError(s, err)
	require.Equal(s, 1, n)

	// Foreign keys, both ways.
	reader = known()
	row()
	reader.Exec(fmt.Sprintf("INSERT INTO child VALUES (1, %d)", key))
	reader = known()
	want = row()
	require.Equal(s, []string{"1"}, reader.Query(fmt.Sprintf("SELECT COUNT(*) FROM child WHERE p = %d", key-1)))
	require.Equal(s, []string{want}, s.Stored("SELECT COUNT(*) FROM t"), "a parent's rows, when its child is read")

	// What may see anything waits for everything.
	for _, q := range []string{"SHOW TABLE STATUS", "SELECT TABLE_ROWS FROM information_schema.tables WHERE table_name = 't'", "CHECKSUM TABLE t", "ANALYZE TABLE t", "DO 1", "SET @x = (SELECT COUNT(*) FROM t)"} {
		row()
		reader.Query(q)
		require.Zero(s, s.Metric(stage.Pending), q)
	}

	// And what does not reach the table leaves its rows where they are.
	far.Warm("INSERT INTO far VALUES (%d)")
	reader = known()
	s.Flush()
	row()
	for _, q := range []string{"SELECT COUNT(*) FROM far", "SELECT * FROM log", "SELECT 1"} {
		reader.Query(q)
	}
	require.NotZero(s, s.Metric(stage.Pending), "a reader of other tables")
	s.Flush()
	row()
	reader.Exec("INSERT INTO log VALUES (0)")
	require.NotZero(s, s.Metric(stage.Pending), "a writer of other tables")

	// An insert that runs unbatched comes after those that were batched before it.
	far.Exec("DELETE FROM far")
	far.Warm("REPLACE INTO far VALUES (%d)")
	far.Holds("REPLACE INTO far VALUES (1)", "REPLACE INTO far VALUES (2)")
	reader.Fails(1062, "INSERT INTO far SELECT 2")
	require.Equal(s, 2, s.Count("far WHERE a < 10"))
}
