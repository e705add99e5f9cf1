package rewrite

// Kind says what a value in a row is, as far as the scanner can prove it.
type Kind uint8

// The kinds of values. Only kinds below Unsafe may be batched.
const (
	Null       Kind = iota // NULL
	Default                // DEFAULT
	Int                    // optional sign, digits only
	Decimal                // digits with a point, optional sign
	Float                  // with an exponent
	String                 // one '...' literal (or "..." without ANSI_QUOTES), no introducer
	Introduced             // _charset'...', N'...', adjacent literals 'a' 'b', COLLATE
	Binary                 // _binary'...', _binary 0x41: any bytes, and so never NULL
	Hex                    // 0x41, X'41'
	Bit                    // 0b1, B'1'
	Bool                   // TRUE, FALSE
	Temporal               // DATE'...', TIME'...', TIMESTAMP'...'
	Now                    // NOW(), CURRENT_TIMESTAMP, ... whole seconds: the time at which the row was sent
	Expr                   // an expression over literals with built-in functions of the closed list (S02)
	Unsafe                 // anything else: the statement is relayed
)

// Span is a half-open range of bytes [Start, End) of the text it belongs to.
type Span struct{ Start, End int }

// Value is one value of a row: its bytes, without surrounding blanks and
// comments, and its kind.
type Value struct {
	Span
	Kind Kind
}

// Rows is the result of a scan, reused from statement to statement. Offsets
// refer to the text that was scanned.
type Rows struct {
	Spans  []Span  // one per row, from '(' to ')' inclusive; in the SET form one span over the assignments
	Values []Value // all rows back to back
	Width  int     // values per row, the same for every row
	Kinds  uint32  // bit 1<<Kind for each kind seen
}

// Row returns the values of row i. The slice is valid until the next scan.
func (r *Rows) Row(i int) []Value { return r.Values[i*r.Width : (i+1)*r.Width] }

// Len is the number of rows.
func (r *Rows) Len() int { return len(r.Spans) }

// Reset empties r and keeps its memory.
func (r *Rows) Reset() { r.Spans, r.Values, r.Width, r.Kinds = r.Spans[:0], r.Values[:0], 0, 0 }
