package rewrite

import "strconv"

// ReplaceRowCount writes n for every call of ROW_COUNT() in a statement: what the
// server would say after a batched statement of n rows, which it has not run. A bare
// item of a select list keeps its name. ok is false if there is no call, or the text
// is not understood.
func ReplaceRowCount(sql []byte, lex *Lex, n int) (out []byte, ok bool) {
	s := newScanner(sql, lex)
	copied, depth := 0, 0
	list := s.is(s.next(0), "SELECT") // items of a select list are not in parentheses
	var before token
	for t := s.next(0); s.why == "" && t.kind != tokenEnd; t = s.next(t.End) {
		if !s.is(t, "ROW_COUNT") {
			if s.isOp(t, "(") {
				depth++
			} else if s.isOp(t, ")") {
				depth--
			}
			before = t
			continue
		}
		open := s.next(t.End)
		if !s.isOp(open, "(") {
			before = t // a column of that name
			continue
		}
		closing := s.next(open.End)
		if !s.isOp(closing, ")") {
			return nil, false
		}
		out = append(out, sql[copied:t.Start]...)
		out = strconv.AppendInt(out, int64(n), 10)
		copied = closing.End
		after := s.next(closing.End)
		bare := after.kind == tokenEnd || s.isOp(after, ",") || s.isOp(after, ";") || s.is(after, "FROM")
		if list && bare && depth == 0 && (s.is(before, "SELECT") || s.isOp(before, ",")) {
			out = append(out, " AS `"...)
			out = append(out, sql[t.Start:closing.End]...)
			out = append(out, '`')
		}
		before, t = closing, closing
		ok = true
	}
	if s.why != "" || !ok {
		return nil, false
	}
	return append(out, sql[copied:]...), true
}
