package rewrite

import (
	"bytes"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
)

// Form is what the grammar says about a shape: head and tail of an INSERT or
// REPLACE, without its rows.
type Form struct {
	Replace, Ignore bool
	Schema, Table   string   // Schema is empty when the statement does not name it
	Columns         []string // as named, unquoted; nil when not named
	HasColumns      bool     // a column list, or the SET form
	Set             bool     // INSERT ... SET
	Width           int      // values per row in the sample
	Tail            *Tail    // nil without ON DUPLICATE KEY UPDATE
}

// Plain reports whether a duplicate is an error and nothing else, so that each row counts
// one affected row.
func (f *Form) Plain() bool { return !f.Replace && !f.Ignore && f.Tail == nil }

// Tail is an ON DUPLICATE KEY UPDATE clause.
type Tail struct {
	Text     string   // byte for byte as the client wrote it, from ON to the last token
	Assigned []string // columns assigned, in order, repeats included
	Reads    []string // columns read, by name or by VALUES(), without repeats

	// MayBeNull: some assignment could give NULL. A column that is read counts
	// as NULL, since the text does not tell what it holds.
	MayBeNull bool

	// NullOnlyByReads refines MayBeNull: an assignment gives NULL only where a
	// column or row value in Reads is NULL itself.
	NullOnlyByReads bool

	// Timed: reads the current time (NOW() and the like, whole seconds), which
	// must be the time at which the client sent the row, as for Kind Now.
	Timed bool
}

// ParseForm reads the grammar of a shape. head and tail are what Split cut
// off; columns are the names of the SET form as written, and nil otherwise;
// sampleRow is one row, or the assignments of the SET form, and gives the
// number of values. The values themselves do not reach the parser: the
// scanner has judged them.
//
// ParseForm costs some microseconds and is meant to run once per shape. In the
// SET form the shape includes the column names.
func ParseForm(head, tail []byte, set bool, columns []string, sampleRow []byte, lex *Lex) (Form, Reason) {
	text, width, why := formText(head, tail, set, columns, sampleRow, lex)
	if why != "" {
		return Form{}, why
	}
	stmts, err := parse(text, lex)
	if err != nil || len(stmts) != 1 {
		return Form{}, ReasonSyntax
	}
	stmt, ok := stmts[0].(*ast.InsertStmt)
	if !ok {
		return Form{}, ReasonNotInsert
	}
	f := Form{
		Replace:    stmt.IsReplace,
		Ignore:     stmt.IgnoreErr,
		Set:        set,
		HasColumns: len(stmt.Columns) > 0,
		Width:      width,
	}
	switch {
	case stmt.Setlist != set || stmt.Select != nil || len(stmt.Lists) != 1 || len(stmt.Lists[0]) != width:
		return Form{}, ReasonNotInsert
	case stmt.Priority != mysql.NoPriority:
		return Form{}, ReasonModifier
	case len(stmt.TableHints) > 0:
		return Form{}, ReasonExecutable
	case len(stmt.PartitionNames) > 0:
		return Form{}, ReasonPartition
	}
	table := targetOf(stmt)
	if table == nil {
		return Form{}, ReasonSyntax
	}
	f.Schema, f.Table = table.Schema.O, table.Name.O
	for _, c := range stmt.Columns {
		if !f.owns(c) {
			return Form{}, ReasonQualified
		}
		f.Columns = append(f.Columns, c.Name.O)
	}
	if f.HasColumns && len(f.Columns) != width {
		return Form{}, ReasonColumnCount
	}
	if (len(tail) > 0) != (len(stmt.OnDuplicate) > 0) {
		return Form{}, ReasonTail
	}
	if len(tail) > 0 {
		f.Tail, why = f.readTail(string(tail), stmt.OnDuplicate, lex)
	}
	return f, why
}

// formText is a statement of the shape with one row of zeros, and the number
// of values in the row.
func formText(head, tail []byte, set bool, columns []string, sampleRow []byte, lex *Lex) (text string, width int, why Reason) {
	text, why = plainText(head, len(head), lex)
	if why != "" {
		return "", 0, why
	}
	var b bytes.Buffer
	b.WriteString(text)
	if set {
		width = len(columns)
		for i, c := range columns {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(" " + c + "=0")
		}
	} else {
		var rows Rows
		if why = ScanRowList(&rows, sampleRow, lex); why != "" {
			return "", 0, why
		}
		width = rows.Width
		b.WriteString(" (0")
		for range width - 1 {
			b.WriteString(",0")
		}
		b.WriteByte(')')
	}
	text, why = plainText(tail, 0, lex)
	if why != "" {
		return "", 0, why
	}
	if s := newScanner(tail, lex); len(tail) > 0 && !s.is(s.next(0), "ON") {
		return "", 0, ReasonTail
	}
	b.WriteString(" " + text)
	return b.String(), width, ""
}

// targetOf returns the table of an INSERT, or nil if it is more than a name.
func targetOf(stmt *ast.InsertStmt) *ast.TableName {
	if stmt.Table == nil || stmt.Table.TableRefs == nil || stmt.Table.TableRefs.Right != nil {
		return nil
	}
	source, ok := stmt.Table.TableRefs.Left.(*ast.TableSource)
	if !ok || source.AsName.O != "" {
		return nil
	}
	table, ok := source.Source.(*ast.TableName)
	if !ok || len(table.IndexHints) > 0 || len(table.PartitionNames) > 0 || table.TableSample != nil || table.AsOf != nil {
		return nil
	}
	return table
}

// owns reports whether c is a column of the target table by its qualifiers.
func (f *Form) owns(c *ast.ColumnName) bool {
	return (c.Table.O == "" || c.Table.O == f.Table) && (c.Schema.O == "" || c.Schema.O == f.Schema)
}
