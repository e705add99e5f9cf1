package rewrite

import "unicode/utf8"

// render writes head and tail once. The column list is always written (S22),
// and so is the schema: the loading connection has no default schema.
func (p *Plan) render() Reason {
	schema := p.Table.Schema
	if !p.renderable(schema) || !p.renderable(p.Table.Name) {
		return "a name outside ASCII where character_set_client is not UTF-8"
	}
	names := make([]string, len(p.Columns))
	for i, column := range p.Columns {
		names[i] = p.Table.Columns[column].Name
		if !p.renderable(names[i]) {
			return Reason("column " + names[i] + ": a name outside ASCII where character_set_client is not UTF-8")
		}
	}
	p.write(names)
	return ""
}

// write is render with the names of the columns at hand.
func (p *Plan) write(columns []string) {
	b := []byte("INSERT ")
	if p.Replace {
		b = []byte("REPLACE ")
	}
	if p.Ignore {
		b = append(b, "IGNORE "...)
	}
	b = append(b, "INTO "...)
	if p.Table.Schema != "" {
		b = append(appendName(b, p.Table.Schema), '.')
	}
	b = append(appendName(b, p.Table.Name), ' ')
	for i, name := range columns {
		if i == 0 {
			b = append(b, '(')
		} else {
			b = append(b, ',')
		}
		b = appendName(b, name)
	}
	if len(columns) > 0 {
		b = append(b, ") "...)
	}
	p.head = append(b, "VALUES "...)
	if p.Tail != nil {
		p.tail = append([]byte{' '}, p.Tail.Text...)
	}
}

// Unplanned is a plan for the text of statements and for nothing else: of those that
// NewPlan refuses. Of the table only the names count.
func Unplanned(f Form, t *Table, schema string) *Plan {
	p := &Plan{Form: f, Table: t, State: &State{Schema: schema}, Auto: -1}
	names := f.Columns
	if !f.HasColumns && !f.Set && p.resolve() == "" {
		for _, column := range p.Columns {
			names = append(names, t.Columns[column].Name)
		}
	}
	p.write(names)
	return p
}

// renderable: the name, which we have in UTF-8, means the same in the
// session's character set. Names hold no characters above U+FFFF.
func (p *Plan) renderable(name string) bool {
	charset := charsetName(p.State.Lex.Charset)
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return isUTF8(charset) && utf8.ValidString(name)
		}
	}
	return true
}

func appendName(dst []byte, name string) []byte {
	dst = append(dst, '`')
	for i := range len(name) {
		if name[i] == '`' {
			dst = append(dst, '`')
		}
		dst = append(dst, name[i])
	}
	return append(dst, '`')
}

// AppendHead appends everything before the first row.
func (p *Plan) AppendHead(dst []byte) []byte { return append(dst, p.head...) }

// AppendTail appends everything after the last row.
func (p *Plan) AppendTail(dst []byte) []byte { return append(dst, p.tail...) }

// AppendRow appends row i of a statement as the client wrote it. A row of the
// SET form is put together from its values.
func (p *Plan) AppendRow(dst, sql []byte, rows *Rows, i int) []byte {
	if !p.Set {
		span := rows.Spans[i]
		return append(dst, sql[span.Start:span.End]...)
	}
	dst = append(dst, '(')
	for j, v := range rows.Row(i) {
		if j > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, sql[v.Start:v.End]...)
	}
	return append(dst, ')')
}

// Fit says what became of rows that were offered to a Builder.
type Fit uint8

// What Builder.Add answers.
const (
	Added    Fit = iota
	Full         // not added: finish the statement first, then offer them again
	TooLarge     // not added: they do not fit into any statement
)

// Builder puts rows together into statements of bounded size.
type Builder struct {
	plan   *Plan
	target int
	limit  int
	text   []byte
	rows   int
}

// Start begins the first statement of a plan. A statement ends before it would
// exceed target bytes; one that cannot be divided may be longer, but is never
// longer than limit, the connection's max_allowed_packet.
func (b *Builder) Start(p *Plan, target, limit int) {
	b.plan, b.target, b.limit = p, min(target, limit), limit
	b.text, b.rows = p.AppendHead(b.text[:0]), 0
}

// Rows is the number of rows in the statement so far.
func (b *Builder) Rows() int { return b.rows }

// Add offers rows as they stand in a statement: one '(...)', or all rows of a
// client statement that must not be divided, with the commas between them. n
// is their number.
func (b *Builder) Add(rows []byte, n int) Fit {
	need := len(rows) + len(b.plan.tail) + 1
	if b.rows > 0 && len(b.text)+need > b.target {
		return Full
	}
	// The server counts the command byte, and refuses a packet that is as
	// long as max_allowed_packet (MySQL manual, "Packet Too Large").
	if len(b.text)+need+1 >= b.limit {
		return TooLarge
	}
	if b.rows > 0 {
		b.text = append(b.text, ',')
	}
	b.text = append(b.text, rows...)
	b.rows += n
	return Added
}

// Finish completes the statement. The text is valid until the next call of
// Next or Start.
func (b *Builder) Finish() []byte {
	b.text = b.plan.AppendTail(b.text)
	return b.text
}

// Next begins another statement of the same plan.
func (b *Builder) Next() { b.text, b.rows = b.plan.AppendHead(b.text[:0]), 0 }
