package schema

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/rewrite"
	"github.com/sluice-db/sluice/test/servers"
)

// TestS01Unchanged: each way in which a table can stop being what its rows were
// accepted for is seen after the rows and before COMMIT, and from the first row
// on none of them can happen.
func TestS01Unchanged(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s)
		q, other := service(t, s), service(t, s)
		other.run(t, "USE "+schema, "SET lock_wait_timeout=1", "CREATE TABLE applied (id INT AUTO_INCREMENT PRIMARY KEY)",
			"CREATE TABLE secret (id INT PRIMARY KEY, v INT)")
		q.run(t, "USE "+schema)
		reset := "CREATE TABLE t (id INT PRIMARY KEY, v INT) AUTO_INCREMENT=5"
		for _, c := range []struct {
			name string
			ddl  []string
			why  string
			undo []string
		}{
			{"nothing", nil, "", nil},
			{"auto_increment", []string{"ALTER TABLE t AUTO_INCREMENT=99"}, "", nil},
			{"same again", []string{"DROP TABLE t", reset}, "", nil},
			{"view", []string{"DROP TABLE t", "CREATE SQL SECURITY INVOKER VIEW t AS SELECT id, v FROM secret"}, whyNotBase, []string{"DROP VIEW t"}},
			{"column", []string{"ALTER TABLE t ADD COLUMN w INT FIRST"}, whyChanged, nil},
			{"type", []string{"ALTER TABLE t MODIFY v VARCHAR(10)"}, whyChanged, nil},
			{"default", []string{"ALTER TABLE t ALTER v SET DEFAULT 5"}, whyChanged, nil},
			{"row format", []string{"ALTER TABLE t ROW_FORMAT=COMPACT"}, whyChanged, nil},
			{"key", []string{"ALTER TABLE t ADD UNIQUE (v)"}, whyChanged, nil},
			{"comment", []string{"ALTER TABLE t COMMENT='x'"}, whyChanged, nil},
			{"swapped names", []string{"RENAME TABLE secret TO x, t TO secret, x TO t"}, "", []string{"RENAME TABLE secret TO x, t TO secret, x TO t"}},
			{"trigger", []string{"CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW SET @x=1"}, whyTriggers, nil},
			{"trigger for update", []string{"CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW SET NEW.v=1"}, whyTriggers, nil},
		} {
			other.run(t, "DROP TABLE IF EXISTS t", reset)
			table := mustLoad(t, s, q, schema, "t")
			q.run(t, "BEGIN", "INSERT INTO applied VALUES ()")
			other.run(t, c.ddl...)
			q.run(t, "INSERT INTO t (id, v) VALUES (1, 1)")
			why, err := Unchanged(q, table)
			require.NoError(t, err)
			require.Equal(t, c.why, why, c.name)
			if c.ddl == nil {
				for _, ddl := range []string{"DROP TABLE t", "ALTER TABLE t ADD COLUMN late INT",
					"CREATE TRIGGER late AFTER INSERT ON t FOR EACH ROW SET @x=1"} {
					_, err := other.Query(ddl)
					require.Error(t, err, ddl)
				}
			}
			q.run(t, "ROLLBACK")
			other.run(t, c.undo...)
		}
		other.run(t, "DROP TABLE IF EXISTS t", reset)
		table := mustLoad(t, s, q, schema, "t")
		other.run(t, "DROP TABLE t")
		why, err := Unchanged(q, table)
		require.NoError(t, err)
		require.Equal(t, whyGone, why)
	})
}

// TestS01Snapshot: triggers committed while the transaction was open are seen if
// it is READ COMMITTED, or if Unchanged is its first consistent read, for
// several tables too. Otherwise MySQL hides them, which is why Unchanged says so.
func TestS01Snapshot(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s)
		q, other := service(t, s), service(t, s)
		other.run(t, "USE "+schema, "CREATE TABLE applied (id INT AUTO_INCREMENT PRIMARY KEY)",
			"CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)")
		q.run(t, "USE "+schema)
		tables := []*rewrite.Table{mustLoad(t, s, q, schema, "a"), mustLoad(t, s, q, schema, "b")}
		check := func(level string, read, blind bool) {
			q.run(t, "SET SESSION TRANSACTION ISOLATION LEVEL "+level, "BEGIN", "INSERT INTO applied VALUES ()")
			if read {
				q.run(t, "SELECT * FROM applied", "INSERT INTO a VALUES (1)")
				why, err := Unchanged(q, tables[0])
				require.NoError(t, err)
				require.Empty(t, why)
			}
			other.run(t, "CREATE TRIGGER tr AFTER INSERT ON b FOR EACH ROW SET @x=1")
			q.run(t, "INSERT INTO b VALUES (1)")
			why, err := Unchanged(q, tables...)
			require.NoError(t, err)
			require.Equal(t, blind, why == "", "%s %v", level, read)
			q.run(t, "ROLLBACK")
			other.run(t, "DROP TRIGGER tr")
		}
		check("READ COMMITTED", true, false)
		check("READ COMMITTED", false, false)
		check("REPEATABLE READ", false, false)
		check("REPEATABLE READ", true, s.Kind == servers.KindMySQL)
	})
}

// TestUnchangedAsks: two statements for a table with a plain name.
func TestUnchangedAsks(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s)
		q := service(t, s)
		q.run(t, "USE "+schema, "CREATE TABLE t (id INT PRIMARY KEY)", "CREATE TABLE `tä` (id INT PRIMARY KEY)")
		for name, want := range map[string]int{"t": 2, "tä": 4} {
			table := mustLoad(t, s, q, schema, name)
			before := q.asked
			why, err := Unchanged(q, table)
			require.NoError(t, err)
			require.Empty(t, why)
			require.Equal(t, want, q.asked-before)
		}
		require.NotEmpty(t, CheckResults(&rewrite.Table{}, nil))
	})
}

// BenchmarkUnchanged is what a flush pays before each COMMIT.
func BenchmarkUnchanged(b *testing.B) {
	for _, kind := range servers.Kinds {
		b.Run(string(kind), func(b *testing.B) {
			s := servers.Shared(b, kind)
			schema := fresh(b, s)
			q := service(b, s)
			q.run(b, "USE "+schema, "CREATE TABLE t (word VARCHAR(64), score FLOAT, location_id INT UNSIGNED, y SMALLINT, PRIMARY KEY (word, location_id))")
			table := mustLoad(b, s, q, schema, "t")
			q.run(b, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN", "INSERT INTO t VALUES ('a', 1, 1, 1)")
			statements := CheckStatements(table)
			for name, f := range map[string]func(){
				"ping":     func() { q.run(b, "SELECT 1") },
				"show":     func() { q.run(b, statements[0]) },
				"triggers": func() { q.run(b, statements[1]) },
				"both":     func() { _, _ = Unchanged(q, table) },
			} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						f()
					}
				})
			}
			q.run(b, "ROLLBACK")
		})
	}
}
