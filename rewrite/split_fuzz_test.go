package rewrite

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/stretchr/testify/require"
)

var insertSeeds = []string{
	"INSERT INTO t VALUES (1)", "REPLACE d.t (a,`b`) VALUES (1,'x'),(2,\"y\");", "insert ignore t value(1) -- x",
	"INSERT INTO t SET a=1, b='x' ON DUPLICATE KEY UPDATE a=a+1;", "INSERT INTO `values` (value) VALUES (1) ON DUPLICATE KEY UPDATE value=VALUES(value)",
	"INSERT INTO VALUES_a_VALUE_b (value, c_VALUES_d) values (1,1)", "INSERT INTO t VALUES (1); SELECT 1", "INSERT INTO \"t\" VALUES ('a')",
	"INSERT INTO t VALUES (1) AS new ON DUPLICATE KEY UPDATE a=new.a", "INSERT INTO t SELECT 1", "INSERT INTO t () VALUES ()",
}

// checkInsert requires that an accepted statement is the same to the TiDB
// parser: its table, columns, rows and tail.
func checkInsert(t *testing.T, text string, bits byte) {
	lex := modes(bits)
	sql := []byte(text)
	var rows Rows
	in, why := Split(&rows, sql, lex)
	if why != "" {
		return
	}
	require.True(t, IsInsert(sql), "%q", text)
	require.Equal(t, StmtInsert, Classify(sql, lex).Kind, "%q", text)
	require.LessOrEqual(t, in.Head.End, rows.Spans[0].Start)
	require.LessOrEqual(t, rows.Spans[rows.Len()-1].End, in.Tail.Start)
	var columns []string
	for _, c := range in.Columns {
		columns = append(columns, text[c.Start:c.End])
	}
	row := rows.Spans[0]
	form, why := ParseForm(sql[:in.Head.End], sql[in.Tail.Start:in.Tail.End], in.Set, columns, sql[row.Start:row.End], lex)
	if why != "" || outsideReference(text) {
		return
	}
	stmts, err := reference(text, lex)
	require.NoError(t, err, "%q", text)
	require.Len(t, stmts, 1, "%q", text)
	stmt := stmts[0].(*ast.InsertStmt)
	require.Len(t, stmt.Lists, rows.Len(), "%q", text)
	require.Len(t, stmt.Lists[0], rows.Width, "%q", text)
	require.Equal(t, stmt.IsReplace, form.Replace, "%q", text)
	require.Equal(t, stmt.IgnoreErr, form.Ignore, "%q", text)
	require.Equal(t, targetOf(stmt).Name.O, form.Table, "%q", text)
	require.Len(t, stmt.Columns, len(form.Columns), "%q", text)
	for i, c := range stmt.Columns {
		require.Equal(t, c.Name.O, form.Columns[i], "%q", text)
	}
	require.Equal(t, len(stmt.OnDuplicate) > 0, form.Tail != nil, "%q", text)
	if form.Tail != nil {
		require.Len(t, stmt.OnDuplicate, len(form.Tail.Assigned), "%q", text)
	}

	// The fast path of the proxy: the same head again.
	if !in.Set {
		var again Rows
		end, why := ScanRows(&again, sql, in.Head.End, lex)
		require.Empty(t, why)
		tail, why := TrimTail(sql, end, lex)
		require.Empty(t, why)
		require.Equal(t, rows, again)
		require.Equal(t, in.Tail, tail)
	}
}

func TestSplitAgainstTiDB(t *testing.T) {
	for _, text := range insertSeeds {
		for bits := range byte(8) {
			checkInsert(t, text, bits)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for i, text := range insertSeeds {
		f.Add(text, byte(i))
	}
	f.Fuzz(func(t *testing.T, text string, bits byte) { checkInsert(t, text, bits&7) })
}
