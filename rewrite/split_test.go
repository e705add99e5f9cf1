package rewrite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// cut is what Split makes of text: head, rows and tail, or the reason.
func cut(text string, lex *Lex) []string {
	var rows Rows
	in, why := Split(&rows, []byte(text), lex)
	if why != "" {
		return []string{"! " + string(why)}
	}
	out := []string{text[in.Head.Start:in.Head.End]}
	for _, c := range in.Columns {
		out = append(out, text[c.Start:c.End])
	}
	return append(out, describe([]byte(text), &rows), text[in.Tail.Start:in.Tail.End])
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"INSERT INTO t VALUES (1)", []string{"INSERT INTO t VALUES", "int 1", ""}},
		{"insert t value(1)", []string{"insert t value", "int 1", ""}},
		{"REPLACE INTO d.t(a, `b`) VALUES\n(1,2);", []string{"REPLACE INTO d.t(a, `b`) VALUES", "int 1, int 2", ""}},
		{" /* a; b */ INSERT /* c */ IGNORE INTO t (a) VALUES (1) -- x", []string{" /* a; b */ INSERT /* c */ IGNORE INTO t (a) VALUES", "int 1", ""}},
		{"INSERT INTO t VALUES (1),(2) ON DUPLICATE KEY UPDATE a=VALUES(a) /* x */ ;; ", []string{"INSERT INTO t VALUES", "int 1 / int 2", "ON DUPLICATE KEY UPDATE a=VALUES(a)"}},
		{"INSERT INTO t VALUES (1)ON DUPLICATE KEY UPDATE a=';' # x", []string{"INSERT INTO t VALUES", "int 1", "ON DUPLICATE KEY UPDATE a=';'"}},
		{"INSERT INTO daily_values VALUES (1)", []string{"INSERT INTO daily_values VALUES", "int 1", ""}},
		{"INSERT INTO `values` VALUES (1)", []string{"INSERT INTO `values` VALUES", "int 1", ""}},
		{"INSERT INTO value VALUE (1)", []string{"INSERT INTO value VALUE", "int 1", ""}},
		{"INSERT INTO d.values VALUES (1)", []string{"INSERT INTO d.values VALUES", "int 1", ""}},
		{"INSERT INTO d.1t VALUES (1)", []string{"INSERT INTO d.1t VALUES", "int 1", ""}},
		{"INSERT INTO t /* VALUES (1) */ (value) VALUES (2)", []string{"INSERT INTO t /* VALUES (1) */ (value) VALUES", "int 2", ""}},
		{"INSERT INTO `a``VALUES (1)` VALUES (2)", []string{"INSERT INTO `a``VALUES (1)` VALUES", "int 2", ""}},
		{"INSERT INTO t (t.a, d.t.b) VALUES (1,2)", []string{"INSERT INTO t (t.a, d.t.b) VALUES", "int 1, int 2", ""}},
		{"INSERT INTO таблица VALUES (1)", []string{"INSERT INTO таблица VALUES", "int 1", ""}},
		{"INSERT INTO t SET a=1, `b` = 'x' , c=DEFAULT ;", []string{"INSERT INTO t SET", "a", "`b`", "c", "int 1, string 'x', default DEFAULT", ""}},
		{"INSERT INTO t SET`a`=1+1 ON DUPLICATE KEY UPDATE a=2", []string{"INSERT INTO t SET", "`a`", "expr 1+1", "ON DUPLICATE KEY UPDATE a=2"}},

		{"SELECT 1", []string{"! " + string(ReasonNotInsert)}},
		{"", []string{"! " + string(ReasonNotInsert)}},
		{"INSERT INTO t SELECT 1", []string{"! " + string(ReasonNotInsert)}},
		{"INSERT INTO t (SELECT 1)", []string{"! " + string(ReasonSelect)}},
		{"INSERT INTO t TABLE s", []string{"! " + string(ReasonNotInsert)}},
		{"INSERT INTO t() VALUES()", []string{"! " + string(ReasonNotInsert)}},
		{"INSERT INTO t VALUES ()", []string{"! " + string(ReasonEmptyRow)}},
		{"INSERT LOW_PRIORITY INTO t VALUES (1)", []string{"! " + string(ReasonModifier)}},
		{"INSERT INTO t PARTITION (p0) VALUES (1)", []string{"! " + string(ReasonPartition)}},
		{"INSERT INTO t VALUES (1); SELECT 1", []string{"! " + string(ReasonMulti)}},
		{"INSERT INTO t VALUES (1); -- end", []string{"! " + string(ReasonMulti)}},
		{"INSERT INTO t VALUES (1) RETURNING a", []string{"! " + string(ReasonReturning)}},
		{"INSERT INTO t VALUES (1) AS n ON DUPLICATE KEY UPDATE a=n.a", []string{"! " + string(ReasonRowAlias)}},
		{"INSERT INTO t VALUES (1) UNION SELECT 1", []string{"! " + string(ReasonTail)}},
		{"INSERT INTO t VALUES (1) + (2)", []string{"! " + string(ReasonTail)}},
		{"INSERT INTO t VALUES (1) /*! ON DUPLICATE */ KEY /*!UPDATE*/ a=1", []string{"! " + string(ReasonExecutable)}},
		{"INSERT /*+ SET_VAR(x=1) */ INTO t VALUES (1)", []string{"! " + string(ReasonExecutable)}},
		{"INSERT INTO t SET t.a=1", []string{"! " + string(ReasonQualified)}},
		{"INSERT INTO t SET a=b", []string{"! " + string(ReasonIdentifier)}},
		{"INSERT INTO t SET a:=1", []string{"! " + string(ReasonSyntax)}},
		{"INSERT INTO t SET a=1 COLLATE x", []string{"! " + string(ReasonTail)}},
		{"INSERT INTO \"t\" VALUES (1)", []string{"! " + string(ReasonNotInsert)}},
		{"INSERT INTO `t\xe3` VALUES (1)", []string{"! " + string(ReasonForeignBytes)}},
	} {
		require.Equal(t, c.want, cut(c.text, plainLex()), "%s", c.text)
	}
	ansi := plainLex()
	ansi.ANSIQuotes = true
	require.Equal(t, []string{`INSERT INTO "t VALUES (1)" VALUES`, "int 2", ""}, cut(`INSERT INTO "t VALUES (1)" VALUES (2)`, ansi))
	gbk := plainLex()
	gbk.Charset = "gbk"
	require.Equal(t, []string{"! " + string(ReasonForeignBytes)}, cut("INSERT INTO `t\x81` VALUES (1)", gbk))
}

func TestTrimTail(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" ; ; \n", ""},
		{" -- x\n/* y */", ""},
		{" on duplicate key update a=1 -- x", "on duplicate key update a=1"},
		{" ON DUPLICATE /* in */ KEY UPDATE a='/* ' ; ", "ON DUPLICATE /* in */ KEY UPDATE a='/* '"},
	} {
		span, why := TrimTail([]byte(c.text), 0, plainLex())
		require.Empty(t, why)
		require.Equal(t, c.want, c.text[span.Start:span.End], "%q", c.text)
	}
	_, why := TrimTail([]byte(" ON DUPLICATE KEY UPDATE a='x"), 0, plainLex())
	require.Equal(t, ReasonUnclosed, why)
}

func TestIsInsert(t *testing.T) {
	for text, want := range map[string]bool{
		"INSERT INTO t": true, "insert\nt": true, " \t/* x */ -- y\nReplace t": true, "#\nINSERT t": true,
		"INSERT": false, "INSERTS t": false, "": false, "SELECT 1": false, "/*! INSERT */ t": false, "INSERTé t": false,
		"/* x": false, "(INSERT t)": false,
	} {
		require.Equal(t, want, IsInsert([]byte(text)), "%q", text)
	}
}
