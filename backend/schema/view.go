package schema

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // literals for the parser
)

// viewTables reads which tables a view selects from. Not ok: the text cannot be
// read, or calls a function that is not known to be built in (both servers print
// the call of a stored function without its schema).
func viewTables(definition string) (tables []name, ok bool) {
	if definition == "" { // hidden from this account
		return nil, false
	}
	statement, err := parser.New().ParseOneStmt(definition, "", "")
	if err != nil {
		return nil, false
	}
	v := &viewVisitor{ok: true, ctes: map[string]bool{}}
	statement.Accept(v)
	for _, t := range v.tables {
		switch {
		case t.schema != "":
			tables = append(tables, t)
		case !v.ctes[strings.ToLower(t.table)]:
			return nil, false // the servers qualify every real table
		}
	}
	return tables, v.ok
}

// viewVisitor collects tables, common table expressions and doubts.
type viewVisitor struct {
	tables []name
	ctes   map[string]bool
	ok     bool
}

func (v *viewVisitor) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.TableName:
		v.tables = append(v.tables, name{n.Schema.O, n.Name.O})
	case *ast.CommonTableExpression:
		v.ctes[n.Name.L] = true
	case *ast.FuncCallExpr:
		f := n.FnName.L
		v.ok = v.ok && n.Schema.O == "" && (pure[f] || temporal[f] || now[f] || session[f])
	case *ast.VariableExpr:
		v.ok = false
	}
	return n, false
}

func (v *viewVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }
