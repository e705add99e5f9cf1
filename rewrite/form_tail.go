package rewrite

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// tailReader walks the expressions of an ON DUPLICATE KEY UPDATE clause.
type tailReader struct {
	form *Form
	lex  *Lex
	tail Tail

	nullByItself bool // NULL is possible although nothing that is read is NULL
	why          Reason
}

func (f *Form) readTail(text string, assignments []*ast.Assignment, lex *Lex) (*Tail, Reason) {
	r := tailReader{form: f, lex: lex, tail: Tail{Text: text}}
	for _, a := range assignments {
		if !f.owns(a.Column) {
			r.fail(ReasonTailTable)
		}
		r.tail.Assigned = append(r.tail.Assigned, a.Column.Name.O)
		r.expr(a.Expr)
	}
	if r.why != "" {
		return nil, r.why
	}
	r.tail.MayBeNull = r.nullByItself || len(r.tail.Reads) > 0
	r.tail.NullOnlyByReads = !r.nullByItself
	return &r.tail, ""
}

func (r *tailReader) fail(why Reason) {
	if r.why == "" {
		r.why = why
	}
}

func (r *tailReader) exprs(list []ast.ExprNode) {
	for _, e := range list {
		r.expr(e)
	}
}

// expr accepts the kinds of expressions that are known to depend on the two
// rows, constants and carried session variables only.
func (r *tailReader) expr(e ast.ExprNode) {
	switch e := e.(type) {
	case *driver.ValueExpr:
		r.nullByItself = r.nullByItself || e.Kind() == driver.KindNull
	case *ast.ColumnNameExpr:
		r.read(e.Name)
	case *ast.ValuesExpr:
		r.read(e.Column.Name)
	case *ast.ParenthesesExpr:
		r.expr(e.Expr)
	case *ast.UnaryOperationExpr:
		r.expr(e.V)
	case *ast.BinaryOperationExpr:
		if e.Op == opcode.Div || e.Op == opcode.IntDiv || e.Op == opcode.Mod {
			r.nullByItself = true
		}
		r.expr(e.L)
		r.expr(e.R)
	case *ast.IsNullExpr:
		r.expr(e.Expr)
	case *ast.IsTruthExpr:
		r.expr(e.Expr)
	case *ast.BetweenExpr:
		r.exprs([]ast.ExprNode{e.Expr, e.Left, e.Right})
	case *ast.PatternLikeOrIlikeExpr:
		r.exprs([]ast.ExprNode{e.Expr, e.Pattern})
	case *ast.PatternInExpr:
		if e.Sel != nil {
			r.fail(ReasonSubquery)
			return
		}
		r.expr(e.Expr)
		r.exprs(e.List)
	case *ast.CaseExpr:
		r.caseExpr(e)
	case *ast.FuncCastExpr:
		if e.Tp.GetType() == mysql.TypeDuration || e.Tp.IsArray() {
			r.fail(ReasonTimeOfDay)
		}
		r.nullByItself = true // what cannot be converted becomes NULL
		r.expr(e.Expr)
	case *ast.FuncCallExpr:
		r.call(e)
	case *ast.SubqueryExpr, *ast.ExistsSubqueryExpr, *ast.CompareSubqueryExpr:
		r.fail(ReasonSubquery)
	case *ast.VariableExpr:
		r.fail(ReasonIdentifier)
	default:
		r.fail(ReasonTailExpression)
	}
}

func (r *tailReader) read(c *ast.ColumnName) {
	if !r.form.owns(c) {
		r.fail(ReasonTailTable)
		return
	}
	if !slices.ContainsFunc(r.tail.Reads, func(name string) bool { return equalFold(name, c.Name.O) }) {
		r.tail.Reads = append(r.tail.Reads, c.Name.O)
	}
}

func (r *tailReader) caseExpr(e *ast.CaseExpr) {
	if e.Value != nil {
		r.expr(e.Value)
	}
	for _, when := range e.WhenClauses {
		r.expr(when.Expr)
		r.expr(when.Result)
	}
	if e.ElseClause == nil {
		r.nullByItself = true
		return
	}
	r.expr(e.ElseClause)
}

// call accepts the functions of the closed list.
func (r *tailReader) call(e *ast.FuncCallExpr) {
	name := strings.ToUpper(e.FnName.O)
	if e.Schema.O != "" {
		r.fail(ReasonQualified)
		return
	}
	if e.FnName.L == ast.DateLiteral || e.FnName.L == ast.TimestampLiteral {
		return
	}
	if currentTime[name] != 0 {
		r.currentTime(e)
		return
	}
	f, ok := functions[name]
	switch {
	case !ok || !f.existsIn(r.lex.Dialect, r.lex.Version) || f.form == formStrToDate:
		r.fail(ReasonFunction)
	case f.form == formUnixTimestamp && len(e.Args) == 0:
		r.tail.Timed = true
	case f.form != formConvert && !f.takes(len(e.Args)):
		r.fail(ReasonArguments)
	default:
		r.nullByItself = r.nullByItself || !f.nullFree
		r.exprs(e.Args)
	}
}

// currentTime accepts NOW() and its like in whole seconds.
func (r *tailReader) currentTime(e *ast.FuncCallExpr) {
	r.tail.Timed = true
	if len(e.Args) == 0 {
		return
	}
	digits, ok := e.Args[0].(*driver.ValueExpr)
	if !ok || len(e.Args) > 1 || digits.Kind() != driver.KindInt64 || digits.GetInt64() < 0 || digits.GetInt64() > 6 {
		r.fail(ReasonArguments)
		return
	}
	if n := digits.GetInt64(); n > 0 {
		r.fail(finer[n])
	}
}
