package rewrite

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/stretchr/testify/require"
)

var statementSeeds = []string{
	"SELECT 1", "SELECT a FROM t WHERE b='x' FOR UPDATE", "SELECT @a:=1", "(SELECT 1) UNION (SELECT 2)", "COMMIT AND CHAIN", "ROLLBACK TO x",
	"BEGIN", "START TRANSACTION", "SAVEPOINT a", "SET @x=1", "SELECT 1; SELECT 2", "SHOW WARNINGS", "/*!40101 SET NAMES utf8 */", "SELECT LAST_INSERT_ID(1)",
	"SELECT COUNT(*) FROM t", "SELECT ';'; ;", "SELECT 1 INTO @x", "(SELECT 0)UNION(SELECT 0\"",
}

// checkClass requires that the TiDB parser does not contradict: one statement
// where one was seen, and nothing that changes the session where none was.
func checkClass(t *testing.T, text string, bits byte) {
	lex := modes(bits)
	class := Classify([]byte(text), lex)
	_, _ = TableNames([]byte(text), lex, "d")
	if outsideReference(text) {
		return
	}
	stmts, err := reference(text, lex)
	if err != nil {
		return
	}
	if len(stmts) > 1 {
		require.Contains(t, []StatementKind{StmtMulti, StmtOther}, class.Kind, "%q", text)
	}
	if !class.Harmless {
		return
	}
	for _, stmt := range stmts {
		switch stmt := stmt.(type) {
		case *ast.BeginStmt, *ast.CommitStmt, *ast.RollbackStmt, *ast.SavepointStmt, *ast.ReleaseSavepointStmt:
		case *ast.SelectStmt, *ast.SetOprStmt:
			stmt.Accept(&harmlessVisitor{t: t, text: text})
		default:
			t.Fatalf("harmless: %q is %T", text, stmt)
		}
	}
}

// harmlessVisitor fails on whatever could change the session.
type harmlessVisitor struct {
	t    *testing.T
	text string
}

func (v *harmlessVisitor) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		require.Nil(v.t, n.SelectIntoOpt, "%q", v.text)
		if n.LockInfo != nil {
			require.Equal(v.t, ast.SelectLockNone, n.LockInfo.LockType, "%q", v.text)
		}
	case *ast.VariableExpr:
		require.Nil(v.t, n.Value, "%q", v.text)
	case *ast.FuncCallExpr:
		require.Empty(v.t, n.Schema.O, "%q", v.text)
		if n.FnName.L == "last_insert_id" {
			require.Empty(v.t, n.Args, "%q", v.text)
		}
	}
	return n, false
}

func (v *harmlessVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func TestClassifyAgainstTiDB(t *testing.T) {
	for _, text := range statementSeeds {
		for bits := range byte(8) {
			checkClass(t, text, bits)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for i, text := range statementSeeds {
		f.Add(text, byte(i))
	}
	f.Fuzz(func(t *testing.T, text string, bits byte) { checkClass(t, text, bits&7) })
}
