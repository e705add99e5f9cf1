package compat

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// dialect is a set of capabilities that changes how commands are read or replies framed.
type dialect struct {
	name, caps string
	servers    string
	commands   bool // also for commands that are no statements
}

const (
	onBoth    = "mariadb mysql"
	onMariaDB = "mariadb"
	onMySQL   = "mysql"
)

var dialects = []dialect{
	{"today", "+transactions", onBoth, true},
	{"eof", "-deprecate_eof", onBoth, false},
	{"untracked", "-session_track", onBoth, false},
	{"bare", "-deprecate_eof,-session_track,-multi_statements,-multi_results,-ps_multi_results", onBoth, true},
	{"attributes", "+query_attributes", onMySQL, true},
	{"attributes_eof", "+query_attributes,-deprecate_eof", onMySQL, false},
	{"maria", "-long_password,+extended_metadata,+cache_metadata,+bulk_operations", onMariaDB, true},
	{"maria_eof", "-long_password,+extended_metadata,+cache_metadata,+bulk_operations,-deprecate_eof", onMariaDB, false},
}

// statements are one for each kind of reply. A ? is a parameter of the prepared form; the
// text form has the literal that follows in args.
var statements = []struct {
	sql  string
	args []argument
}{
	// OK: with counts, ids, warnings, info, state.
	{"DO 1", nil},
	{"DO ?", args(1)},
	{"INSERT INTO t (n, s) VALUES (?, ?)", args(7, "seven")},
	{"INSERT INTO t (n, s) VALUES (1, 'a'), (?, 'b'), (3, ?)", args(2, "c")},
	{"INSERT IGNORE INTO t (id, n) VALUES (1, 1), (2, 2)", nil},
	{"REPLACE INTO t VALUES (1, ?, 'replaced')", args(9)},
	{"UPDATE t SET n = n + ? WHERE n = 7", args(0)},
	{"UPDATE t SET s = CONCAT(s, '!') WHERE id < ?", args(3)},
	{"DELETE FROM t WHERE n = ?", args(-1)},
	{"SET @a = ?, autocommit = 1, time_zone = '+01:00'", args("x")},
	{"SELECT n INTO @a FROM t LIMIT 1", nil},
	{"CREATE TEMPORARY TABLE u AS SELECT * FROM t", nil},
	{"DROP TEMPORARY TABLE IF EXISTS u, v", nil},
	{"USE $S", nil},
	{"BEGIN", nil},
	{"COMMIT", nil},
	// ERR: of the parser, of the tables, of a value, of the statement's own.
	{"SELEKT ?", args(1)},
	{"", nil},
	{"SELECT * FROM no_such_table", nil},
	{"INSERT INTO t (id) VALUES (1)", nil},
	{"SIGNAL SQLSTATE '45001' SET MESSAGE_TEXT = 'a message', MYSQL_ERRNO = 40000", nil},
	// Result sets: of no row, one, many; of one column, many; of short values, long ones and NULL.
	{"SELECT 1", nil},
	{"SELECT ?, ?", args(1, "two")},
	{"SELECT * FROM t WHERE 1 = ?", args(0)},
	{"SELECT NULL, '', 0, x'00FF', 1.5, 2e0, CAST('2020-02-29 12:34:56.7' AS DATETIME(1)), CAST('-1:02:03' AS TIME)", nil},
	{"SELECT a.d, a.d + ?, REPEAT('x', a.d * b.d) FROM digits a, digits b, digits c ORDER BY a.d, b.d, c.d", args(1)},
	{"SELECT REPEAT('a', 250), REPEAT('b', 251), REPEAT('c', 65535), REPEAT('d', 65536), REPEAT('e', ?)", args(300000)},
	{"SELECT " + strings.Repeat("d, ", 199) + "d FROM digits WHERE d < ? ORDER BY d", args(3)},
	{"SELECT 1/0, CAST('abc' AS SIGNED)", nil},
	{"SHOW COUNT(*) WARNINGS", nil},
	{"SHOW TABLES", nil},
	{"SHOW CREATE TABLE t", nil},
	{"CHECK TABLE t", nil},
	{"INSERT INTO t (n, s) VALUES (?, 'back') RETURNING n, s", args(8)}, // MariaDB
	// ERR after rows.
	{"SELECT IF(d < 5, d, (SELECT d FROM digits)) FROM digits ORDER BY d", nil},
	{"SELECT d, EXP(d * ?) FROM digits ORDER BY d", args(100)},
	// Several results, the last of them OK, ERR or rows.
	{"CALL two(?)", args(5)},
	{"CALL none()", nil},
	{"CALL broken()", nil},
	{"CALL given(?, @b, @c)", args(3)},
	{"CALL nested()", nil},
	{"SELECT 1; INSERT INTO t (n) VALUES (4), (5); UPDATE t SET n = 6 WHERE n = 4; SELECT 2", nil},
	{"SELECT 1; SELECT * FROM no_such_table; SELECT 2", nil},
	{"CALL two(1); CALL none(); SELECT * FROM t WHERE 1 = 0; DO 1", nil},
	// A request for a file, alone and among others.
	{"LOAD DATA LOCAL INFILE 'one' INTO TABLE f", nil},
	{"LOAD DATA LOCAL INFILE 'two' INTO TABLE no_such_table", nil},
	{"SELECT 1; LOAD DATA LOCAL INFILE 'three' INTO TABLE f; LOAD DATA LOCAL INFILE 'four' INTO TABLE f; SELECT 2", nil},
}

// argument is a parameter: as literal in a text and as the scripts write it.
type argument struct{ literal, param string }

func args(values ...any) []argument {
	var out []argument
	for _, v := range values {
		if s, ok := v.(string); ok {
			out = append(out, argument{"'" + s + "'", "str=" + s})
		} else {
			out = append(out, argument{fmt.Sprint(v), fmt.Sprintf("int=%d", v)})
		}
	}
	return out
}

const matrixSetup = `# modes autocommit
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT, s VARCHAR(30))
CREATE TABLE f (a VARCHAR(100))
CREATE TABLE digits (d INT PRIMARY KEY)
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)
CREATE PROCEDURE two(x INT) BEGIN SELECT x; SELECT x, d FROM digits; END
CREATE PROCEDURE none() BEGIN SET @x = 1; END
CREATE PROCEDURE broken() BEGIN SELECT 1; INSERT INTO no_such_table VALUES (1); SELECT 2; END
CREATE PROCEDURE given(IN x INT, OUT y INT, INOUT z VARCHAR(10)) BEGIN SELECT x; SET y = x + 1, z = 'z'; END
CREATE PROCEDURE nested() BEGIN CALL two(1); CALL two(2); DELETE FROM t WHERE id = 5; END
# body
`

// TestMatrix has every kind of reply in every dialect, in the text protocol, in the binary
// one, and by a cursor that is fetched from.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		script := matrixSetup + "# servers " + d.servers + "\n# conn main caps=" + d.caps + "\n"
		for i, s := range statements {
			name := fmt.Sprintf("p%d", i)
			infile := strings.Repeat("# infile a line<0A>another", strings.Count(s.sql, "LOCAL INFILE")) + "\n"
			infile = strings.ReplaceAll(infile, "another# ", "another\n# ")
			text, params := s.sql, []string{}
			for _, a := range s.args {
				text = strings.Replace(text, "?", a.literal, 1)
				params = append(params, a.param)
			}
			bound := strings.Join(params, " | ")
			if text == "" {
				text = " "
			}
			script += infile + text + "\n# prepare " + name + " " + s.sql + "\n"
			script += infile + "# execute " + name + " " + bound + "\n"
			if bound != "" {
				script += "# execute " + name + " nobind " + bound + "\n"
			}
			script += infile + "# execute " + name + " cursor " + bound + "\n"
			for _, rows := range []int{1, 2, 1000, 1} {
				script += fmt.Sprintf("# fetch %s %d\n", name, rows)
			}
			script += fmt.Sprintf("# reset %s\n# execute %s cursor %s\n# close %s\n# fetch %s 1\n", name, name, bound, name, name)
		}
		play(t, "matrix_"+d.name, script+alive)
	}
}

// TestOldEndOfFile plays scripts of TestRelay with the old end-of-file packets.
func TestOldEndOfFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"results", "prepared"} {
		text, err := os.ReadFile("testdata/relay/" + name + ".sql")
		require.NoError(t, err)
		play(t, name+"_eof", strings.Replace(string(text), "\n# body\n", "\n# body\n# conn old caps=-deprecate_eof\n", 1))
	}
}

// commands are those that are neither statements nor texts: by their bytes, with payloads
// that are right, wrong and too short. What a payload may lead to is on a connection of
// its own.
var commands = []struct{ kind, payload string }{
	{"raw", ""},
	{"raw", "00"},
	{"raw_closed", "01"},
	{"raw_closed", "01 0000"},
	{"raw", "02"},
	{"raw", "02 2E2E"},
	{"raw_query", "03"},
	{"raw_query", "03 00"},
	{"raw_query", "03 3B"},
	{"raw_columns", "04"},
	{"raw_columns", "04 74 00"},
	{"raw_columns", "04 74 00 6E25"},
	{"raw_columns", "04 6E6F 00"},
	{"raw", "05"},
	{"raw", "05 78"},
	{"raw", "06"},
	{"raw", "06 78"},
	{"raw", "07"},
	{"raw", "07 04"},
	{"raw", "08"},
	{"raw", "08 00"},
	{"raw_text", "09"},
	{"raw_query", "0A"},
	{"raw", "0B"},
	{"raw", "0C"},
	{"raw", "0C FFFFFF7F"},
	{"raw", "0D"},
	{"raw", "0E"},
	{"raw", "0E 00112233"},
	{"raw", "0F"},
	{"raw", "10"},
	{"raw", "12"},
	{"raw", "12 04000000 0100 01000000 6E6F6E65"},
	{"raw", "13"},
	{"raw", "13 017401 74"},
	{"raw", "14"},
	{"raw", "15"},
	{"raw", "15 01000000 00 00 00 0000 00000000 00000000"},
	{"raw_prepare", "16"},
	{"raw_prepare", "16 00"},
	{"raw_query", "17"},
	{"raw_query", "17 FFFFFF7F 00 01000000"},
	{"raw_none", "18 FFFFFF7F 0000 6161"},
	{"raw_none", "19 FFFFFF7F"},
	{"raw", "1A"},
	{"raw", "1A FFFFFF7F"},
	{"raw", "1B"},
	{"raw", "1B 0000"},
	{"raw", "1B 0100"},
	{"raw", "1B 0700"},
	{"raw_rows", "1C"},
	{"raw_rows", "1C FFFFFF7F 01000000"},
	{"raw", "1D"},
	{"raw", "1E"},
	{"raw", "1E 0100 01000000 00000000 0400000000000000 00000000"},
	{"raw", "1F"},
	{"raw", "1F 0000"},
	{"raw", "20"},
	{"raw", "20 0000000000000000"},
	{"raw", "21"},
	{"raw", "21 0000000000000000"},
	{"raw_query", "FA"},
	{"raw_query", "FA FFFFFF7F 8000"},
}

// TestCommandMatrix has every command byte there is.
func TestCommandMatrix(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		if !d.commands {
			continue
		}
		script := matrixSetup + "# servers " + d.servers + "\n"
		known := map[string]bool{"11": true} // COM_CHANGE_USER is a login, and tested there
		for i, c := range commands {
			script += fmt.Sprintf("# conn c%d caps=%s\nSET @a = 1\n", i, d.caps)
			if strings.HasPrefix(c.payload, "09") || strings.HasPrefix(c.payload, "0A") {
				script += "# mask\n"
			}
			script += "# cmd " + c.kind + " " + c.payload + "\nSELECT @a\n"
			if len(c.payload) > 1 {
				known[c.payload[:2]] = true
			}
		}
		script += "# conn main caps=" + d.caps + "\n"
		for b := range 256 {
			if code := fmt.Sprintf("%02X", b); !known[code] {
				script += "# cmd raw " + code + "\n# cmd raw " + code + " 0000000000000000\nSELECT 1\n"
			}
		}
		play(t, "commands_"+d.name, script+alive)
	}
}

// alive is the end of a script whose connection has to be in step to the end.
const alive = "CREATE TABLE alive (a INT)\n# stored SHOW TABLES LIKE 'alive' => alive\n"

// play runs a script that was made up on the shared servers.
func play(t *testing.T, name, text string) {
	t.Helper()
	script, err := Parse(name, text)
	require.NoError(t, err)
	for _, kind := range script.Servers {
		t.Run(name+"/"+string(kind), func(t *testing.T) {
			t.Parallel()
			Run(t, servers.Shared(t, kind), servers.SharedSluice(t, kind), script)
		})
	}
}
