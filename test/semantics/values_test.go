package semantics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// TestS10GeneratedIds: statements whose id only the server knows are relayed, so that
// their OK, LAST_INSERT_ID() and what is stored are the server's.
func TestS10GeneratedIds(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		setup := []string{
			"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE, n INT DEFAULT 0)",
		}
		s.Root(setup...)
		again := []string{"TRUNCATE t", "INSERT INTO t (id, u) VALUES (50, 1)"}
		for _, form := range []string{
			"INSERT INTO t (u) VALUES (%d)", "INSERT INTO t (id, u) VALUES (NULL, %d)", "INSERT INTO t (id, u) VALUES (0, %d)",
			"INSERT INTO t (id, u) VALUES (DEFAULT, %d)", "INSERT INTO t (id, u) VALUES ('0', %d)", "INSERT INTO t (id, u) VALUES ('', %d)",
			"INSERT INTO t (id, u) VALUES (0.4, %d)", "INSERT INTO t (id, u) VALUES (-0, %d)", "INSERT INTO t (id, u) VALUES (IF(1, NULL, 2), %d)",
			"INSERT IGNORE INTO t (u) VALUES (%d)", "REPLACE INTO t (u) VALUES (%d)", "REPLACE INTO t SET u = %d",
			"INSERT INTO t (u) VALUES (%d) ON DUPLICATE KEY UPDATE n = n + 1", "INSERT IGNORE INTO t (id, u) VALUES (NULL, %d), (NULL, 100%d)",
			"INSERT INTO t SET u = %d", "INSERT INTO t VALUES (NULL, %d, 1)", "INSERT INTO t () VALUES ()",
		} {
			one := []string{}
			for _, n := range []int{1, 2, 3, 2, 4, 4, 5, 6, 7, 1, 8, 9} {
				one = append(one, strings.ReplaceAll(form, "%d", fmt.Sprint(n)), "SELECT LAST_INSERT_ID(), ROW_COUNT()")
			}
			bare := slices.DeleteFunc(slices.Clone(one), func(q string) bool { return strings.HasPrefix(q, "SELECT") })
			for _, play := range [][]string{one, bare, join([]string{"BEGIN"}, bare, []string{"COMMIT"})} {
				script{again: again, play: join(play, []string{"SELECT LAST_INSERT_ID()"}), unbound: true}.run(s)
			}
		}
		// With ids of the client's own the same statements are batched.
		script{again: again, play: inserts(100, 8, "INSERT INTO t (id, u) VALUES (%d, %d)")}.run(s)
	})
}

// TestS15OneQueuePerTable: shapes and sessions do not overtake one another.
func TestS15OneQueuePerTable(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		setup := []string{"CREATE TABLE t (k INT PRIMARY KEY, v INT DEFAULT 7, w INT DEFAULT 7)"}
		var play []string
		for i := range 60 {
			k := i % 5
			play = append(play,
				fmt.Sprintf("REPLACE INTO t (k, v) VALUES (%d, %d)", k, i),
				fmt.Sprintf("REPLACE INTO t (k, w) VALUES (%d, %d)", (k+i/7)%5, i),
				fmt.Sprintf("INSERT INTO t (k, v) VALUES (%d, %d) ON DUPLICATE KEY UPDATE v = v + VALUES(v), w = w * 3 %% 1000", (k+i/3)%5, i),
				fmt.Sprintf("INSERT IGNORE INTO t (k, v, w) VALUES (%d, %d, 1)", i%9, i))
		}
		script{setup: setup, play: play, errors: true}.run(s)
		script{setup: setup, play: join([]string{"BEGIN"}, play, []string{"COMMIT"}), errors: true}.run(s)
		twoSessions(s, setup)
	})
}

// twoSessions take turns, each with shapes of its own, on one table.
func twoSessions(s *stage.Stage, setup []string) {
	s.Helper()
	first, second := "REPLACE INTO t (k, v) VALUES (%d, %d)", "REPLACE INTO t (k, w) VALUES (%d, %d)"
	turn := func(a, b *stage.Client) {
		for i := range 40 {
			a.Exec(fmt.Sprintf(first, i%3, i))
			b.Exec(fmt.Sprintf(second, i%3, i))
			if i%4 == 0 {
				a.Exec(fmt.Sprintf(first, i%3, -i))
			}
		}
		a.Close()
		b.Close()
	}
	rebuild(s, setup)
	turn(s.Direct("app"), s.Direct("app"))
	want := dump(s)
	rebuild(s, setup)
	before := s.Metric(stage.Batched)
	turn(s.Through("app"), s.Through("app"))
	s.Flush()
	require.Equal(s, want, dump(s), "two sessions")
	require.Greater(s, s.Metric(stage.Batched), before+60, "%v", s.RelayedFor())
}

// TestS16SecondUniqueKey: which of two duplicates wins does not depend on how a
// window is cut or sorted.
func TestS16SecondUniqueKey(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		setup := []string{"CREATE TABLE t (k INT PRIMARY KEY, u INT, v INT, UNIQUE (u))", "CREATE TABLE p (k INT PRIMARY KEY, v INT)"}
		for _, verb := range []string{"INSERT", "INSERT IGNORE", "REPLACE"} {
			var play, several []string
			for i := 1; i < 70; i++ {
				play = append(play, fmt.Sprintf("%s INTO t (k, u, v) VALUES (%d, %d, %d)", verb, (i*37)%101, (i*i)%23, i))
				several = append(several, fmt.Sprintf("%s INTO p (k, v) VALUES (%d, %d), (%d, %d), (%d, %d)", verb,
					(i*37)%29, i, (i*11)%31, i, (i*5)%97, i))
			}
			for _, list := range [][]string{play, several} {
				rejected := 0
				if verb == "INSERT" {
					rejected = failing(s, setup, list)
				}
				script{setup: setup, play: list, errors: true, rejected: rejected}.run(s)
			}
		}
	}, "--chunk-rows", "10", "--statement-bytes", "4KiB")
}

// failing counts the statements that fail directly.
func failing(s *stage.Stage, setup, play []string) int {
	s.Helper()
	rebuild(s, setup)
	c := s.Direct("app")
	defer c.Close()
	n := 0
	for _, statement := range play {
		if _, err := c.Try(statement); err != nil {
			n++
		}
	}
	return n
}

// TestS17ForeignKeys: parents, children and cascades as they came.
func TestS17ForeignKeys(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		setup := []string{
			"CREATE TABLE parent (a INT PRIMARY KEY, v INT)",
			"CREATE TABLE child (a INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (a) ON DELETE CASCADE ON UPDATE CASCADE)",
			"CREATE TABLE tree (a INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES tree (a) ON DELETE CASCADE)",
		}
		var family, tree, orphans []string
		for i := range 40 {
			family = append(family, fmt.Sprintf("INSERT INTO parent VALUES (%d, 1)", 100-i), fmt.Sprintf("INSERT INTO child VALUES (%d, %d)", i, 100-i))
			tree = append(tree, fmt.Sprintf("INSERT INTO tree VALUES (%d, %s)", 100-i, map[bool]string{true: "NULL", false: fmt.Sprint(101 - i)}[i == 0]))
			orphans = append(orphans, fmt.Sprintf("INSERT INTO child VALUES (%d, %d)", i, i%3), fmt.Sprintf("INSERT IGNORE INTO parent VALUES (%d, 1)", i%7))
		}
		script{setup: setup, play: family}.run(s)
		script{setup: setup, play: tree}.run(s)
		ignoring := slices.Clone(tree)
		for i := range ignoring {
			ignoring[i] = strings.Replace(ignoring[i], "INSERT", "INSERT IGNORE", 1)
		}
		script{setup: setup, play: ignoring}.run(s)
		script{setup: setup, play: orphans, errors: true, rejected: failingBatched(s, setup, orphans)}.run(s)
		for _, play := range [][]string{family, tree} {
			script{setup: setup, play: join([]string{"BEGIN"}, play, []string{"COMMIT"})}.run(s)
		}
		// REPLACE of a parent takes the children with it; so does what follows.
		script{setup: setup, play: join(family, []string{"REPLACE INTO parent VALUES (90, 2)"}, inserts(200, 5, "INSERT INTO child VALUES (%d, 90)"),
			[]string{"REPLACE INTO parent VALUES (90, 3)", "SELECT COUNT(*) FROM child"}, inserts(300, 5, "INSERT INTO child VALUES (%d, 91)"),
			[]string{"UPDATE parent SET a = 500 WHERE a = 91", "SELECT * FROM child ORDER BY a"}, inserts(400, 5, "INSERT INTO child VALUES (%d, 500)"),
			[]string{"DELETE FROM parent WHERE a = 500", "SELECT COUNT(*) FROM child"})}.run(s)
		script{setup: setup, play: join([]string{"SET foreign_key_checks = 0"}, inserts(1, 9, "INSERT INTO child VALUES (%d, 7)"),
			[]string{"SET foreign_key_checks = 1"}, inserts(1, 9, "INSERT INTO parent VALUES (%d, 7)"))}.run(s)
	})
}

// failingBatched is failing less the first of each shape, which runs unbatched and
// fails at once.
func failingBatched(s *stage.Stage, setup, play []string) int {
	s.Helper()
	return failing(s, setup, play[1:]) - failing(s, setup, play[1:1])
}

// TestS18StoredKey: rows are sorted by the key as it is stored, or not at all.
func TestS18StoredKey(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		for _, c := range []struct {
			name, table, mode string
			keys              []string
		}{
			{"clipped", "k TINYINT PRIMARY KEY", "", []string{"999", "127", "126", "128", "'127'", "127.4", "126.6", "1e3", "-999", "-128"}},
			{"unsigned", "k TINYINT UNSIGNED PRIMARY KEY", "", []string{"-1", "0", "256", "255", "'255x'", "'0'", "0x1", "b'1'"}},
			{"prefix", "k VARCHAR(20), PRIMARY KEY (k(3))", "STRICT_ALL_TABLES", []string{"'abcd'", "'abce'", "'abc'", "'abd'", "'ABCX'", "'ab'"}},
			{"folded", "k VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY", "STRICT_ALL_TABLES", []string{"'a'", "'A'", "'a '", "'ä'", "'Ä'", "'b'", "'ss'", "'ß'", "'a\\0'"}},
			{"unicode", "k VARCHAR(20) COLLATE utf8mb4_unicode_ci PRIMARY KEY", "STRICT_ALL_TABLES", []string{"'a'", "'A'", "'a '", "'ä'", "'ß'", "'ss'", "'SS'", "'\U0001F600'", "'\U0001F601'"}},
			{"cut", "k VARCHAR(3) PRIMARY KEY", "", []string{"'abcd'", "'abcx'", "'abc'", "'ab'", "123456", "123"}},
			{"char", "k CHAR(4) PRIMARY KEY", "", []string{"'a'", "'a  '", "'a\\t'", "'A'", "'abcde'", "'abcd'"}},
			{"binary", "k VARBINARY(4) PRIMARY KEY", "STRICT_ALL_TABLES", []string{"'a'", "'A'", "'a '", "X'61'", "'a\\0'", "0x41"}},
			{"date", "k DATE PRIMARY KEY", "", []string{"'2020-01-02'", "20200102", "'20-1-2'", "'2020-01-02 03:04:05'", "'2020-02-31'", "'x'", "'2020/01/03'"}},
			{"decimal", "k DECIMAL(4,1) PRIMARY KEY", "", []string{"1.25", "1.2", "1.3", "'1.24'", "99999", "999.9", "1e0", "1"}},
			{"double", "k DOUBLE PRIMARY KEY", "STRICT_ALL_TABLES", []string{"1", "1.0", "'1'", "1e0", "0.1", "0.10000000000000000001", "-0", "0"}},
			{"enum", "k ENUM('b', 'a', '1') PRIMARY KEY", "", []string{"'a'", "1", "'1'", "2", "'b'", "'zz'", "'A'"}},
			{"year", "k YEAR PRIMARY KEY", "", []string{"0", "'0'", "2000", "70", "1970", "'70'", "99", "3000"}},
			{"bit", "k BIT(4) PRIMARY KEY", "", []string{"1", "b'1'", "15", "16", "'a'", "0"}},
			{"timestamp", "k TIMESTAMP PRIMARY KEY", "STRICT_ALL_TABLES", []string{"'2020-01-02 03:04:05'", "20200102030405", "'2020-01-02 03:04:05.4'", "'2020-01-02T03:04:05'", "'2020-01-02 03:04:06'"}},
			{"two", "k INT, l CHAR(2) DEFAULT 'x', PRIMARY KEY (l, k)", "STRICT_ALL_TABLES", []string{"1", "2", "'1'", "+1", "01", "1.0", "3"}},
			{"descending", "k INT, PRIMARY KEY (k DESC)", "STRICT_ALL_TABLES", []string{"3", "1", "2", "3", "1"}},
		} {
			rebuild(s, []string{"CREATE TABLE t (" + c.table + ", v INT DEFAULT 0, w INT DEFAULT 0) DEFAULT CHARSET utf8mb4"})
			for _, form := range []string{
				"INSERT IGNORE INTO t (k, v) VALUES (%k, %d)", "REPLACE INTO t (k, v) VALUES (%k, %d)",
				"INSERT INTO t (k, v) VALUES (%k, %d) ON DUPLICATE KEY UPDATE v = VALUES(v), w = w + 1",
				"INSERT INTO t (k, v) VALUES (%k, %d) ON DUPLICATE KEY UPDATE k = VALUES(k), v = VALUES(v)",
			} {
				play := []string{"SET sql_mode = '" + c.mode + "'", "SET NAMES utf8mb4"}
				for i := range 3 * len(c.keys) {
					key := c.keys[(i*7+i/len(c.keys))%len(c.keys)]
					play = append(play, strings.NewReplacer("%k", key, "%d", fmt.Sprint(i)).Replace(form))
				}
				script{again: []string{"DELETE FROM t"}, play: play, errors: true, unbound: true, rejected: anyNumber}.run(s)
			}
		}
	})
}

// TestS19NotStrict: in non-strict mode what could be NULL for a NOT NULL column is
// an error alone, and must stay one.
func TestS19NotStrict(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		setup := []string{"CREATE TABLE t (k INT PRIMARY KEY, v INT NOT NULL DEFAULT 5, n INT)"}
		s.Root(setup...)
		again := []string{"DELETE FROM t"}
		for _, value := range []string{"NULL", "1/0", "1 DIV 0", "5 % 0", "MOD(5, 0)", "NULLIF(1, 1)", "CAST('x' AS DATE)", "CONCAT(NULL)", "IF(1, NULL, 2)",
			"COALESCE(NULL, NULL)", "ELT(9, 'a')", "UNHEX('zz')", "FROM_UNIXTIME(-1)", "STR_TO_DATE('x', '%Y')", "-NULL", "DEFAULT", "LN(0)", "SQRT(-1)", "MAKEDATE(0, 0)",
			"1", "'7'", "NOT 1", "''"} {
			for _, mode := range []string{"", "ERROR_FOR_DIVISION_BY_ZERO"} {
				play := []string{"SET sql_mode = '" + mode + "'", "INSERT INTO t VALUES (1, 1, 1)"}
				for i, form := range []string{
					"INSERT INTO t (k, v) VALUES (%d, %v)", "INSERT INTO t (k, n, v) VALUES (%d, NULL, %v)", "REPLACE INTO t (k, v) VALUES (%d, %v)",
					"INSERT IGNORE INTO t (k, v) VALUES (%d, %v)", "INSERT INTO t (k, v) VALUES (%d, 1), (1%d, %v)",
					"INSERT INTO t (k, v) VALUES (1, 1) ON DUPLICATE KEY UPDATE v = %v",
					"INSERT INTO t (k, v, n) VALUES (1, 1, NULL) ON DUPLICATE KEY UPDATE v = VALUES(n), n = %d",
				} {
					if value != "DEFAULT" || !strings.Contains(form, "UPDATE v = %v") {
						play = append(play, inserts(20+10*i, 3, strings.ReplaceAll(form, "%v", value))...)
					}
				}
				script{again: again, play: play, unbound: true, anyCount: true}.run(s)
			}
		}
		script{setup: setup, play: join([]string{"SET sql_mode = ''"}, inserts(1, 8, "INSERT INTO t (k, v) VALUES (%d, 1)"))}.run(s)
	})
}

// TestS21Time: NULL that means now, system-versioned tables, a timestamp of the client's.
func TestS21Time(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		setup := []string{"CREATE TABLE t (k INT PRIMARY KEY, at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, d DATETIME DEFAULT NOW())"}
		fixed := "SET timestamp = 1500000000"
		script{setup: setup, unbound: true, play: join([]string{fixed}, inserts(1, 6, "INSERT INTO t (k) VALUES (%d)"),
			inserts(11, 6, "INSERT INTO t (k, d) VALUES (%d, NOW())"), []string{"SELECT k, UNIX_TIMESTAMP(at), UNIX_TIMESTAMP(d) FROM t ORDER BY k"})}.run(s)
		if s.Server.Kind == servers.KindMySQL {
			setup[0] = "CREATE TABLE t (k INT PRIMARY KEY, at TIMESTAMP NOT NULL)"
			script{setup: setup, unbound: true, play: join([]string{"SET explicit_defaults_for_timestamp = 0", fixed}, inserts(1, 6, "INSERT INTO t VALUES (%d, NULL)"))}.run(s)
		} else {
			setup[0] = "CREATE TABLE t (k INT PRIMARY KEY, at TIMESTAMP NOT NULL)"
			script{setup: setup, unbound: true, play: join([]string{fixed}, inserts(1, 6, "INSERT INTO t VALUES (%d, NULL)"))}.run(s)
		}
		keepsTheTime(s)
		if s.Server.Kind == servers.KindMariaDB {
			versioned(s)
		}
	})
}

// keepsTheTime: a batched row has the time at which its client sent it, however late
// it is flushed.
func keepsTheTime(s *stage.Stage) {
	s.Helper()
	rebuild(s, []string{"CREATE TABLE t (k INT PRIMARY KEY, at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, d DATETIME)"})
	c := s.Through("app")
	c.Warm("INSERT INTO t (k, d) VALUES (%d, NOW())")
	first := time.Now().Unix()
	for i := range 3 {
		c.Holds(fmt.Sprintf("INSERT INTO t (k, d) VALUES (%d, NOW())", i))
	}
	last := time.Now().Unix()
	time.Sleep(2100 * time.Millisecond)
	s.Flush()
	require.Equal(s, []string{"3"}, s.Stored(fmt.Sprintf("SELECT COUNT(*) FROM t WHERE k < 3 AND UNIX_TIMESTAMP(at) BETWEEN %d AND %d AND UNIX_TIMESTAMP(d) = UNIX_TIMESTAMP(at)", first, last)))
	c.Close()
}

// versioned tables are relayed: they record when a row was written.
func versioned(s *stage.Stage) {
	s.Helper()
	rebuild(s, []string{"CREATE TABLE t (k INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING"})
	before := s.Metric(stage.Batched)
	c := s.Through("app")
	c.Exec(inserts(1, 20, "INSERT INTO t VALUES (%d, 1)")...)
	require.Equal(s, before, s.Metric(stage.Batched))
	require.Equal(s, 20, s.Count("t"))
	c.Close()
}

// TestS21SecureTimestamp: where no session may set its time, rows that depend on the
// time are relayed, and the others are batched.
func TestS21SecureTimestamp(t *testing.T) {
	t.Parallel()
	s := stage.New(t, servers.MariaDB(t, "--secure-timestamp=YES"))
	s.Start()
	s.Root("CREATE TABLE t (k INT PRIMARY KEY, at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)", "CREATE TABLE u (k INT PRIMARY KEY)")
	c := s.Through("app")
	before := s.Metric(stage.Batched)
	c.Exec(inserts(1, 20, "INSERT INTO t (k) VALUES (%d)")...)
	require.Equal(t, before, s.Metric(stage.Batched), "%v", s.RelayedFor())
	c.Warm("INSERT INTO u VALUES (%d)")
	c.Holds("INSERT INTO u VALUES (1)")
	s.Flush()
	require.Equal(t, 1, s.Count("u WHERE k = 1"))
	require.Equal(t, 20, s.Count("t"))
	require.Zero(t, s.Metric(stage.Rejects))
}

// TestS22ColumnList: values go to the columns that they were accepted for, although a
// DDL past sluice has moved the columns.
func TestS22ColumnList(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		c := s.Through("app")
		s.Root("CREATE TABLE t (a INT PRIMARY KEY, b INT DEFAULT 5)")
		c.Warm("INSERT INTO t VALUES (%d, 7)")
		c.Exec("BEGIN")
		c.Warm("INSERT INTO t VALUES (%d, 7)")
		c.Exec("COMMIT", "BEGIN")
		c.Holds("INSERT INTO t VALUES (1, 7)", "INSERT INTO t VALUES (2, 7)")
		s.Root("ALTER TABLE t ADD COLUMN z INT DEFAULT 3 FIRST, MODIFY COLUMN b INT FIRST")
		_, err := c.Try("COMMIT")
		require.NoError(s, err)
		require.Equal(s, []string{"1,7,3", "2,7,3"}, s.Stored("SELECT a, b, z FROM t WHERE a < 1000"), "held")

		s.Root("DROP TABLE t", "CREATE TABLE t (a INT PRIMARY KEY, b INT DEFAULT 5)")
		c.Exec("CREATE TABLE other (a INT)") // sluice looks again
		c.Warm("INSERT INTO t VALUES (%d, 7)")
		c.Holds("INSERT INTO t VALUES (1, 7)", "INSERT INTO t VALUES (2, 7)")
		s.Root("ALTER TABLE t MODIFY COLUMN a INT AFTER b")
		s.Flush()
		require.Empty(s, s.Stored("SELECT * FROM t WHERE NOT (b = 7)"), "journaled")
		require.GreaterOrEqual(s, s.Count("t WHERE a < 1000")+s.Metric(stage.Rejects), 2, "stored or rejected")
	})
}
