package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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
	dead  error // why this version does not replay the rows, which are from an earlier life: they are rejected
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

// revive builds the shape that describe encoded. One that this version does not batch,
// or cannot read, comes back dead; table, as schema.table, is where its rows were to go.
func revive(blob []byte, table string) *Shape {
	var d description
	if err := json.Unmarshal(blob, &d); err != nil {
		t := &rewrite.Table{}
		t.Schema, t.Name, _ = strings.Cut(table, ".")
		return &Shape{Plan: rewrite.Unplanned(rewrite.Form{}, t, ""), dead: fmt.Errorf(
			"its description in the journal is not readable, so that only the rows are known and not their columns (%w)", err)}
	}
	if d.Form.Tail != nil && d.Tail != nil {
		d.Form.Tail.Text = string(d.Tail)
	}
	if d.Defined != nil {
		d.Table.Definition = string(d.Defined)
	}
	state, why := rewrite.NewState(d.Variables, d.Dialect, d.Version)
	if why == "" {
		state.Schema = d.Schema
		var plan *rewrite.Plan
		if plan, why = rewrite.NewPlan(d.Form, &d.Table, state); why == "" {
			return &Shape{Plan: plan, User: d.User, lex: state.Lex}
		}
	}
	return &Shape{Plan: rewrite.Unplanned(d.Form, &d.Table, d.Schema), User: d.User, dead: errors.New(string(why))}
}

// without is the shape for rows of s that this version does not read as the one did that
// wrote them.
func (s *Shape) without(why rewrite.Reason) *Shape {
	return &Shape{Plan: rewrite.Unplanned(s.Plan.Form, s.Plan.Table, s.Plan.State.Schema), User: s.User, id: s.id, dead: errors.New(string(why))}
}

// NewShape is a shape for rows that are held and flushed on a session's own
// connection; it is not known to the journal.
func NewShape(p *rewrite.Plan, user string) *Shape {
	return &Shape{Plan: p, User: user, lex: p.State.Lex}
}
