package rewrite

// Insert is an INSERT or REPLACE cut at its rows.
type Insert struct {
	Head    Span   // from the first byte through VALUES (or VALUE), or through SET
	Tail    Span   // from ON to the last token; empty without a tail
	Set     bool   // the SET form
	Columns []Span // the SET form's column names as written, quotes included
}

// IsInsert reports whether the first word of sql, behind blanks and plain
// comments, is INSERT or REPLACE.
func IsInsert(sql []byte) bool {
	i := 0
	if len(sql) > 0 && !wordByte[sql[0]] {
		s := scanner{sql: sql}
		i = s.skip(0)
	}
	rest := sql[i:]
	for _, word := range [...]string{"INSERT", "REPLACE"} {
		n := len(word)
		if len(rest) > n && foldsTo(rest[:n], word) && !wordByte[rest[n]] && rest[n] < 0x80 {
			return true
		}
	}
	return false
}

// Split cuts an INSERT or REPLACE into head, rows and tail, and reads the rows
// into dst. In the SET form dst holds one row: the values assigned, with one
// span over the assignments.
func Split(dst *Rows, sql []byte, lex *Lex) (Insert, Reason) {
	dst.Reset()
	s := newScanner(sql, lex)
	var in Insert
	if s.why != "" {
		return in, s.why
	}
	end := s.head(&in)
	if s.why != "" {
		return in, s.why
	}
	in.Head = Span{0, end}
	var why Reason
	if in.Set {
		end = s.assignments(dst, &in, end)
		why = s.why
	} else {
		end, why = ScanRows(dst, sql, end, lex)
	}
	if why != "" {
		return in, why
	}
	in.Tail, why = TrimTail(sql, end, lex)
	return in, why
}

// head reads the statement through VALUES or SET and returns the index behind
// it. The keyword is found by the grammar, not by its text: tables and columns
// may be called value, daily_values or `values`.
func (s *scanner) head(in *Insert) int {
	t := s.next(0)
	if !s.is(t, "INSERT") && !s.is(t, "REPLACE") {
		return s.fail(ReasonNotInsert)
	}
	t = s.target(t)
	switch {
	case s.why != "":
		return len(s.sql)
	case s.is(t, "VALUES"), s.is(t, "VALUE"):
		return t.End
	case s.is(t, "SET"):
		in.Set = true
		return t.End
	}
	return s.fail(ReasonNotInsert)
}

// target reads from INSERT or REPLACE, which is t, through the table and its
// column list, and returns the token behind.
func (s *scanner) target(t token) token {
	t = s.next(t.End)
	for s.isModifier(t) {
		t = s.next(t.End)
	}
	if s.is(t, "INTO") {
		t = s.next(t.End)
	}
	t = s.tableName(t)
	if s.is(t, "PARTITION") {
		s.fail(ReasonPartition)
	}
	if s.isOp(t, "(") {
		t = s.columnList(t)
	}
	return t
}

// isModifier reports whether t is IGNORE; the other modifiers are refused.
func (s *scanner) isModifier(t token) bool {
	if s.is(t, "LOW_PRIORITY") || s.is(t, "HIGH_PRIORITY") || s.is(t, "DELAYED") {
		s.fail(ReasonModifier)
	}
	return s.is(t, "IGNORE")
}

// tableName reads [schema.]table from t on and returns the token behind it.
func (s *scanner) tableName(t token) token {
	t = s.nameAfter(t)
	if s.isOp(t, ".") {
		t = s.nameAfter(s.nameAt(t.End))
	}
	return t
}

// nameAfter checks that t is a name and returns the token behind it. A dot
// directly before a digit belongs to the name here, not to a number.
func (s *scanner) nameAfter(t token) token {
	if t.kind != tokenWord && t.kind != tokenName {
		s.fail(ReasonNotInsert)
	}
	i := s.skip(t.End)
	if s.at(i) == '.' {
		return token{Span{i, i + 1}, tokenOp}
	}
	return s.next(i)
}

// nameAt reads the name behind a dot, which may start with a digit.
func (s *scanner) nameAt(i int) token {
	i = s.skip(i)
	if isDigit(s.at(i)) {
		return token{Span{i, s.wordEnd(i)}, tokenWord}
	}
	return s.next(i)
}

// columnList reads a list of names from its parenthesis t on and returns the
// token behind it.
func (s *scanner) columnList(t token) token {
	for s.why == "" {
		name := s.next(t.End)
		if s.is(name, "SELECT") || s.is(name, "WITH") || s.isOp(name, "(") {
			s.fail(ReasonSelect)
		}
		t = s.tableName(name)
		if s.isOp(t, ".") { // schema.table.column
			t = s.nameAfter(s.nameAt(t.End))
		}
		if s.isOp(t, ")") {
			return s.next(t.End)
		}
		if !s.isOp(t, ",") {
			s.fail(ReasonNotInsert)
		}
	}
	return token{Span: Span{len(s.sql), len(s.sql)}}
}

// assignments reads the SET form's list from i on, and returns the index
// behind the last value.
func (s *scanner) assignments(dst *Rows, in *Insert, i int) int {
	first := s.skip(i)
	for {
		name := s.next(i)
		if name.kind != tokenWord && name.kind != tokenName {
			return s.fail(ReasonSyntax)
		}
		equal := s.nameAfter(name)
		if s.isOp(equal, ".") {
			return s.fail(ReasonQualified)
		}
		if !s.isOp(equal, "=") {
			return s.fail(ReasonSyntax)
		}
		span, kind := s.value(equal.End)
		after := s.next(span.End)
		if s.why != "" {
			return len(s.sql)
		}
		in.Columns = append(in.Columns, name.Span)
		dst.Values = append(dst.Values, Value{span, kind})
		dst.Kinds |= 1 << kind
		if !s.isOp(after, ",") {
			dst.Width = len(dst.Values)
			dst.Spans = append(dst.Spans, Span{first, span.End})
			return span.End
		}
		i = after.End
	}
}

// TrimTail reads what follows the last row, from pos on, and returns its span
// without blanks and comments at both ends, and without semicolons that end
// the statement. The span is empty when there is nothing. A tail that is there
// starts with ON: anything else has a reason.
func TrimTail(sql []byte, pos int, lex *Lex) (Span, Reason) {
	if pos == len(sql) {
		return Span{pos, pos}, ""
	}
	s := newScanner(sql, lex)
	t := s.next(pos)
	tail := Span{t.Start, t.Start}
	switch {
	case t.kind == tokenEnd, s.isOp(t, ";"):
	case s.is(t, "ON"):
	case s.is(t, "RETURNING"):
		s.fail(ReasonReturning)
	case s.is(t, "AS"):
		s.fail(ReasonRowAlias)
	default:
		s.fail(ReasonTail)
	}
	for s.why == "" && t.kind != tokenEnd {
		if s.isOp(t, ";") {
			if !onlySemicolons(sql[t.End:]) {
				s.fail(ReasonMulti)
			}
			break
		}
		tail.End = t.End
		t = s.next(t.End)
	}
	return tail, s.why
}

// onlySemicolons reports whether rest holds nothing but semicolons and blanks:
// the server drops those from the end of a command. A comment there would be a
// statement of its own.
func onlySemicolons(rest []byte) bool {
	for _, c := range rest {
		if c != ';' && c != ' ' && (c < '\t' || c > '\r') {
			return false
		}
	}
	return true
}
