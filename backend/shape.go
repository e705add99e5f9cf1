package backend

import (
	"encoding/json"
	"fmt"

	"github.com/sluice-db/sluice/rewrite"
)

// Shape is a statement with its row values removed, as a session validated it:
// where the rows go, and under which session state.
type Shape struct {
	Plan *rewrite.Plan
	User string // who sent the rows: for the reject log

	id    uint32 // of the journal
	queue *queue
	lex   rewrite.Lex
}

// description is a Shape as the journal keeps it: enough to build it again after
// a crash, on the table as it was when the rows were acknowledged.
type description struct {
	Form      rewrite.Form
	Tail      []byte // Form.Tail's text: bytes of any character set, which a JSON string would lose
	Table     rewrite.Table
	Defined   []byte // Table.Definition, for the same reason
	Variables map[string]string
	Schema    string
	Dialect   rewrite.Dialect
	Version   int
	User      string
}

// describe encodes a shape for the journal.
func describe(p *rewrite.Plan, vars map[string]string, user string) ([]byte, error) {
	keep := map[string]string{
		"auto_increment_increment": vars["auto_increment_increment"],
		"auto_increment_offset":    vars["auto_increment_offset"],
	}
	for _, s := range p.State.Carry() {
		keep[s.Name] = vars[s.Name]
	}
	table := *p.Table
	table.Rows, table.DataLength, table.RowLength = 0, 0, 0 // estimates change and are not part of a shape
	var tail []byte
	if p.Tail != nil {
		tail = []byte(p.Tail.Text)
	}
	return json.Marshal(description{
		Form: p.Form, Tail: tail, Table: table, Defined: []byte(table.Definition), Variables: keep, Schema: p.State.Schema,
		Dialect: p.State.Lex.Dialect, Version: p.State.Lex.Version, User: user,
	})
}

// revive builds the shape that describe encoded.
func revive(blob []byte) (*Shape, error) {
	var d description
	if err := json.Unmarshal(blob, &d); err != nil {
		return nil, fmt.Errorf("shape in the journal: %w", err)
	}
	state, why := rewrite.NewState(d.Variables, d.Dialect, d.Version)
	if why != "" {
		return nil, fmt.Errorf("shape in the journal: %s", why)
	}
	state.Schema = d.Schema
	if d.Form.Tail != nil && d.Tail != nil {
		d.Form.Tail.Text = string(d.Tail)
	}
	if d.Defined != nil {
		d.Table.Definition = string(d.Defined)
	}
	plan, why := rewrite.NewPlan(d.Form, &d.Table, state)
	if why != "" {
		return nil, fmt.Errorf("shape in the journal: %s", why)
	}
	return &Shape{Plan: plan, User: d.User, lex: state.Lex}, nil
}

// NewShape is a shape for rows that are held and flushed on a session's own
// connection; it is not known to the journal.
func NewShape(p *rewrite.Plan, user string) *Shape {
	return &Shape{Plan: p, User: user, lex: p.State.Lex}
}
