package rewrite

// ScanRows reads the rows of a VALUES list. sql[pos:] starts, after blanks and
// comments, with the first row's parenthesis. It returns the index of the
// first byte after the last row's. Offsets in dst refer to sql.
//
// A reason means that some row may not be batched, or was not understood; dst
// then holds nothing of use.
func ScanRows(dst *Rows, sql []byte, pos int, lex *Lex) (end int, why Reason) {
	dst.Reset()
	s := newScanner(sql, lex)
	if s.why != "" {
		return pos, s.why
	}
	i := pos
	if i >= len(sql) || sql[i] != '(' {
		i = s.skip(i)
	}
	if i >= len(sql) || sql[i] != '(' {
		if t := s.next(i); s.is(t, "ROW") {
			s.fail(ReasonRowConstructor)
		}
		s.fail(ReasonNoRows)
		return pos, s.why
	}
	for {
		i = s.row(dst, i)
		if s.why != "" {
			return pos, s.why
		}
		end = i
		// The next row, or whatever follows the last one.
		if s.at(i) != ',' {
			i = s.skip(i)
			if s.at(i) != ',' {
				break
			}
		}
		i++
		if s.at(i) != '(' {
			i = s.skip(i)
			if s.at(i) != '(' {
				s.fail(ReasonSyntax)
			}
		}
	}
	return end, s.why
}

// ScanRowList reads a text that holds rows and nothing else.
func ScanRowList(dst *Rows, rows []byte, lex *Lex) Reason {
	end, why := ScanRows(dst, rows, 0, lex)
	if why != "" {
		return why
	}
	s := newScanner(rows, lex)
	if s.skip(end) < len(rows) {
		s.fail(ReasonSyntax)
	}
	return s.why
}

// row reads the row whose parenthesis is at i, appends it to dst and returns
// the index after it.
func (s *scanner) row(dst *Rows, i int) int {
	b := s.sql
	start, first := i, len(dst.Values)
	values, kinds := dst.Values, dst.Kinds
	i++
	for {
		for i < len(b) && b[i] == ' ' {
			i++
		}
		end, kind := s.literal(i)
		if end > 0 {
			// Nearly always the literal is the whole value.
			j := end
			if j < len(b) && b[j] != ',' && b[j] != ')' {
				j = s.skip(j)
			}
			if j < len(b) {
				if c := b[j]; c == ',' || c == ')' {
					values = append(values, Value{Span{i, end}, kind})
					kinds |= 1 << kind
					i = j + 1
					if c == ')' {
						break
					}
					continue
				}
			}
		}
		span, kind := s.value(i)
		after := s.next(span.End)
		if s.why != "" {
			return s.emptyRow(start)
		}
		values = append(values, Value{span, kind})
		kinds |= 1 << kind
		i = after.End
		if s.isOp(after, ")") {
			break
		}
		if !s.isOp(after, ",") {
			return s.fail(ReasonSyntax)
		}
	}
	dst.Values, dst.Kinds = values, kinds
	dst.Spans = append(dst.Spans, Span{start, i})
	if width := len(values) - first; width != dst.Width {
		if dst.Width != 0 {
			return s.fail(ReasonWidth)
		}
		dst.Width = width
	}
	return i
}

// emptyRow puts the reason right where a value failed because the row that
// starts at i has none.
func (s *scanner) emptyRow(i int) int {
	why := s.why
	s.why = ""
	if t := s.next(i + 1); s.isOp(t, ")") {
		why = ReasonEmptyRow
	}
	s.why = why
	return len(s.sql)
}

// literal is the short cut for the values that loaders send: a string, a
// number, NULL. It returns the index after the literal at i, and its kind, or
// 0 where the tokens must decide.
func (s *scanner) literal(i int) (end int, kind Kind) {
	b := s.sql
	if i >= len(b) {
		return 0, Unsafe
	}
	c := b[i]
	switch {
	case c == '\'' || c == '"' && !s.ansi:
		end = s.closeQuote(i+1, c)
		if end < 0 || end > len(b) {
			return 0, Unsafe
		}
		return end, String
	case c == 'N' || c == 'n':
		if i+4 < len(b) && foldsTo(b[i:i+4], "NULL") && !wordByte[b[i+4]] && b[i+4] < 0x80 && b[i+4] != '(' {
			return i + 4, Null
		}
		return 0, Unsafe
	case c == '-' && i+1 < len(b) && isDigit(b[i+1]):
		i++
	case !isDigit(c):
		return 0, Unsafe
	}
	kind = Int
	j := i + 1
	for j < len(b) && isDigit(b[j]) {
		j++
	}
	if j < len(b) && b[j] == '.' {
		kind = Decimal
		for j++; j < len(b) && isDigit(b[j]); j++ {
		}
	}
	if j >= len(b) || wordByte[b[j]] || b[j] >= 0x80 || b[j] == '.' {
		return 0, Unsafe // 0x41, 1e5, 1abc
	}
	return j, kind
}
