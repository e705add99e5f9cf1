package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/rewrite"
	"github.com/sluice-db/sluice/test/servers"
)

// updateEnv, set to anything, writes the expectations of the golden files anew.
const updateEnv = "SLUICE_UPDATE_GOLDEN"

// TestLoadGolden loads the table t of each case in testdata. A case is the
// statements that make the tables, a line ----, and what Load says; cases are
// parted by lines of ====.
func TestLoadGolden(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		path := filepath.Join("testdata", string(s.Kind)+".golden")
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		q := service(t, s)
		var out []string
		for _, c := range strings.Split(string(content), "\n====\n") {
			setup, want, _ := strings.Cut(c, "\n----")
			schema := fresh(t, s)
			q.run(t, "USE "+schema, "SET SESSION sql_mode=DEFAULT")
			for _, statement := range strings.Split(setup, ";\n") {
				if statement = strings.TrimSuffix(strings.TrimSpace(statement), ";"); statement != "" {
					q.run(t, statement)
				}
			}
			got := strings.ReplaceAll(describeTable(mustLoad(t, s, q, schema, "t")), schema, "SCHEMA")
			if os.Getenv(updateEnv) == "" {
				require.Equal(t, strings.TrimSpace(want), got, setup)
			}
			out = append(out, setup+"\n----\n"+got)
			q.run(t, "DROP DATABASE "+schema)
		}
		if os.Getenv(updateEnv) != "" {
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(out, "\n====\n")+"\n"), 0o644))
		}
	})
}

var defaultNames = map[rewrite.DefaultKind]string{
	rewrite.DefaultNone: "none", rewrite.DefaultLiteral: "literal", rewrite.DefaultNow: "now",
	rewrite.DefaultNowFrac: "nowfrac", rewrite.DefaultExpr: "expr", rewrite.DefaultUnsafe: "unsafe",
}

func describeTable(t *rewrite.Table) string {
	var lines []string
	for _, c := range t.Columns {
		l := fmt.Sprintf("%s %s (%s)", c.Name, c.Type, c.FullType)
		for _, p := range []struct {
			on   bool
			text string
		}{
			{c.Length != 0, fmt.Sprintf("length=%d", c.Length)},
			{c.Precision != 0, fmt.Sprintf("precision=%d", c.Precision)},
			{c.Scale != 0, fmt.Sprintf("scale=%d", c.Scale)},
			{c.Charset != "", c.Charset + "/" + c.Collation},
			{c.Unsigned, "unsigned"}, {c.Nullable, "null"}, {c.AutoIncrement, "auto_increment"},
			{c.Generated, "generated"}, {c.Invisible, "invisible"}, {c.OnUpdateNow, "onupdate"},
		} {
			if p.on {
				l += " " + p.text
			}
		}
		lines = append(lines, l+" default="+defaultNames[c.Default])
	}
	key := func(k rewrite.Key) string {
		l := k.Name + ":"
		for _, p := range k.Parts {
			l += fmt.Sprintf(" %d", p.Column)
			if p.Prefix != 0 {
				l += fmt.Sprintf("/%d", p.Prefix)
			}
			if p.Desc {
				l += "desc"
			}
		}
		return l
	}
	if t.Primary != nil {
		lines = append(lines, "primary "+key(*t.Primary))
	}
	for _, k := range t.Unique {
		lines = append(lines, "unique "+key(k))
	}
	l := "engine=" + t.Engine
	for _, p := range []struct {
		on   bool
		text string
	}{
		{t.Base, "base"}, {t.Transactional, "transactional"}, {t.Temporary, "temporary"}, {t.Triggers, "triggers"},
		{t.SystemVersioned, "versioned"}, {t.Partitioned, "partitioned"}, {t.SelfReferencing, "self"}, {t.Checks, "checks"},
	} {
		if p.on {
			l += " " + p.text
		}
	}
	lines = append(lines, l)
	if len(t.Parents) > 0 {
		lines = append(lines, "parents "+strings.Join(t.Parents, " "))
	}
	if len(t.Children) > 0 {
		lines = append(lines, "children "+strings.Join(t.Children, " "))
	}
	if t.Definition != "" {
		lines = append(lines, t.Definition)
	}
	return strings.Join(lines, "\n")
}

// TestLoadSessionState: what a connection takes on for a shape must not change
// what is read.
func TestLoadSessionState(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s)
		q := service(t, s)
		q.run(t, "USE "+schema, "CREATE TABLE `we``ird \"t\"` (id INT PRIMARY KEY, `é\"` VARCHAR(9) DEFAULT 'a''b\\\\c\"',"+
			" w VARCHAR(50) DEFAULT (concat('it''s \"', id)) COMMENT 'é') AUTO_INCREMENT=7")
		want := mustLoad(t, s, q, schema, "we`ird \"t\"")
		require.True(t, want.Base)
		require.Equal(t, `é"`, want.Columns[1].Name)
		require.Equal(t, rewrite.DefaultExpr, want.Columns[2].Default)
		modes := []string{"", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE"}
		if s.Kind == servers.KindMariaDB {
			modes = append(modes, "ORACLE", "MSSQL", "NO_TABLE_OPTIONS,NO_KEY_OPTIONS,NO_FIELD_OPTIONS", "EMPTY_STRING_IS_NULL")
		}
		for _, mode := range modes {
			for _, charset := range []string{"utf8mb4", "latin1", "gbk", "binary"} {
				q.run(t, "SET sql_mode='"+mode+"', character_set_client="+charset+", character_set_connection=latin1")
				got := mustLoad(t, s, q, schema, "we`ird \"t\"")
				require.Equal(t, want, got, "%s %s", mode, charset)
				why, err := Unchanged(q, want)
				require.NoError(t, err)
				require.Empty(t, why, "%s %s", mode, charset)
				if charset == "latin1" {
					r := q.run(t, "SELECT @@character_set_client, @@character_set_results, @@sql_mode")
					require.Equal(t, "latin1", string(r.Rows[0][0]))
					require.Equal(t, "utf8mb4", string(r.Rows[0][1]))
				}
			}
		}
	})
}

// TestLoadNames: names that are no plain words, in the table and in its relatives.
func TestLoadNames(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s) + "-é@'b\\"
		q := service(t, s)
		q.run(t, "CREATE DATABASE "+ident(schema), "USE "+ident(schema),
			"CREATE TABLE `tä b/c` (id INT PRIMARY KEY)",
			"CREATE TABLE `x'y` (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES `tä b/c` (id))")
		parent := mustLoad(t, s, q, schema, "tä b/c")
		require.Equal(t, []string{schema + ".x'y"}, parent.Children)
		child := mustLoad(t, s, q, schema, "x'y")
		require.Equal(t, []string{schema + ".tä b/c"}, child.Parents)
		for _, table := range []string{"ta b/c", "TÄ B/C", "X'Y", "nosuch"} {
			_, err := Load(q, dialect(s), version(t, s), schema, table)
			require.ErrorIs(t, err, ErrNoTable, table)
		}
		_, err := Load(q, dialect(s), version(t, s), "nosuch", "t")
		require.ErrorIs(t, err, ErrNoTable)
	})
}

// TestLoadLowerCase: on a server that does not tell A from a Load gives the
// server's spelling.
func TestLoadLowerCase(t *testing.T) {
	s := servers.MariaDB(t, "--lower-case-table-names=1")
	q := service(t, s)
	q.run(t, "CREATE DATABASE Mixed", "CREATE TABLE Mixed.Parent (id INT PRIMARY KEY)",
		"CREATE TABLE Mixed.Child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES Mixed.Parent (id))")
	got := mustLoad(t, s, q, "MIXED", "pArent")
	require.Equal(t, "mixed", got.Schema)
	require.Equal(t, "parent", got.Name)
	require.Equal(t, []string{"mixed.child"}, got.Children)

	tables, complete := NewGraph(GraphOptions{Dialect: dialect(s), Version: version(t, s), Source: lend(q)}).
		Closure(t.Context(), "mixeD", "CHILD")
	require.True(t, complete)
	require.Equal(t, []string{"mixed.child", "mixed.parent"}, tables)
}

// TestLoadWithoutTrigger: what cannot be seen is an error that says how to mend it.
func TestLoadWithoutTrigger(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s)
		s.Exec(t, "CREATE TABLE "+schema+".t (id INT PRIMARY KEY)")
		user := account(t, s, "GRANT SELECT, INSERT, UPDATE, DELETE ON "+schema+".*")
		q := login(t, s, user, user)
		_, err := Load(q, dialect(s), version(t, s), schema, "t")
		var lacks *PrivilegeError
		require.ErrorAs(t, err, &lacks)
		s.Exec(t, lacks.Mend)
		require.True(t, mustLoad(t, s, q, schema, "t").Base)
	})
}

// TestLoadAfterDDL: a load shows DDL that was committed a moment ago.
func TestLoadAfterDDL(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s)
		q, other := service(t, s), service(t, s)
		other.run(t, "USE "+schema, "CREATE TABLE t (id INT PRIMARY KEY)")
		for i := range 20 {
			require.Len(t, mustLoad(t, s, q, schema, "t").Columns, i+1)
			other.run(t, fmt.Sprintf("ALTER TABLE t ADD COLUMN c%d INT", i))
		}
		other.run(t, "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.c0=1")
		require.True(t, mustLoad(t, s, q, schema, "t").Triggers)
		other.run(t, "DROP TRIGGER tr", "CREATE TABLE c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES t (id))")
		got := mustLoad(t, s, q, schema, "t")
		require.False(t, got.Triggers)
		require.Equal(t, []string{schema + ".c"}, got.Children)
	})
}

// TestSizes: sizes follow the table at once, also on MySQL.
func TestSizes(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s)
		q := login(t, s, "root", "")
		q.run(t, "USE "+schema, "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(900))")
		table := &rewrite.Table{Schema: schema, Name: "t"}
		before, err := Sizes(q, table)
		require.NoError(t, err)
		require.Positive(t, before.BufferPool)
		require.EqualValues(t, 16384, before.PageSize)
		q.run(t, "INSERT INTO t (v) VALUES (REPEAT('x', 900))")
		for range 11 {
			q.run(t, "INSERT INTO t (v) SELECT v FROM t")
		}
		q.run(t, "ANALYZE TABLE t")
		after, err := Sizes(q, table)
		require.NoError(t, err)
		require.InDelta(t, 2048, after.Rows, 400)
		require.Greater(t, after.DataLength, uint64(1_500_000))
		require.InDelta(t, 1100, after.RowLength, 500)
		_, err = Sizes(q, &rewrite.Table{Schema: schema, Name: "nosuch"})
		require.ErrorIs(t, err, ErrNoTable)
	})
}
