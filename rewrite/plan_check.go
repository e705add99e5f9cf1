package rewrite

// Facts is what Check found out about the rows of one client statement.
type Facts struct {
	Timed  bool // some value is the time at which the statement was sent
	OneRow bool // the statement has one row: only such windows may be cut (S16)

	// InsertID is what the OK packet carries: the explicit AUTO_INCREMENT value
	// of the last row as sent, a negative one in two's complement, 0 on a
	// table without such a column (MariaDB 10.11 and MySQL 9.7 agree, one row
	// or many; F085). Direct, a statement whose last row is ignored, or updated
	// without change, gives 0: that cannot be known beforehand.
	InsertID uint64
}

// kindSet is a set of kinds, as in Rows.Kinds.
type kindSet uint32

func kinds(list ...Kind) kindSet {
	var set kindSet
	for _, k := range list {
		set |= 1 << k
	}
	return set
}

func (s kindSet) has(k Kind) bool { return s>>k&1 != 0 }

// nullable are the kinds of values that could turn out to be NULL.
var nullable = kinds(Null, Introduced, Expr)

const allKinds = kindSet(1)<<(Unsafe+1) - 1

// columnRule says which kinds of values a column of the shape does not take,
// and which make its rows depend on the time.
type columnRule struct {
	refused kindSet
	timed   kindSet
}

// nullIsNow: NULL into a NOT NULL TIMESTAMP means the current time, on MariaDB
// 10.11 whatever explicit_defaults_for_timestamp says, on MySQL when it is off
// (S21).
func nullIsNow(c *Column, s *State) bool {
	return c.Type == "timestamp" && !c.Nullable && (s.Lex.Dialect == MariaDB || !s.ExplicitDefaultsForTimestamp)
}

// nullIsError: NULL is an error in a statement of one row and a warning in one
// of several (S19). With IGNORE it is a warning in both.
func nullIsError(f Form, c *Column, s *State) bool {
	return !c.Nullable && !s.Strict && !f.Ignore && !nullIsNow(c, s)
}

func newRule(f Form, c *Column, s *State) columnRule {
	var r columnRule
	switch {
	case c.Generated:
		r.refused = allKinds &^ kinds(Default)
		return r
	case c.AutoIncrement:
		r.refused = allKinds &^ kinds(Int, String)
		return r
	case nullIsNow(c, s) && c.Precision > 0:
		r.refused = nullable
	case nullIsNow(c, s):
		r.timed = nullable
	case nullIsError(f, c, s):
		r.refused = nullable
	}
	switch {
	case c.Default == DefaultNow:
		r.timed |= kinds(Default)
	case c.Default == DefaultNowFrac, c.Default == DefaultUnsafe,
		c.Default == DefaultExpr && nullIsError(f, c, s):
		r.refused |= kinds(Default)
	}
	return r
}

// Check looks at the rows of one client statement. sql is the text that was
// scanned into rows. It allocates only to refuse.
func (p *Plan) Check(sql []byte, rows *Rows) (Facts, Reason) {
	var f Facts
	switch {
	case rows.Len() == 0:
		return f, ReasonNoRows
	case rows.Width != len(p.Columns):
		return f, "the number of values is not the number of columns"
	case kindSet(rows.Kinds).has(Unsafe):
		return f, ReasonFunction
	}
	f.OneRow = rows.Len() == 1
	f.Timed = p.Timed || kindSet(rows.Kinds).has(Now)
	if kindSet(rows.Kinds)&p.suspect != 0 {
		for i := range rows.Values {
			kind, rule := rows.Values[i].Kind, &p.rules[i%rows.Width]
			if rule.refused.has(kind) {
				return f, p.refusal(i%rows.Width, kind)
			}
			f.Timed = f.Timed || rule.timed.has(kind)
		}
	}
	if p.Auto >= 0 {
		c := &p.Table.Columns[p.Columns[p.Auto]]
		for i := range rows.Len() {
			id, ok := explicitID(c, sql, rows.Row(i)[p.Auto], p.State.NoAutoValueOnZero)
			if !ok {
				return f, "needs a generated id, or its id is not written as a plain number"
			}
			f.InsertID = id
		}
	}
	return f, ""
}

func (p *Plan) refusal(value int, kind Kind) Reason {
	c := &p.Table.Columns[p.Columns[value]]
	switch {
	case c.Generated:
		return Reason("a value for the generated column " + c.Name)
	case c.AutoIncrement:
		return "needs a generated id"
	case kind == Default:
		return Reason("the default of column " + c.Name + " depends on more than the row")
	case nullIsNow(c, p.State):
		return Reason("NULL for column " + c.Name + " means a time finer than a second")
	default:
		return Reason("a value for column " + c.Name + " that could be NULL in non-strict mode")
	}
}

// explicitID reads the value of an AUTO_INCREMENT column. Anything but a
// canonical integer within the column's range could make the server generate
// an id, or report another one than was written.
func explicitID(c *Column, sql []byte, v Value, zeroIsZero bool) (uint64, bool) {
	text := sql[v.Start:v.End]
	if v.Kind == String {
		if len(text) < 3 || text[1] == '-' {
			return 0, false
		}
		text = text[1 : len(text)-1]
	}
	negative, magnitude, ok := parseInteger(text)
	if !ok || len(text) > 1 && (text[0] == '+' || text[0] == '0') {
		return 0, false
	}
	size := integerSize(c.Type)
	if size == 0 || !inRange(negative, magnitude, size, c.Unsigned) || magnitude == 0 && (negative || !zeroIsZero) {
		return 0, false
	}
	if negative {
		return -magnitude, true
	}
	return magnitude, true
}
