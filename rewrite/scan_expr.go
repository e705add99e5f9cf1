package rewrite

// maxDepth bounds the nesting of an expression, and so the stack.
const maxDepth = 40

// value reads one value of a row or assignment at i: DEFAULT, or an expression
// over literals. What follows it is for the caller to judge. s.why is set when
// the value is none that may be batched.
func (s *scanner) value(i int) (Span, Kind) {
	t := s.next(i)
	if s.is(t, "DEFAULT") {
		if after := s.next(t.End); s.isOp(after, "(") {
			s.fail(ReasonFunction)
		}
		return t.Span, Default
	}
	return s.expression(t)
}

// expression reads operands joined by operators from t on. Precedence does not
// matter here: any such sequence is valid, and the server evaluates it.
func (s *scanner) expression(t token) (Span, Kind) {
	s.depth++
	if s.depth > maxDepth {
		s.fail(ReasonDeep)
		return t.Span, Unsafe
	}
	span, kind := s.operand(t)
	for s.why == "" {
		op := s.next(span.End)
		if !s.infix(op) {
			break
		}
		right, rightKind := s.operand(s.next(op.End))
		s.refuseNow(kind, rightKind)
		span.End, kind = right.End, Expr
	}
	s.depth--
	return span, kind
}

// refuseNow fails if the current time is part of an expression: whether the
// result can be NULL would not be known from its kind.
func (s *scanner) refuseNow(kinds ...Kind) {
	for _, k := range kinds {
		if k == Now {
			s.fail(ReasonNowInside)
		}
	}
}

// infix reports whether t is an operator between two operands.
func (s *scanner) infix(t token) bool {
	text := s.sql[t.Start:t.End]
	switch t.kind {
	case tokenOp:
		switch string(text) {
		case "+", "-", "*", "/", "%", "|", "&", "^", "<<", ">>",
			"=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "||", "&&":
			return true
		}
	case tokenWord:
		return foldsTo(text, "DIV") || foldsTo(text, "MOD") || foldsTo(text, "AND") || foldsTo(text, "OR") || foldsTo(text, "XOR")
	}
	return false
}

// operand reads a literal, a signed or parenthesised operand, or a call.
func (s *scanner) operand(t token) (Span, Kind) {
	switch t.kind {
	case tokenString:
		return s.adjacent(t.Span, String)
	case tokenNational:
		return s.adjacent(t.Span, Introduced)
	case tokenIntroducer:
		kind := Introduced
		if foldsTo(s.sql[t.Start:t.End], "_BINARY") {
			kind = Binary
		}
		switch literal := s.next(t.End); literal.kind {
		case tokenString:
			return s.adjacent(Span{t.Start, literal.End}, kind)
		case tokenHex, tokenBit:
			return Span{t.Start, literal.End}, kind
		}
		s.fail(ReasonIdentifier)
	case tokenHex:
		return t.Span, Hex
	case tokenBit:
		return t.Span, Bit
	case tokenInt:
		return t.Span, Int
	case tokenDecimal:
		return t.Span, Decimal
	case tokenFloat:
		return t.Span, Float
	case tokenOp:
		return s.operatorOperand(t)
	case tokenWord:
		return s.wordOperand(t)
	case tokenName:
		s.fail(ReasonIdentifier)
	}
	s.fail(ReasonSyntax)
	return t.Span, Unsafe
}

// adjacent extends a string literal by the string literals that follow it: the
// server joins them.
func (s *scanner) adjacent(span Span, kind Kind) (Span, Kind) {
	for {
		t := s.next(span.End)
		if t.kind != tokenString {
			return span, kind
		}
		span.End, kind = t.End, Introduced
	}
}

// operatorOperand reads the operand that starts with the operator t.
func (s *scanner) operatorOperand(t token) (Span, Kind) {
	switch s.sql[t.Start] {
	case '+', '-', '~':
		right := s.next(t.End)
		number := right.kind == tokenInt || right.kind == tokenDecimal || right.kind == tokenFloat
		if number && right.Start == t.End && s.sql[t.Start] != '~' {
			_, kind := s.operand(right)
			return Span{t.Start, right.End}, kind
		}
		s.depth++
		if s.depth > maxDepth {
			s.fail(ReasonDeep)
			return t.Span, Unsafe
		}
		span, kind := s.operand(right)
		s.depth--
		s.refuseNow(kind)
		return Span{t.Start, span.End}, Expr
	case '(':
		span, kind := s.expression(s.next(t.End))
		s.refuseNow(kind)
		return Span{t.Start, s.expect(span.End, ")")}, Expr
	case '?':
		s.fail(ReasonPlaceholder)
	case '@':
		s.fail(ReasonIdentifier)
	}
	s.fail(ReasonSyntax)
	return t.Span, Unsafe
}

// expect returns the index after the operator op, which must come next.
func (s *scanner) expect(i int, op string) int {
	t := s.next(i)
	if !s.isOp(t, op) {
		return s.fail(ReasonSyntax)
	}
	return t.End
}

// wordOperand reads the operand that starts with the unquoted word t.
func (s *scanner) wordOperand(t token) (Span, Kind) {
	if s.at(t.End) == '(' {
		return s.call(t)
	}
	var buf [maxFunctionName]byte
	word := string(uppered(&buf, s.sql[t.Start:t.End]))
	switch word {
	case "NULL":
		return t.Span, Null
	case "TRUE", "FALSE":
		return t.Span, Bool
	case "SELECT":
		s.fail(ReasonSubquery)
		return t.Span, Unsafe
	}
	after := s.next(t.End)
	switch {
	case after.kind == tokenString && (word == "DATE" || word == "TIMESTAMP"):
		return Span{t.Start, after.End}, Temporal
	case after.kind == tokenString && word == "TIME":
		s.fail(ReasonTimeOfDay)
	case s.isOp(after, "("):
		s.fail(ReasonFunctionBlank)
	case s.isOp(after, "."):
		s.fail(ReasonQualified)
	case currentTime[word] == currentBare:
		return t.Span, Now
	}
	s.fail(ReasonIdentifier)
	return t.Span, Unsafe
}

// call reads the call of the function t, whose parenthesis follows directly.
func (s *scanner) call(t token) (Span, Kind) {
	var buf [maxFunctionName]byte
	name := uppered(&buf, s.sql[t.Start:t.End])
	if currentTime[string(name)] != 0 {
		return s.callCurrentTime(t, string(name))
	}
	f, ok := functions[string(name)]
	if !ok || !f.existsIn(s.dialect, s.version) {
		s.fail(ReasonFunction)
		return t.Span, Unsafe
	}
	switch f.form {
	case formCast:
		return s.callCast(t)
	case formConvert:
		return s.callConvert(t)
	}
	end, count, last := s.arguments(t.End + 1)
	if s.why != "" {
		return t.Span, Unsafe
	}
	span := Span{t.Start, end}
	switch {
	case f.form == formUnixTimestamp && count == 0:
		return span, Now
	case f.form == formStrToDate && !formatHasDate(s.sql[last.Start:last.End]):
		s.fail(ReasonTimeOfDay)
	case !f.takes(count):
		s.fail(ReasonArguments)
	}
	return span, Expr
}

// arguments reads the arguments of a call from behind its parenthesis on. It
// returns the index after the closing one, how many there are, and the last.
func (s *scanner) arguments(i int) (end, count int, last Span) {
	t := s.next(i)
	if s.isOp(t, ")") {
		return t.End, 0, last
	}
	for s.why == "" {
		span, kind := s.expression(t)
		s.refuseNow(kind)
		count++
		last = span
		switch after := s.next(span.End); {
		case s.isOp(after, ")"):
			return after.End, count, last
		case s.isOp(after, ","):
			t = s.next(after.End)
		default:
			s.fail(ReasonArguments)
		}
	}
	return len(s.sql), count, last
}

// callCurrentTime reads the arguments of NOW() and its like.
func (s *scanner) callCurrentTime(t token, name string) (Span, Kind) {
	arg := s.next(t.End + 1)
	if s.isOp(arg, ")") {
		return Span{t.Start, arg.End}, Now
	}
	digit := s.at(arg.Start)
	if arg.kind != tokenInt || arg.End-arg.Start != 1 || digit > '6' || isDateOnly(name) {
		s.fail(ReasonArguments)
		return t.Span, Unsafe
	}
	if digit != '0' {
		s.fail(finer[digit-'0'])
	}
	return Span{t.Start, s.expect(arg.End, ")")}, Now
}

// callCast reads CAST(x AS type).
func (s *scanner) callCast(t token) (Span, Kind) {
	span, kind := s.expression(s.next(t.End + 1))
	s.refuseNow(kind)
	as := s.next(span.End)
	if !s.is(as, "AS") {
		s.fail(ReasonArguments)
	}
	return Span{t.Start, s.expect(s.castType(as.End), ")")}, Expr
}

// callConvert reads CONVERT(x, type) and CONVERT(x USING charset).
func (s *scanner) callConvert(t token) (Span, Kind) {
	span, kind := s.expression(s.next(t.End + 1))
	s.refuseNow(kind)
	i := len(s.sql)
	switch by := s.next(span.End); {
	case s.isOp(by, ","):
		i = s.castType(by.End)
	case s.is(by, "USING"):
		name := s.next(by.End)
		if name.kind != tokenWord || !introducer(append([]byte{'_'}, s.sql[name.Start:name.End]...), s.dialect) {
			s.fail(ReasonArguments)
		}
		i = name.End
	default:
		s.fail(ReasonArguments)
	}
	return Span{t.Start, s.expect(i, ")")}, Expr
}

// castType reads the target type of a cast and returns the index after it.
// TIME is missing: see ReasonTimeOfDay.
func (s *scanner) castType(i int) int {
	t := s.next(i)
	most := 0 // numbers in parentheses behind the type
	switch {
	case s.is(t, "SIGNED"), s.is(t, "UNSIGNED"):
		if integer := s.next(t.End); s.is(integer, "INTEGER") {
			return integer.End
		}
	case s.is(t, "DATE"), s.is(t, "JSON") && s.dialect == MySQL:
	case s.is(t, "CHAR"), s.is(t, "BINARY"), s.is(t, "DATETIME"):
		most = 1
	case s.is(t, "DECIMAL"):
		most = 2
	default:
		return s.fail(ReasonArguments)
	}
	open := s.next(t.End)
	if most == 0 || !s.isOp(open, "(") {
		return t.End
	}
	for i = open.End; most > 0; most-- {
		n := s.next(i)
		if n.kind != tokenInt {
			break
		}
		after := s.next(n.End)
		if s.isOp(after, ")") {
			return after.End
		}
		if !s.isOp(after, ",") {
			break
		}
		i = after.End
	}
	return s.fail(ReasonArguments)
}
