package rewrite

// StatementKind is the kind of a statement by its first words.
type StatementKind uint8

// The kinds of statements.
const (
	StmtOther StatementKind = iota // none of the others, or not understood
	StmtEmpty
	StmtInsert // also REPLACE
	StmtSelect
	StmtUpdate
	StmtDelete
	StmtBegin // BEGIN, START TRANSACTION
	StmtCommit
	StmtRollback
	StmtRollbackTo
	StmtSavepoint
	StmtRelease // RELEASE SAVEPOINT
	StmtSet
	StmtUse
	StmtShow
	StmtExplain
	StmtDDL // also GRANT and REVOKE: they commit as well
	StmtLoadData
	StmtLock
	StmtUnlock
	StmtCall
	StmtPrepare
	StmtExecute
	StmtDeallocate
	StmtKill
	StmtXa
	StmtDo
	StmtHandler
	StmtFlush
	StmtMulti // a semicolon with more behind it
)

// Class is what the tokens of a statement tell.
type Class struct {
	Kind    StatementKind
	Chain   bool // COMMIT or ROLLBACK ... AND CHAIN
	Release bool // COMMIT or ROLLBACK ... RELEASE: the session ends

	// Harmless: provably leaves the session's variables, temporary tables,
	// roles and prepared statements alone, and takes no lock. It speaks of the
	// text only: a view that the statement names may call a stored function.
	Harmless bool

	// Inspects: could show what earlier statements left behind: ROW_COUNT(),
	// LAST_INSERT_ID(), SHOW WARNINGS and the like.
	Inspects bool
}

// Classify reads the tokens of a statement. Where it is not understood, and
// where it has executable comments or hints, the kind is StmtOther, and the
// worst is assumed.
func Classify(sql []byte, lex *Lex) Class {
	c := classifier{s: newScanner(sql, lex)}
	if c.s.why == "" {
		c.read()
	}
	if c.s.why != "" {
		return Class{Kind: StmtOther, Inspects: true}
	}
	return c.class
}

// classifier goes over the tokens of one statement.
type classifier struct {
	s         scanner
	class     Class
	system    bool // an @@ was seen
	suspect   bool // something was seen that a harmless SELECT does not have
	last      token
	qualified bool // last stands behind a dot
}

func (c *classifier) read() {
	first := c.s.next(0)
	for c.s.isOp(first, "(") {
		first = c.s.next(first.End)
	}
	c.class.Kind = c.kind(first)
	for t := c.s.next(0); t.kind != tokenEnd; t = c.s.next(t.End) {
		if c.s.isOp(t, ";") {
			if !onlySemicolons(c.s.sql[t.End:]) {
				c.class = Class{Kind: StmtMulti, Inspects: true}
				return
			}
			break
		}
		c.look(t)
	}
	switch c.class.Kind {
	case StmtEmpty, StmtBegin, StmtSavepoint, StmtRollbackTo, StmtRelease:
		c.class.Harmless = true
	case StmtCommit, StmtRollback:
		c.class.Harmless = !c.class.Release
	case StmtSelect:
		c.class.Harmless = !c.suspect
	case StmtShow:
		c.class.Inspects = c.class.Inspects || c.showsDiagnostics(first)
	}
}

// kind tells the kind by the first word and what must follow it.
func (c *classifier) kind(first token) StatementKind {
	s := &c.s
	if first.kind == tokenEnd || s.isOp(first, ";") {
		return StmtEmpty
	}
	if first.kind != tokenWord {
		return StmtOther
	}
	second := s.next(first.End)
	var buf [maxFunctionName]byte
	switch string(uppered(&buf, s.sql[first.Start:first.End])) {
	case "INSERT", "REPLACE":
		return StmtInsert
	case "SELECT":
		return StmtSelect
	case "UPDATE":
		return StmtUpdate
	case "DELETE":
		return StmtDelete
	case "BEGIN":
		return s.when(StmtBegin, s.ends(second) || s.is(second, "WORK") && s.ends(s.next(second.End)))
	case "START":
		return s.when(StmtBegin, s.is(second, "TRANSACTION"))
	case "COMMIT":
		return c.completion(StmtCommit, second)
	case "ROLLBACK":
		return c.completion(StmtRollback, second)
	case "SAVEPOINT":
		return StmtSavepoint
	case "RELEASE":
		return s.when(StmtRelease, s.is(second, "SAVEPOINT"))
	case "SET":
		return s.when(StmtSet, !s.is(second, "STATEMENT")) // MariaDB: SET STATEMENT ... FOR any statement
	case "USE":
		return StmtUse
	case "SHOW":
		return StmtShow
	case "EXPLAIN", "DESCRIBE", "DESC":
		return StmtExplain
	case "CREATE", "ALTER", "RENAME", "TRUNCATE", "GRANT", "REVOKE":
		return StmtDDL
	case "DROP":
		if s.is(second, "PREPARE") {
			return StmtDeallocate
		}
		return StmtDDL
	case "LOAD":
		return s.when(StmtLoadData, s.is(second, "DATA") || s.is(second, "XML"))
	case "LOCK":
		return StmtLock
	case "UNLOCK":
		return StmtUnlock
	case "CALL":
		return StmtCall
	case "PREPARE":
		return StmtPrepare
	case "EXECUTE":
		return StmtExecute
	case "DEALLOCATE":
		return StmtDeallocate
	case "KILL":
		return StmtKill
	case "XA":
		return StmtXa
	case "DO":
		return StmtDo
	case "HANDLER":
		return StmtHandler
	case "FLUSH":
		return StmtFlush
	case "GET": // GET DIAGNOSTICS
		c.class.Inspects = true
	}
	return StmtOther
}

// when returns kind if ok, else StmtOther.
func (s *scanner) when(kind StatementKind, ok bool) StatementKind {
	if ok {
		return kind
	}
	return StmtOther
}

// ends reports whether t ends a statement.
func (s *scanner) ends(t token) bool { return t.kind == tokenEnd || s.isOp(t, ";") }

// completion reads what follows COMMIT or ROLLBACK from t on:
// [WORK] [AND [NO] CHAIN] [[NO] RELEASE], or [WORK] TO [SAVEPOINT] name.
func (c *classifier) completion(kind StatementKind, t token) StatementKind {
	s := &c.s
	if s.is(t, "WORK") {
		t = s.next(t.End)
	}
	if kind == StmtRollback && s.is(t, "TO") {
		return StmtRollbackTo
	}
	if s.is(t, "AND") {
		no := s.next(t.End)
		t = no
		if s.is(no, "NO") {
			t = s.next(no.End)
		}
		if !s.is(t, "CHAIN") {
			return StmtOther
		}
		c.class.Chain = t == no
		t = s.next(t.End)
	}
	no := t
	if s.is(no, "NO") {
		t = s.next(no.End)
	}
	if s.is(t, "RELEASE") {
		c.class.Release = t == no
		t = s.next(t.End)
	} else if t != no {
		return StmtOther
	}
	return s.when(kind, s.ends(t))
}

// showsDiagnostics reports whether a SHOW, whose first word is t, shows
// warnings or errors.
func (c *classifier) showsDiagnostics(t token) bool {
	for ; !c.s.ends(t); t = c.s.next(t.End) {
		if c.s.is(t, "WARNINGS") || c.s.is(t, "ERRORS") {
			return true
		}
	}
	return false
}
