package rewrite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// formOf splits text and parses its form.
func formOf(t *testing.T, text string, lex *Lex) (Form, Reason) {
	t.Helper()
	var rows Rows
	sql := []byte(text)
	in, why := Split(&rows, sql, lex)
	require.Empty(t, why, "%s", text)
	var columns []string
	for _, c := range in.Columns {
		columns = append(columns, text[c.Start:c.End])
	}
	row := rows.Spans[0]
	return ParseForm(sql[:in.Head.End], sql[in.Tail.Start:in.Tail.End], in.Set, columns, sql[row.Start:row.End], lex)
}

// formOfTail parses the form of an INSERT with the assignments as its tail.
func formOfTail(assignments string, lex *Lex) (Form, Reason) {
	return ParseForm([]byte("INSERT INTO t VALUES"), []byte("ON DUPLICATE KEY UPDATE "+assignments), false, nil, []byte("(1)"), lex)
}

func TestParseForm(t *testing.T) {
	for _, c := range []struct {
		text string
		want Form
	}{
		{"INSERT INTO t VALUES (1,2)", Form{Table: "t", Width: 2}},
		{"REPLACE d.T (`A`, b) VALUES (1,2),(3,4)", Form{Replace: true, Schema: "d", Table: "T", Columns: []string{"A", "b"}, HasColumns: true, Width: 2}},
		{"INSERT /*T! x */ IGNORE INTO `t``x` (a) VALUE ('\xff')", Form{Ignore: true, Table: "t`x", Columns: []string{"a"}, HasColumns: true, Width: 1}},
		{"INSERT t SET a='x', `b c`=2", Form{Table: "t", Columns: []string{"a", "b c"}, HasColumns: true, Set: true, Width: 2}},
	} {
		f, why := formOf(t, c.text, plainLex())
		require.Empty(t, why, "%s", c.text)
		require.Equal(t, c.want, f, "%s", c.text)
	}
}

func TestParseFormTail(t *testing.T) {
	text := "INSERT INTO t (a,n) VALUES (1,2) ON DUPLICATE/* x */KEY UPDATE n = n + VALUES(A), t.u='\xe9', a=IFNULL(n,1)"
	f, why := formOf(t, text, plainLex())
	require.Empty(t, why)
	require.Equal(t, &Tail{
		Text:      "ON DUPLICATE/* x */KEY UPDATE n = n + VALUES(A), t.u='\xe9', a=IFNULL(n,1)",
		Assigned:  []string{"n", "u", "a"},
		Reads:     []string{"n", "A"},
		MayBeNull: true, NullOnlyByReads: true,
	}, f.Tail)

	for _, c := range []struct {
		tail                          string
		mayBeNull, onlyByReads, timed bool
	}{
		{"a=1", false, true, false},
		{"a=NULL", true, false, false},
		{"a=b", true, true, false},
		{"a=b/2", true, false, false},
		{"a=NULLIF(b,1)", true, false, false},
		{"a=NOW()", false, true, true},
		{"a=CURRENT_TIMESTAMP", false, true, true},
		{"a=UNIX_TIMESTAMP()", false, true, true},
		{"a=IF(VALUES(b)>b,VALUES(b),b)", true, true, false},
		{"a=GREATEST(a,VALUES(a))", true, true, false},
		{"a=CASE WHEN a IS NULL THEN 1 ELSE 2 END", true, true, false},
		{"a=CASE WHEN a IS NULL THEN 1 END", true, false, false},
		{"a=CAST(b AS SIGNED)", true, false, false},
		{"a=DATE'2020-01-01'", false, true, false},
		{"a=VALUES (a)", true, true, false},
	} {
		f, why := formOf(t, "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE "+c.tail, plainLex())
		require.Empty(t, why, "%s", c.tail)
		require.Equal(t, c.mayBeNull, f.Tail.MayBeNull, "%s", c.tail)
		require.Equal(t, c.onlyByReads, f.Tail.NullOnlyByReads, "%s", c.tail)
		require.Equal(t, c.timed, f.Tail.Timed, "%s", c.tail)
	}
}

func TestParseFormRefuses(t *testing.T) {
	for tail, want := range map[string]Reason{
		"id=LAST_INSERT_ID(id)":    ReasonFunction,
		"a=POINT(1)":               ReasonArguments,
		"a=ABS(1,2)":               ReasonArguments,
		"a=f(1)":                   ReasonFunction,
		"a=d.f(1)":                 ReasonQualified,
		"a=`concat`('x')":          ReasonFunctionBlank,
		"a=CONCAT ('x')":           ReasonFunctionBlank,
		"a=NOW ()":                 ReasonFunctionBlank,
		"a=NOW(6)":                 "NOW(6): finer than a second",
		"a=RAND()":                 ReasonFunction,
		"a=UUID()":                 ReasonFunction,
		"a=@x":                     ReasonIdentifier,
		"a=@@sql_mode":             ReasonIdentifier,
		"a=(SELECT 1)":             ReasonSubquery,
		"a=b IN (SELECT 1)":        ReasonSubquery,
		"a=DEFAULT":                ReasonTailExpression,
		"a=DEFAULT(a)":             ReasonTailExpression,
		"a=TIME'10:00:00'":         ReasonFunction,
		"a=CAST('1' AS TIME)":      ReasonTimeOfDay,
		"a=STR_TO_DATE('1', '%H')": ReasonFunction,
		"a=other.b":                ReasonTailTable,
		"a=new.b":                  ReasonTailTable,
		"other.a=1":                ReasonTailTable,
		"a=1 WHERE 1":              ReasonSyntax,
		"a=?":                      ReasonTailExpression,
		"a":                        ReasonSyntax,
	} {
		_, why := formOf(t, "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE "+tail, plainLex())
		require.Equal(t, want, why, "%s", tail)
	}
	for text, want := range map[string]Reason{
		"INSERT INTO t (a) VALUES (1,2)":                            ReasonColumnCount,
		"INSERT INTO t (x.a) VALUES (1)":                            ReasonQualified,
		"INSERT INTO t (a) SET a=1":                                 ReasonSyntax,
		"REPLACE INTO t VALUES (1) ON DUPLICATE KEY UPDATE a=1":     ReasonSyntax,
		"REPLACE IGNORE INTO t VALUES (1)":                          ReasonSyntax,
		"INSERT INTO VALUES VALUES (1)":                             ReasonSyntax,
		"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a=1 ON x": ReasonSyntax,
	} {
		_, why := formOf(t, text, plainLex())
		require.Equal(t, want, why, "%s", text)
	}
}
