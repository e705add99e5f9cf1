package rewrite

import (
	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the parser's plain literals
)

// parse gives text to the TiDB parser. The text comes from plainText, which
// has read comments and strings by our own rules: the parser only judges the
// grammar.
func parse(text string, lex *Lex) ([]ast.StmtNode, error) {
	p := parser.New()
	p.SetMariaDB(lex.Dialect == MariaDB)
	var mode mysql.SQLMode
	if lex.ANSIQuotes {
		mode |= mysql.ModeANSIQuotes
	}
	if lex.PipesAsConcat {
		mode |= mysql.ModePipesAsConcat
	}
	if lex.IgnoreSpace {
		mode |= mysql.ModeIgnoreSpace
	}
	p.SetSQLMode(mode)
	stmts, _, err := p.ParseSQL(text)
	return stmts, err
}

// plainText copies sql with blanks and comments turned into single blanks and
// the content of every string into one letter, so that neither comments (/*T!
// is code to the TiDB parser) nor character sets can be read in two ways.
//
// From index calls on, a name before a parenthesis must be a call without a
// blank, or one of the keywords that take a parenthesis: anything else may be
// the call of a stored function.
func plainText(sql []byte, calls int, lex *Lex) (string, Reason) {
	s := newScanner(sql, lex)
	out := make([]byte, 0, len(sql))
	end := 0
	var last token
	for s.why == "" {
		t := s.next(end)
		if t.kind == tokenEnd {
			break
		}
		gap := t.Start > end
		if gap {
			out = append(out, ' ')
		}
		if s.isOp(t, "(") && last.Start >= calls && s.maybeStoredCall(last, gap) {
			s.fail(ReasonFunctionBlank)
		}
		switch t.kind {
		case tokenString:
			out = append(out, "'s'"...)
		case tokenNational:
			out = append(out, "N's'"...)
		default:
			out = append(out, sql[t.Start:t.End]...)
		}
		end, last = t.End, t
	}
	return string(out), s.why
}

// maybeStoredCall reports whether t before a parenthesis could be the name of
// a stored function although a built-in one has the name too.
func (s *scanner) maybeStoredCall(t token, gap bool) bool {
	switch t.kind {
	case tokenName:
		return true
	case tokenWord:
		return gap && !s.takesParenthesis(t)
	}
	return false
}

// takesParenthesis reports whether the word t is a keyword that is followed by
// a parenthesis and is no function.
func (s *scanner) takesParenthesis(t token) bool {
	var buf [maxFunctionName]byte
	switch string(uppered(&buf, s.sql[t.Start:t.End])) {
	case "SELECT", "FROM", "WHERE", "AND", "OR", "XOR", "NOT", "IN", "EXISTS", "ON", "USING", "JOIN", "BY", "HAVING",
		"UNION", "EXCEPT", "INTERSECT", "ALL", "ANY", "SOME", "DISTINCT", "AS", "CASE", "WHEN", "THEN", "ELSE", "LIKE",
		"BETWEEN", "IS", "DIV", "MOD", "INTERVAL", "VALUES", "VALUE", "SET", "UPDATE", "KEY", "INDEX", "LIMIT", "OFFSET":
		return true
	}
	return false
}
