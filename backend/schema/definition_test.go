package schema

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/test/servers"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		raw, text string
		base      bool
	}{
		{"CREATE TABLE `t` (\n  `a` int\n) ENGINE=InnoDB AUTO_INCREMENT=77 CHARSET=utf8mb4",
			"CREATE TABLE `t` (\n  `a` int\n) ENGINE=InnoDB CHARSET=utf8mb4", true},
		{"CREATE TABLE \"t`\" (\n  \"a\"\"b\" int DEFAULT 'x\"y'\n)", "CREATE TABLE `t``` (\n  `a\"b` int DEFAULT 'x\"y'\n)", true},
		{"CREATE TABLE `t` (`a` int COMMENT 'it''s \\' AUTO_INCREMENT=9', `AUTO_INCREMENT=3` int)",
			"CREATE TABLE `t` (`a` int COMMENT 'it''s \\' AUTO_INCREMENT=9', `AUTO_INCREMENT=3` int)", true},
		{"CREATE TABLE t (auto_increment int, CHECK (auto_increment=5))", "CREATE TABLE t (auto_increment int, CHECK (auto_increment=5))", true},
		{"CREATE TEMPORARY TABLE `t` (`a` int)", "CREATE TEMPORARY TABLE `t` (`a` int)", false},
		{"CREATE TABLE `t` (`a` int) ENGINE=InnoDB SEQUENCE=1", "CREATE TABLE `t` (`a` int) ENGINE=InnoDB SEQUENCE=1", false},
		{"CREATE TABLE `TEMPORARY` (`a` int) /* AUTO_INCREMENT=1 */", "CREATE TABLE `TEMPORARY` (`a` int) /* AUTO_INCREMENT=1 */", true},
	} {
		d := describe(c.raw)
		require.Equal(t, c.text, d.text)
		require.Equal(t, c.base, d.base, c.raw)
	}
	require.True(t, describe("CREATE TABLE t (a int)\n/*!50100 PARTITION BY HASH (`a`)\nPARTITIONS 3 */").partitioned)
	require.False(t, describe("CREATE TABLE t (a int COMMENT 'PARTITION BY x')").partitioned)
}

// FuzzDescribe: whatever a server prints, reading it ends, and the canonical
// form is canonical.
func FuzzDescribe(f *testing.F) {
	f.Add("CREATE TABLE \"t\" (\"a\"\"\" int DEFAULT 'x\\'' COMMENT '''') AUTO_INCREMENT=5 /*!50100 PARTITION BY HASH (`a`) */")
	f.Add("'\\")
	f.Add("`/*")
	f.Add("a\"` AUTO_INCREMENT=1 AUTO_INCREMENT=2")
	f.Fuzz(func(t *testing.T, raw string) {
		once := describe(raw)
		if strings.Count(raw, "AUTO_INCREMENT") > 1 || strings.ContainsAny(raw, "\"") && unterminated(raw) {
			return
		}
		require.Equal(t, once.text, describe(once.text).text)
	})
}

func unterminated(raw string) bool {
	for _, t := range scan(raw) {
		if t.kind == quoted && (t.end-t.start < 2 || raw[t.end-1] != raw[t.start]) {
			return true
		}
	}
	return false
}

// TestS04OwnView: what a session's own connection sees, whatever its settings.
func TestS04OwnView(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s)
		other := service(t, s)
		other.run(t, "USE "+schema, "CREATE TABLE base (id INT PRIMARY KEY, `v\"x` INT DEFAULT 3 COMMENT 'a''b') AUTO_INCREMENT=9",
			"CREATE VIEW view_ AS SELECT id FROM base", "CREATE TABLE hidden (id INT PRIMARY KEY)")
		want := mustLoad(t, s, other, schema, "base").Definition
		user := account(t, s, "GRANT INSERT, CREATE TEMPORARY TABLES, SHOW VIEW, SELECT, EXECUTE ON "+schema+".*")
		q := login(t, s, user, user)
		q.run(t, "USE "+schema)
		view := func(c wire.Querier, in, table string) (bool, string) {
			base, text, err := OwnView(c, in, table)
			require.NoError(t, err)
			return base, text
		}
		modes := []string{"", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT"}
		if s.Kind == servers.KindMariaDB {
			modes = append(modes, "ORACLE")
		}
		for _, mode := range modes {
			for _, charset := range []string{"utf8mb4", "latin1", "gbk"} {
				q.run(t, "SET NAMES "+charset, "SET sql_mode='"+mode+"'")
				for _, in := range []string{schema, ""} {
					base, text := view(q, in, "base")
					require.True(t, base)
					require.Equal(t, want, text, "%s %s", mode, charset)
					base, _ = view(q, in, "view_")
					require.False(t, base)
				}
			}
		}
		q.run(t, "SET sql_quote_show_create=0")
		base, _ := view(q, schema, "base")
		require.True(t, base)
		q.run(t, "SET sql_mode='ANSI_QUOTES'", "CREATE TEMPORARY TABLE hidden (x INT)", "CREATE TEMPORARY TABLE own (x INT)")
		for _, table := range []string{"hidden", "own"} {
			base, _ = view(q, "", table)
			require.False(t, base, table)
		}
		// information_schema is blind to it: nothing else would do.
		r := q.run(t, "SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA='"+schema+"' AND TABLE_NAME='hidden'")
		require.Equal(t, "BASE TABLE", string(r.Rows[0][0]))
		base, _ = view(other, schema, "hidden")
		require.True(t, base)

		// Made unseen, by a routine.
		other.run(t, "CREATE PROCEDURE p() CREATE TEMPORARY TABLE base (x INT)")
		q.run(t, "CALL p()")
		base, _ = view(q, schema, "base")
		require.False(t, base)
		q.run(t, "DROP TEMPORARY TABLE base")
		base, _ = view(q, schema, "base")
		require.True(t, base)

		_, _, err := OwnView(q, schema, "nosuch")
		require.True(t, refused(err, errNoSuchTable), "%v", err)
		base, _, err = OwnView(q, schema, "\x81`")
		require.NoError(t, err)
		require.False(t, base)
		if s.Kind == servers.KindMariaDB {
			other.run(t, "CREATE SEQUENCE seq")
			base, _ = view(q, schema, "seq")
			require.False(t, base)
		}
	})
}
