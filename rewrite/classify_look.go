package rewrite

// look takes one token into account, for Harmless and Inspects.
func (c *classifier) look(t token) {
	s := &c.s
	switch t.kind {
	case tokenWord:
		c.lookWord(s.sql[t.Start:t.End])
	case tokenName:
		c.lookInspects(s.sql[t.Start+1 : t.End-1])
	case tokenOp:
		switch string(s.sql[t.Start:t.End]) {
		case "@@":
			c.system = true
		case "@", ":=":
			c.suspect = true
		case "(":
			if !c.harmlessBefore(t) {
				c.suspect = true
			}
		}
	}
	c.qualified = s.isOp(c.last, ".")
	c.last = t
}

// lookWord looks at an unquoted word.
func (c *classifier) lookWord(word []byte) {
	var buf [maxFunctionName]byte
	switch string(uppered(&buf, word)) {
	case "INTO", "FOR", "LOCK", "PROCEDURE", "NEXTVAL", "CURRVAL", "LASTVAL", "SETVAL", "PREVIOUS":
		c.suspect = true
	default:
		c.lookInspects(word)
	}
}

// lookInspects looks at a name, quoted or not.
func (c *classifier) lookInspects(name []byte) {
	var buf [maxFunctionName]byte
	switch string(uppered(&buf, name)) {
	case "ROW_COUNT", "FOUND_ROWS", "LAST_INSERT_ID":
		c.class.Inspects = true
	case "IDENTITY", "WARNING_COUNT", "ERROR_COUNT":
		c.class.Inspects = c.class.Inspects || c.system
	}
}

// harmlessBefore reports whether the parenthesis t may follow the last token
// in a harmless SELECT: behind a keyword, an operator, or as the call of a
// built-in function that changes nothing.
func (c *classifier) harmlessBefore(t token) bool {
	s := &c.s
	switch c.last.kind {
	case tokenName:
		return false
	case tokenWord:
	default:
		return true
	}
	if s.takesParenthesis(c.last) || s.is(c.last, "OVER") {
		return true
	}
	if c.last.End != t.Start || c.qualified {
		return false
	}
	var buf [maxFunctionName]byte
	name := uppered(&buf, s.sql[c.last.Start:c.last.End])
	if string(name) == "LAST_INSERT_ID" { // with an argument it sets the value
		return s.isOp(s.next(t.End), ")")
	}
	if f, ok := functions[string(name)]; ok {
		return f.builtIn(s.dialect, s.version)
	}
	return currentTime[string(name)] != 0 || readOnlyFunctions[string(name)]
}

// readOnlyFunctions are built in everywhere and change nothing in the session,
// but depend on more than their arguments, or give a TIME, or aggregate.
var readOnlyFunctions = func() map[string]bool {
	m := make(map[string]bool)
	for _, name := range []string{
		"COUNT", "SUM", "MIN", "MAX", "AVG", "GROUP_CONCAT", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP",
		"VAR_POP", "VAR_SAMP", "VARIANCE", "BIT_AND", "BIT_OR", "BIT_XOR",
		"DATABASE", "SCHEMA", "VERSION", "USER", "CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "CONNECTION_ID",
		"ROW_COUNT", "FOUND_ROWS", "RAND", "UUID", "SYSDATE", "CHARSET", "COLLATION", "COERCIBILITY",
		"DATE_ADD", "DATE_SUB", "ADDDATE", "SUBDATE", "TIMESTAMPADD", "TIMESTAMPDIFF", "EXTRACT", "POSITION",
		"TIME", "TIMEDIFF", "ADDTIME", "SUBTIME", "MAKETIME", "SEC_TO_TIME", "TIME_FORMAT", "DAYNAME", "MONTHNAME",
	} {
		m[name] = true
	}
	return m
}()
