package proxy

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// statement is what the command loop knows about a command that is not batched.
type statement struct {
	command byte
	text    []byte // of COM_QUERY and COM_STMT_PREPARE, nil if it is not known
	class   rewrite.Class
	why     rewrite.Reason // of an insert that is relayed
	locks   bool           // takes table or global locks
	plain   bool           // an insert that leaves the session's state as it is

	autocommit bool   // SET autocommit and nothing else
	instead    []byte // what is sent in place of the text: ROW_COUNT() as a number
}

// before does what has to be done before a command is relayed: rows that it could
// see are flushed and waited for. said, if there is one, is the answer to the command.
func (x *session) before(st *statement) (said *wire.Error, err error) {
	b := &x.b
	if b.Batching == nil || passes(st.command) {
		b.traces.pinged = b.traces.pinged || st.command == wire.ComPing
		return nil, nil
	}
	if st.class.Kind == rewrite.StmtRollback || endsSession(st.command) {
		x.dropHeld()
	}
	if b.failed != nil {
		return x.afterFailure(st), nil
	}
	if b.held.Len() > 0 {
		reason := "barrier"
		if st.class.Kind == rewrite.StmtCommit {
			reason = "commit"
		}
		err := x.flushHeld(reason, st.class.Inspects)
		if errors.As(err, &said) {
			if st.class.Kind == rewrite.StmtCommit {
				b.failed, b.touched = nil, false // COMMIT has told, the transaction is over
			}
			return said, nil
		}
		if err != nil {
			return nil, err
		}
		b.traces.valid = b.traces.pinged || b.flusher.Cleared
	}
	if st.class.Kind == rewrite.StmtDDL && b.Engine != nil {
		b.Engine.Changed()
	}
	if st.class.Kind == rewrite.StmtSelect && st.class.Harmless && b.state != nil {
		st.class.Harmless = x.inert(st.text)
	}
	if err := x.await(st); errors.As(err, &said) {
		return said, nil
	} else if err != nil {
		return nil, err
	}
	if st.class.Inspects && b.traces.valid && !onlyFoundRows(st.text) {
		if n := b.traces.rows; n != 1 && !b.traces.pinged && st.command == wire.ComQuery && st.text != nil {
			st.instead, _ = rewrite.ReplaceRowCount(st.text, &b.lex, n)
		}
		if err := x.restoreTraces(st.text); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// passes: commands that neither see rows nor change what a session's rows mean.
func passes(command byte) bool {
	switch command {
	case wire.ComPing, wire.ComStatistics, wire.ComStmtClose, wire.ComStmtSendLongData, wire.ComProcessKill:
		return true
	}
	return false
}

// endsSession: commands with which the server rolls back what is open.
func endsSession(command byte) bool {
	return command == wire.ComQuit || command == wire.ComChangeUser || command == wire.ComResetConnection
}

// afterFailure lets a failed transaction end and answers everything else with its
// error (S14).
func (x *session) afterFailure(st *statement) (said *wire.Error) {
	b := &x.b
	switch {
	case st.class.Kind == rewrite.StmtRollback, endsSession(st.command):
		b.failed, b.touched = nil, false
		return nil
	case st.class.Kind == rewrite.StmtCommit:
		said := b.failed
		b.failed, b.touched = nil, false
		return said
	}
	return b.failed
}

// await waits until the journaled rows that a command could see are on the server.
func (x *session) await(st *statement) error {
	b := &x.b
	if x.parked || !b.owes() {
		return nil
	}
	if b.doubt && !x.onlyTraces(st) {
		if _, err := x.askStatus(); err != nil {
			return err
		}
	}
	if !x.mayWait() {
		return nil
	}
	switch st.class.Kind {
	case rewrite.StmtKill, rewrite.StmtDeallocate:
		return nil
	case rewrite.StmtSelect, rewrite.StmtUpdate, rewrite.StmtDelete, rewrite.StmtInsert:
		if st.text == nil || x.inTransaction() {
			break // a transaction's first statement flushes all (S23)
		}
		if err := x.readStateFor(st); err != nil {
			return err
		}
		names, complete := rewrite.TableNames(st.text, &b.lex, x.schemaName())
		if b.state == nil {
			complete = false // the current schema and how the text is read are not known
		}
		return x.waitFor(names, complete)
	}
	switch st.command {
	case wire.ComStmtPrepare, wire.ComStmtReset, wire.ComQuit, wire.ComSetOption:
		return nil
	}
	return x.awaitAll()
}

// inert says whether a SELECT whose text is harmless names nothing that could call a
// stored function.
func (x *session) inert(text []byte) bool {
	names, complete := rewrite.TableNames(text, &x.b.lex, x.schemaName())
	if !complete || len(names) == 0 {
		return complete
	}
	return x.b.Engine != nil && x.b.Engine.Inert(x.ctx, names)
}

// lookEvery bounds how often the session's variables are read for a statement that is
// no insert.
const lookEvery = time.Second

// readStateFor reads the session's variables, so that a statement of a session that
// inserts nothing flushes the tables that it names and not all. Nothing of it shows: the
// statement resets what it could have left (S26), unless it asks for just that.
func (x *session) readStateFor(st *statement) error {
	b := &x.b
	if b.state != nil || st.class.Inspects || time.Since(b.looked) < lookEvery {
		return nil
	}
	b.looked = time.Now()
	_, err := x.readState()
	return err
}

func (x *session) schemaName() string {
	if s := x.b.state; s != nil {
		return s.Schema
	}
	return ""
}

func (x *session) awaitAll() error {
	b := &x.b
	if b.locked || !b.owes() {
		return nil
	}
	err := x.waitFor(nil, false)
	b.wrote = b.wrote && err != nil
	return err
}

// owes says whether rows are pending that the session's statements could have to see.
func (b *batching) owes() bool {
	return b.Engine != nil && b.Engine.PendingRows() > 0 && (b.Strict || b.wrote)
}

// patience is how long a session goes on waiting for rows when its client has hung up: a
// client may have closed its sending direction only.
const patience = 5 * time.Second

// waitFor waits for pending rows, as long as somebody wants to know: what the session
// holds on the server, locks for one, could be what the rows wait for.
func (x *session) waitFor(names []rewrite.TableName, complete bool) error {
	ctx, cancel := context.WithCancel(x.ctx)
	defer cancel()
	stop, err := x.server.hangups.watch(x.client.Socket(), func() { time.AfterFunc(patience, cancel) })
	if err != nil {
		return err
	}
	defer stop()
	return x.b.Engine.Barrier(ctx, names, complete)
}

// onlyTraces: the statement shows what the last one left behind, which asking for the
// status would change, and no rows.
func (x *session) onlyTraces(st *statement) bool {
	if !st.class.Inspects || st.text == nil {
		return false
	}
	if st.class.Kind != rewrite.StmtSelect {
		const show = "SHOW"
		text := bytes.TrimLeft(st.text, " \t\r\n")
		return len(text) > len(show) && strings.EqualFold(string(text[:len(show)]), show)
	}
	names, complete := rewrite.TableNames(st.text, &x.b.lex, x.schemaName())
	return complete && len(names) == 0
}

// restoreTraces gives the connection what the last batched insert would have left:
// ROW_COUNT() and no warnings, and FOUND_ROWS() as it was if text, which may be nil,
// asks for it. SELECT ... INTO counts its row (both servers). Nothing harmless counts
// more than one: after a statement of several rows the number is written into the text
// of the statement that asks (see before). A ping makes it 0.
func (x *session) restoreTraces(text []byte) error {
	const into = " INTO @sluice_rows"
	x.b.traces.valid = false
	sql := "SELECT 1" + into
	switch {
	case x.b.traces.pinged:
		sql = "DO 0"
	case bytes.Contains(bytes.ToUpper(text), []byte("FOUND_ROWS")):
		r, err := x.backend.Query("SELECT FOUND_ROWS()")
		if why, err := reasonOrBroken(err); why != "" || err != nil {
			return err
		}
		if again, ok := foundRows(string(r.Rows[0][0]), into); ok {
			sql = again
		}
	}
	_, err := x.backend.Query(sql)
	_, err = reasonOrBroken(err)
	return err
}

// onlyFoundRows: of what earlier statements left behind the text can only show
// FOUND_ROWS(), which an INSERT leaves as it is and restoreTraces does not.
func onlyFoundRows(text []byte) bool {
	upper := bytes.ToUpper(text)
	if !bytes.Contains(upper, []byte("FOUND_ROWS")) {
		return false
	}
	for _, other := range []string{"ROW_COUNT", "WARNING", "ERROR", "DIAGNOSTICS"} {
		if bytes.Contains(upper, []byte(other)) {
			return false
		}
	}
	return true
}

// after notes what a relayed command may have changed.
func (x *session) after(st *statement) {
	b := &x.b
	if b.Batching == nil || passes(st.command) {
		return
	}
	b.traces.valid = false
	switch st.class.Kind {
	case rewrite.StmtInsert:
		if !st.plain {
			b.forgetState()
		}
		b.touched = true
	case rewrite.StmtBegin, rewrite.StmtCommit, rewrite.StmtRollback:
		b.touched = false
		if !st.class.Harmless {
			b.forgetState()
		}
	case rewrite.StmtSavepoint, rewrite.StmtRelease:
		b.touched = true
	default:
		b.touched = true
		if st.command != wire.ComStmtPrepare && !st.autocommit {
			b.barriers++
		}
		if !st.class.Harmless && st.command != wire.ComStmtPrepare && !st.autocommit {
			b.forgetState()
		}
	}
	if x.status&wire.StatusInTrans == 0 {
		b.touched = false
	}
	x.noteLocks(st)
	x.noteDDL(st)
}

// takesLocks: statements after which the session may hold table or global locks.
func takesLocks(kind rewrite.StatementKind, text []byte) bool {
	switch kind {
	case rewrite.StmtLock, rewrite.StmtXa:
		return true
	case rewrite.StmtSet: // read_only and its like: the pool's rows wait for whoever set it
		return bytes.Contains(bytes.ToUpper(text), []byte("READ_ONLY"))
	case rewrite.StmtFlush, rewrite.StmtMulti, rewrite.StmtPrepare, rewrite.StmtExecute, rewrite.StmtOther:
		words := bytes.FieldsFunc(bytes.ToUpper(text), func(c rune) bool {
			return c != '_' && c != '$' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && c < 0x80
		})
		for _, w := range words { // a table may be called exports, or blocks
			if s := string(w); s == "LOCK" || s == "EXPORT" || s == "BACKUP" {
				return true
			}
		}
	}
	return false
}

// noteLocks follows table and global locks. START TRANSACTION releases the former but
// not the latter: only UNLOCK TABLES is sure.
func (x *session) noteLocks(st *statement) {
	switch {
	case st.locks:
		x.b.locked = true
	case st.class.Kind == rewrite.StmtUnlock, endsSession(st.command):
		x.b.locked = false
	}
}

// noteDDL makes every session validate its shapes again when a definition may have
// changed.
func (x *session) noteDDL(st *statement) {
	b := &x.b
	if b.Engine == nil {
		if st.class.Kind == rewrite.StmtDDL {
			b.forgetPlans()
		}
		return
	}
	if st.command == wire.ComStmtPrepare {
		switch st.class.Kind {
		case rewrite.StmtSelect, rewrite.StmtInsert, rewrite.StmtUpdate, rewrite.StmtDelete:
		default:
			b.preparedDDL = true
		}
		return
	}
	switch st.class.Kind {
	case rewrite.StmtDDL, rewrite.StmtMulti, rewrite.StmtCall, rewrite.StmtExecute:
		b.Engine.Changed()
	case rewrite.StmtOther:
		if st.command == wire.ComQuery || (st.command == wire.ComStmtExecute && b.preparedDDL) {
			b.Engine.Changed()
		}
	}
}
