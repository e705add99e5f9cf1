package rewrite

import (
	"fmt"
	"strings"
)

// Order says in which order the rows of a window may be applied.
type Order uint8

// The orders.
const (
	Arrival     Order = iota // as the client sent them
	ByKey                    // by primary key, equal keys in any order (plain INSERT)
	ByKeyStable              // by primary key, equal keys as sent; only while every key of the window is exact
)

// Plan says how the rows of a shape are batched: a form applied to a table as
// it is defined now and to the session's state. A Plan does not change after
// NewPlan and may be used by several goroutines.
type Plan struct {
	Form
	Table   *Table
	State   *State
	Columns []int // table column of each value of a row
	Auto    int   // value position of the AUTO_INCREMENT column, or -1
	Timed   bool  // every row depends on the time at which it was sent
	Order   Order

	// Cut: a window sorted by key may be committed in several transactions,
	// as long as every key is exact, its rows come from one-row statements and
	// equal keys stay together (S16).
	Cut bool

	rules   []columnRule // one per value of a row
	suspect kindSet      // kinds that some rule asks about
	parts   []keyPart
	head    []byte
	tail    []byte
}

// NewPlan decides whether statements of form f on table t may be batched under
// state s. Whatever depends on the rows themselves is left to Check.
func NewPlan(f Form, t *Table, s *State) (*Plan, Reason) {
	if why := batchable(f, t, s); why != "" {
		return nil, why
	}
	p := &Plan{Form: f, Table: t, State: s, Auto: -1}
	if why := p.resolve(); why != "" {
		return nil, why
	}
	for i, column := range p.Columns {
		rule := newRule(f, &t.Columns[column], s)
		p.rules = append(p.rules, rule)
		p.suspect |= rule.refused | rule.timed
		if t.Columns[column].AutoIncrement {
			p.Auto = i
		}
	}
	if why := p.omitted(); why != "" {
		return nil, why
	}
	if why := p.checkTail(); why != "" {
		return nil, why
	}
	p.parts = newKeyParts(p)
	p.setOrder()
	if why := p.render(); why != "" {
		return nil, why
	}
	return p, ""
}

// batchable holds what the table alone decides.
func batchable(f Form, t *Table, s *State) Reason {
	switch {
	case !t.Base:
		return "not a base table"
	case t.Temporary:
		return "a temporary table"
	case t.Triggers:
		return "a table with triggers"
	case t.SystemVersioned:
		return "a system-versioned table"
	case !t.Transactional:
		return Reason("engine " + t.Engine + " has no transactions")
	case strings.Contains(strings.ToUpper(t.Definition), "PERIOD FOR"):
		return "a table with application-time periods"
	case !s.UniqueChecks && !equalFold(t.Engine, "InnoDB"):
		// InnoDB reports a duplicate primary key all the same; an engine
		// that writes without looking lets the last row win.
		return Reason("unique_checks=0 on engine " + t.Engine)
	case f.Replace && (len(t.Children) > 0 || t.SelfReferencing):
		return "REPLACE into a table that foreign keys refer to" // S17
	}
	return ""
}

// resolve finds the table column of each value. Without a column list these
// are the visible columns in order, generated ones included; the list is
// fixed from here on (S22).
func (p *Plan) resolve() Reason {
	t := p.Table
	if !p.HasColumns && !p.Set {
		for i := range t.Columns {
			if !t.Columns[i].Invisible {
				p.Columns = append(p.Columns, i)
			}
		}
	}
	seen := make([]bool, len(t.Columns))
	for _, name := range p.Form.Columns {
		i := t.Column(name)
		if i < 0 {
			return Reason(fmt.Sprintf("unknown column %s", name))
		}
		if seen[i] {
			return Reason(fmt.Sprintf("column %s is named twice", name))
		}
		seen[i] = true
		p.Columns = append(p.Columns, i)
	}
	if len(p.Columns) == 0 {
		return "no column is supplied"
	}
	return ""
}

// omitted looks at the columns that the rows do not supply, and at those that
// the server changes by itself when a row is updated.
func (p *Plan) omitted() Reason {
	supplied := make([]bool, len(p.Table.Columns))
	for _, i := range p.Columns {
		supplied[i] = true
	}
	for i := range p.Table.Columns {
		c := &p.Table.Columns[i]
		if c.OnUpdateNow && (p.Replace || p.Tail != nil) && !p.assigns(c) {
			if c.Precision > 0 {
				return Reason("ON UPDATE of column " + c.Name + " is finer than a second")
			}
			p.Timed = true
		}
		if supplied[i] || c.Generated {
			continue
		}
		if why := p.omit(c); why != "" {
			return why
		}
	}
	return ""
}

// omit accepts or refuses the default of a column that no row supplies.
func (p *Plan) omit(c *Column) Reason {
	switch {
	case c.AutoIncrement:
		return "needs a generated id"
	case c.Default == DefaultNow:
		p.Timed = true
	case c.Default == DefaultNowFrac:
		return Reason("default of column " + c.Name + " is finer than a second")
	case c.Default == DefaultUnsafe:
		return Reason("default of column " + c.Name + " depends on more than the row")
	case c.Default == DefaultExpr && nullIsError(p.Form, c, p.State):
		return Reason("default of column " + c.Name + " could be NULL in non-strict mode") // S19
	case c.Default == DefaultNone && !c.Nullable && p.State.Strict && !p.Ignore && c.Type != "enum":
		return Reason("column " + c.Name + " has no default") // every row fails: the server says so itself
	}
	return ""
}

// checkTail looks at ON DUPLICATE KEY UPDATE (S10, S17, S18, S19, S21).
func (p *Plan) checkTail() Reason {
	if p.Tail == nil {
		return ""
	}
	p.Timed = p.Timed || p.Tail.Timed
	for _, name := range p.Tail.Reads {
		// A TIME that becomes a date takes the day on which that happens.
		if i := p.Table.Column(name); i >= 0 && p.Table.Columns[i].Type == "time" {
			return ReasonTimeOfDay
		}
	}
	mayBeNull := p.Tail.MayBeNull && !(p.Tail.NullOnlyByReads && p.readsNotNull())
	for _, name := range p.Tail.Assigned {
		i := p.Table.Column(name)
		if i < 0 {
			return Reason("unknown column " + name + " in ON DUPLICATE KEY UPDATE")
		}
		c := &p.Table.Columns[i]
		switch {
		case c.AutoIncrement:
			return "ON DUPLICATE KEY UPDATE assigns the AUTO_INCREMENT column"
		case mayBeNull && nullIsNow(c, p.State):
			return Reason("ON DUPLICATE KEY UPDATE could set column " + c.Name + " to the current time")
		case mayBeNull && nullIsError(p.Form, c, p.State):
			return Reason("ON DUPLICATE KEY UPDATE could give NULL for column " + c.Name + " in non-strict mode")
		case p.isKeyColumn(i) && (len(p.Table.Children) > 0 || p.Table.SelfReferencing):
			return "ON DUPLICATE KEY UPDATE assigns a key of a table that foreign keys refer to"
		}
	}
	return ""
}

// readsNotNull: no column that the tail reads can hold NULL. VALUES(c) of a
// NOT NULL column cannot be NULL either, Check refuses such rows where NULL
// would be stored as something else.
func (p *Plan) readsNotNull() bool {
	for _, name := range p.Tail.Reads {
		i := p.Table.Column(name)
		if i < 0 || p.Table.Columns[i].Nullable {
			return false
		}
	}
	return true
}

func (p *Plan) assigns(c *Column) bool {
	if p.Tail == nil {
		return false
	}
	for _, name := range p.Tail.Assigned {
		if equalFold(name, c.Name) {
			return true
		}
	}
	return false
}

func (p *Plan) isKeyColumn(column int) bool {
	if p.Table.Primary != nil && p.Table.Primary.has(column) {
		return true
	}
	for i := range p.Table.Unique {
		if p.Table.Unique[i].has(column) {
			return true
		}
	}
	return false
}

// has reports whether a column is part of the key. A functional part may
// depend on any column.
func (k *Key) has(column int) bool {
	for _, part := range k.Parts {
		if part.Column == column || part.Column < 0 {
			return true
		}
	}
	return false
}

// setOrder applies design section 4 with S16 to S18.
func (p *Plan) setOrder() {
	t := p.Table
	if len(p.parts) == 0 || t.SelfReferencing || len(t.Parents) > 0 || len(t.Children) > 0 {
		return
	}
	if p.Plain() {
		p.Order, p.Cut = ByKey, len(t.Unique) == 0
		return
	}
	if len(t.Unique) > 0 || p.touchesKey() {
		return
	}
	for i := range p.parts {
		if !p.parts[i].provable {
			return
		}
	}
	p.Order, p.Cut = ByKeyStable, true
}

// touchesKey: the primary key of a row that is there already may change.
func (p *Plan) touchesKey() bool {
	for _, part := range p.Table.Primary.Parts {
		c := &p.Table.Columns[part.Column]
		if c.OnUpdateNow || p.assigns(c) {
			return true
		}
	}
	return false
}
