package semantics

import (
	"strings"
	"testing"

	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// unseen are ways to a temporary table, or to other session variables, that no
// reader of the statement's text alone would find.
var unseen = []string{
	"CREATE TEMPORARY TABLE t (b VARCHAR(30), a INT PRIMARY KEY, at TIMESTAMP NULL)",
	"CALL p()",
	"CALL p_zone()",
	"SELECT f()",
	"SELECT f_zone()",
	"SELECT `f` ()",
	"SELECT * FROM v",
	"SELECT * FROM v_zone",
	"SELECT COUNT(*) FROM w",
	"SELECT x FROM w_zone WHERE x = 1",
	"SELECT 1 FROM DUAL WHERE EXISTS (SELECT * FROM v)",
	"SELECT 1 FROM u, v_zone",
	"DO f()",
	"DO f_zone()",
	"SET @x = f()",
	"SET @x = f_zone()",
	"SET time_zone = '+07:00'",
	"SET @@session.time_zone = '+07:00'",
	"SET @a = 1, time_zone = '+07:00'",
	"/*!50000 SET time_zone = '+07:00' */",
	"SELECT f_zone() INTO @x",
	"UPDATE u SET x = f_zone()",
	"DELETE FROM u WHERE f_zone() = x",
	"INSERT INTO u VALUES (f_zone())",
	"INSERT INTO triggered VALUES (1)",
	"PREPARE s FROM 'CALL p()'; EXECUTE s",
	"PREPARE s FROM 'SET time_zone = ''+07:00'''; EXECUTE s",
	"SELECT 1; CALL p()",
	"SELECT 1; SET time_zone = '+07:00'",
	"SET GLOBAL general_log = 0; SELECT 1", // refused
	"SET NAMES latin1",
	"SET sql_mode = ''",
	"SET sql_mode = 'ANSI_QUOTES'",
	"SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
}

// unseenMaria and unseenMySQL are those that only one of them has.
var (
	unseenMaria = []string{
		"EXECUTE IMMEDIATE 'CALL p()'",
		"SET STATEMENT max_statement_time = 10 FOR CALL p_zone()",
		"BEGIN NOT ATOMIC SET time_zone = '+07:00'; END",
		"CREATE OR REPLACE TEMPORARY TABLE t (b VARCHAR(30), a INT PRIMARY KEY, at TIMESTAMP NULL)",
		"VALUES (f_zone())",
	}
	unseenMySQL = []string{
		"TABLE v_zone",
		"VALUES ROW(f_zone())",
		"WITH c AS (SELECT f_zone()) SELECT * FROM c",
		"SELECT /*+ SET_VAR(sql_mode = '') */ 1",
	}
)

// TestS04TemporaryTables: whatever makes a temporary table over the target, or moves
// a session variable, unseen, the rows that follow go where they would go directly,
// and mean what they would mean.
func TestS04TemporaryTables(t *testing.T) {
	const temporary = "CREATE TEMPORARY TABLE t (b VARCHAR(30), a INT PRIMARY KEY, at TIMESTAMP NULL)"
	const zone = "SET time_zone = '+07:00'"
	setup := []string{
		"CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(30), at TIMESTAMP NULL)",
		"CREATE TABLE u (x INT)", "CREATE TABLE triggered (x INT)",
		"CREATE PROCEDURE p() " + temporary,
		"CREATE PROCEDURE p_zone() " + zone,
		"CREATE FUNCTION f() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN " + temporary + "; RETURN 1; END",
		"CREATE FUNCTION f_zone() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN " + zone + "; RETURN 1; END",
		"CREATE VIEW v AS SELECT f() AS x", "CREATE VIEW v_zone AS SELECT f_zone() AS x",
		"CREATE VIEW w AS SELECT * FROM v", "CREATE VIEW w_zone AS SELECT * FROM v_zone",
		"CREATE TRIGGER g BEFORE INSERT ON triggered FOR EACH ROW " + zone,
		"INSERT INTO u VALUES (5)",
	}
	const insert = `INSERT INTO t VALUES (%d, 'a\\"b', '2020-06-01 12:00:00')`
	const named = `INSERT INTO t (a, b, at) VALUES (%d, 'a\\"b', '2020-06-01 12:00:00')`
	stage.Each(t, func(s *stage.Stage) {
		ways := append([]string(nil), unseen...)
		if s.Server.Kind == servers.KindMariaDB {
			ways = append(ways, unseenMaria...)
		} else {
			ways = append(ways, unseenMySQL...)
		}
		s.Root(setup...)
		again := []string{"DELETE FROM t", "DELETE FROM u", "INSERT INTO u VALUES (5)", "DELETE FROM triggered"}
		for _, way := range ways {
			play := join(inserts(1, 4, insert), inserts(101, 4, named))
			for _, statement := range strings.Split(way, "; EXECUTE") {
				if statement == " s" {
					statement = "EXECUTE s"
				}
				play = append(play, statement)
			}
			play = join(play, inserts(11, 4, insert), inserts(111, 4, named),
				[]string{"SELECT COUNT(*) FROM t", "DROP TEMPORARY TABLE IF EXISTS t", "SELECT a, b, UNIX_TIMESTAMP(at) FROM t ORDER BY a"},
				inserts(21, 12, named), []string{"SELECT a, b, UNIX_TIMESTAMP(at) FROM t ORDER BY a"})
			script{again: again, play: play, errors: true}.run(s)
			script{again: again, play: join([]string{"BEGIN"}, play, []string{"COMMIT"}), errors: true}.run(s)
		}
	})
}
