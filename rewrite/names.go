package rewrite

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// TableName names a table as the text does.
type TableName struct{ Schema, Table string }

// TableNames lists every table that a statement names. Names without a schema
// get the one given. Aliases and common table expressions may be among the
// names: the list can be longer than needed, never shorter.
//
// complete is false where the statement could touch more than it names, or is
// not understood: calls outside the closed lists, SHOW, system schemas,
// executable comments, several statements.
func TableNames(sql []byte, lex *Lex, schema string) (names []TableName, complete bool) {
	text, why := plainText(sql, callsFrom(sql, lex), lex)
	if why != "" {
		return nil, false
	}
	stmts, err := parse(text, lex)
	if err != nil || len(stmts) != 1 {
		return nil, false
	}
	c := nameCollector{lex: lex, schema: schema, complete: true}
	switch stmt := stmts[0].(type) {
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.InsertStmt, *ast.TruncateTableStmt:
	case *ast.DropTableStmt:
		c.complete = !stmt.IsView
	default:
		return nil, false
	}
	stmts[0].Accept(&c)
	return c.names, c.complete
}

// callsFrom returns the index from which on a name before a parenthesis is a
// call: behind the column list of an INSERT, else 0.
func callsFrom(sql []byte, lex *Lex) int {
	s := newScanner(sql, lex)
	first := s.next(0)
	if !s.is(first, "INSERT") && !s.is(first, "REPLACE") {
		return 0
	}
	if after := s.target(first); s.why == "" {
		return after.Start
	}
	return 0
}

// nameCollector is an ast.Visitor.
type nameCollector struct {
	lex      *Lex
	schema   string
	names    []TableName
	complete bool
}

// Enter looks at one node on the way down.
func (c *nameCollector) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.TableName:
		c.add(n)
	case *ast.FuncCallExpr:
		c.call(n)
	case *ast.SelectStmt:
		if n.SelectIntoOpt != nil {
			c.complete = false
		}
	}
	return n, false
}

// Leave is the way up.
func (c *nameCollector) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (c *nameCollector) add(n *ast.TableName) {
	name := TableName{n.Schema.O, n.Name.O}
	if name.Schema == "" {
		name.Schema = c.schema
	}
	switch strings.ToLower(name.Schema) {
	case "", "information_schema", "performance_schema", "mysql", "sys":
		c.complete = false
	}
	for _, known := range c.names {
		if known == name {
			return
		}
	}
	c.names = append(c.names, name)
}

// call accepts functions that are built in and read no tables.
func (c *nameCollector) call(n *ast.FuncCallExpr) {
	name := strings.ToUpper(n.FnName.O)
	f, ok := functions[name]
	switch {
	case n.Schema.O != "":
		c.complete = false
	case ok && f.builtIn(c.lex.Dialect, c.lex.Version), currentTime[name] != 0, readOnlyFunctions[name], name == "LAST_INSERT_ID":
	case n.FnName.L == ast.DateLiteral || n.FnName.L == ast.TimeLiteral || n.FnName.L == ast.TimestampLiteral:
	default:
		c.complete = false
	}
}
