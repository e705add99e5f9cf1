package proxy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-db/sluice/backend"
	"github.com/sluice-db/sluice/backend/schema"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// globals are the server's global variables, read when a session's differ from
// what is cached. Shared by all sessions of a server.
type globals struct {
	mu   sync.Mutex
	vars map[string]string
}

// validate checks a shape on the session's own connection, before the OK of an
// insert, so that nothing of it can be seen (S26): the session's variables (S04),
// that the target is a base table (S04), and by PREPARE the server's own checks of
// syntax, columns and this user's privileges. A Reason says why it is relayed.
func (x *session) validate(s *shape, sql []byte) (rewrite.Reason, error) {
	before, err := x.backend.Query("SELECT FOUND_ROWS()")
	if why, err := reasonOrBroken(err); why != "" || err != nil {
		return why, err
	}
	why, err := x.check(s, sql)
	if err != nil {
		return why, err
	}
	lost, err := x.restoreFoundRows(string(before.Rows[0][0]))
	if why == "" {
		why = lost
	}
	return why, err
}

// check is validate but for FOUND_ROWS().
func (x *session) check(s *shape, sql []byte) (rewrite.Reason, error) {
	b := &x.b
	if b.state == nil {
		if why, err := x.readState(); why != "" || err != nil {
			return why, err
		}
		// The text is read again, as the server reads it.
		again, why := b.find(sql)
		if why != "" {
			return why, nil
		}
		if again != s {
			return "reads differently under the session's own settings", nil
		}
	}
	if why := b.parse(s, sql); why != "" {
		return why, nil
	}
	if s.form.Schema == "" && b.state.Schema == "" {
		return "no schema is selected", nil
	}
	base, definition, err := schema.OwnView(x.backend, s.form.Schema, s.form.Table)
	if why, err := reasonOrBroken(err); why != "" || err != nil {
		return why, err
	}
	if x.greet.IsMariaDB() && x.backend.Caps.Base&wire.ClientSessionTrack != 0 {
		// MariaDB reports a setting that OwnView changed for its one statement with the
		// next OK that reports any: that is to be ours and not the client's.
		if _, err := x.backend.Query("SET character_set_results = @@character_set_results"); err != nil {
			return reasonOrBroken(err)
		}
	}
	if !base {
		return "not a base table", nil
	}
	if s.plan == nil || s.plan.Table.Definition != definition {
		if why, err := x.plan(s, definition); why != "" || err != nil {
			return why, err
		}
	}
	b.newest.lost = x.greet.IsMariaDB()
	if why, err := reasonOrBroken(x.backend.Check(sql)); why != "" || err != nil {
		return why, err
	}
	s.checked = time.Now()
	if b.Engine == nil {
		s.target = backend.NewShape(s.plan, x.login.User)
		return "", nil
	}
	if s.target, err = b.Engine.Shape(s.plan, b.vars, x.login.User); err != nil {
		return rewrite.Reason(err.Error()), nil
	}
	s.windows = s.target.Windows()
	return "", nil
}

// reasonOrBroken tells a server's refusal from a broken connection.
func reasonOrBroken(err error) (rewrite.Reason, error) {
	var said *wire.Error
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &said):
		return rewrite.Reason(fmt.Sprintf("the server refuses it (error %d)", said.Code)), nil
	case errors.Is(err, schema.ErrNoTable):
		return "no such table", nil
	}
	return "", err
}

// parse reads the grammar of a shape, once.
func (b *batching) parse(s *shape, sql []byte) rewrite.Reason {
	if s.form != nil && s.lex == b.lex {
		return ""
	}
	sample := sql[b.rows.Spans[0].Start:b.rows.Spans[0].End]
	form, why := rewrite.ParseForm([]byte(s.head), []byte(s.tail), s.set, s.columns, sample, &b.lex)
	if why != "" {
		return why
	}
	s.form, s.lex = &form, b.lex
	return ""
}

// plainTarget says whether an insert that is relayed before its shape was validated
// goes to a table without triggers, and so leaves the session's state as it is.
func (x *session) plainTarget(s *shape, sql []byte) bool {
	b := &x.b
	if b.Engine == nil || b.parse(s, sql) != "" {
		return false
	}
	name := s.form.Schema
	if name == "" {
		name = b.state.Schema
	}
	t, err := b.Engine.Table(x.ctx, name, s.form.Table)
	return err == nil && t.Base && !t.Triggers
}

// whyExact: a duplicate changes what the statement affects.
const whyExact rewrite.Reason = "IGNORE, REPLACE or ON DUPLICATE KEY UPDATE under affected_rows: exact"

// largestInsert is more than any insert has that is not relayed for its length.
const largestInsert = 130 << 10

// plan applies the shape's form to the table's metadata.
func (x *session) plan(s *shape, definition string) (rewrite.Reason, error) {
	b := &x.b
	name := s.form.Schema
	if name == "" {
		name = b.state.Schema
	}
	if b.Off != nil && b.Off(x.login.User, name, s.form.Table) {
		return "a rule switches batching off", nil
	}
	if b.Exact != nil && !s.form.Plain() && b.Exact(x.login.User, name, s.form.Table) {
		return whyExact, nil
	}
	t, err := x.table(name, s.form.Table)
	if err == nil && t.Definition != definition && b.Engine != nil {
		b.Engine.Changed() // DDL that went past sluice
		b.generation = b.Engine.Generation()
		t, err = x.table(name, s.form.Table)
	}
	if err != nil {
		var said *wire.Error
		if b.Engine == nil && !errors.As(err, &said) && !errors.Is(err, schema.ErrNoTable) {
			return "", err
		}
		x.log.Debug().Err(err).Str("table", name+"."+s.form.Table).Msg("metadata")
		return "the table's definition cannot be read", nil
	}
	if t.Definition != definition {
		return "the service account sees another table", nil
	}
	p, why := rewrite.NewPlan(*s.form, t, b.state)
	if why != "" {
		return why, nil
	}
	// With the columns named, a statement is longer than the client wrote it.
	if n := b.maxPacket(); n > 0 && len(p.AppendHead(nil))+len(p.AppendTail(nil))+largestInsert > n {
		return "max_allowed_packet is small", nil
	}
	s.plan = p
	s.reject = b.Reject != nil && b.Reject(x.login.User, name, s.form.Table)
	return "", nil
}

// table reads a table's metadata: by the service account, or without one on the
// session's own connection.
func (x *session) table(name, table string) (*rewrite.Table, error) {
	b := &x.b
	if b.Engine != nil {
		return b.Engine.Table(x.ctx, name, table)
	}
	return schema.Load(x.backend, b.lex.Dialect, b.lex.Version, name, table)
}

// readState reads the session's variables from the server.
func (x *session) readState() (rewrite.Reason, error) {
	b := &x.b
	first, err := x.backend.Query("SELECT DATABASE(), @@timestamp")
	if why, err := reasonOrBroken(err); why != "" || err != nil {
		return why, err
	}
	r, err := x.backend.Query("SHOW SESSION VARIABLES")
	if why, err := reasonOrBroken(err); why != "" || err != nil {
		return why, err
	}
	vars := variables(r)
	tracks := vars["session_track_transaction_info"]
	b.tracked = tracks != "" && tracks != "OFF"
	lex := x.baseLex()
	if rewrite.FixedTimestamp(string(first.Rows[0][1]), vars["timestamp"]) {
		return "the client has set timestamp", nil
	}
	state, why := rewrite.NewState(vars, lex.Dialect, lex.Version)
	if why != "" {
		return why, nil
	}
	global, err := x.globalVariables(vars, lex.Dialect)
	if why, err := reasonOrBroken(err); why != "" || err != nil {
		return why, err
	}
	if why := rewrite.HarmlessVariables(vars, global, lex.Dialect); why != "" {
		return why, nil
	}
	// A loading connection cannot take this one on inside a transaction.
	if name := "explicit_defaults_for_timestamp"; vars[name] != global[name] {
		return rewrite.Reason("session variable " + name + " differs from the global one"), nil
	}
	state.Schema = string(first.Rows[0][0])
	if b.lex != state.Lex {
		b.latest = nil
	}
	secure := vars["secure_timestamp"]
	b.timeFixed = secure != "" && secure != "NO"
	b.vars, b.lex, b.state = neededVariables(vars, state), state.Lex, state
	b.idle = idleLimit(vars)
	return "", nil
}

// neededVariables are those that a session goes on to use: all of them take 55 KiB.
func neededVariables(vars map[string]string, s *rewrite.State) map[string]string {
	needed := make(map[string]string)
	for _, name := range []string{"auto_increment_increment", "auto_increment_offset", "max_allowed_packet"} {
		needed[name] = vars[name]
	}
	for _, setting := range s.Carry() {
		needed[setting.Name] = vars[setting.Name]
	}
	return needed
}

func variables(r *wire.Result) map[string]string {
	vars := make(map[string]string, len(r.Rows))
	for _, row := range r.Rows {
		vars[strings.ToLower(string(row[0]))] = string(row[1])
	}
	return vars
}

// globalVariables gives the server's global variables from the cache, or reads them
// again when the session does not fit them: they may have been changed.
func (x *session) globalVariables(session map[string]string, d rewrite.Dialect) (map[string]string, error) {
	g := &x.server.globals
	g.mu.Lock()
	vars := g.vars
	g.mu.Unlock()
	if vars != nil && rewrite.HarmlessVariables(session, vars, d) == "" {
		return vars, nil
	}
	r, err := x.backend.Query("SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, err
	}
	vars = variables(r)
	g.mu.Lock()
	g.vars = vars
	g.mu.Unlock()
	return vars, nil
}

// restoreFoundRows makes FOUND_ROWS() what it was before sluice looked. A SELECT and
// a SHOW set it, an INSERT leaves it (both servers).
func (x *session) restoreFoundRows(found string) (rewrite.Reason, error) {
	sql, ok := foundRows(found, "")
	if !ok {
		return "FOUND_ROWS() is too large to be restored", nil
	}
	_, err := x.backend.Query(sql)
	return reasonOrBroken(err)
}

// foundRows is a SELECT after which FOUND_ROWS() has a value, into what the clause says.
func foundRows(found, into string) (sql string, ok bool) {
	const digit = "(SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4" +
		" UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) "
	switch {
	case found == "1":
		return "SELECT 1" + into + " FROM (SELECT 1 n) a", true
	case found == "0" && into == "":
		return "SELECT 1 FROM DUAL WHERE 1 = 0", true
	case found == "0": // a row that MariaDB does not count; MySQL does
		return "SELECT 1" + into, true
	case len(found) > 6:
		return "", false
	}
	from, value := "", ""
	for i := range len(found) {
		if i > 0 {
			from, value = from+", ", value+" + "
		}
		name := string(rune('a' + i))
		from += digit + name
		value += name + ".n * 1" + strings.Repeat("0", i)
	}
	return "SELECT SQL_CALC_FOUND_ROWS 1" + into + " FROM " + from + " WHERE " + value + " < " + found + " LIMIT 1", true
}

// idleLimit is how long a client that only inserts may leave its own connection
// without a statement, of which the server knows nothing else: a third of wait_timeout,
// or of MariaDB's timeouts for idle transactions, which are 0 if they do not apply.
func idleLimit(vars map[string]string) time.Duration {
	limit := time.Second
	if seconds, err := strconv.Atoi(vars["wait_timeout"]); err == nil {
		limit = time.Duration(seconds) * time.Second / 3
	}
	for _, name := range []string{"idle_transaction_timeout", "idle_readonly_transaction_timeout", "idle_write_transaction_timeout"} {
		if seconds, err := strconv.Atoi(vars[name]); err == nil && seconds > 0 {
			limit = min(limit, time.Duration(seconds)*time.Second/3)
		}
	}
	return limit
}
