package proxy

import (
	"time"

	"github.com/sluice-db/sluice/backend"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// Batching says how inserts are batched. A nil *Batching relays everything.
type Batching struct {
	Engine *backend.Engine // nil without a service account: only transactions are batched
	Burst  int             // inserts of a shape that run unbatched first
	Limits backend.Limits
	Strict bool // consistency: strict
	// HoldRows and HoldBytes bound what a transaction holds; beyond them it is
	// flushed inside the transaction.
	HoldRows, HoldBytes int
	Memory              *backend.Memory // shared by all sessions
	// Off says that a rule switches batching off for a table.
	Off func(user, schema, table string) bool
	// Reject says that a failing statement of a transaction goes to the reject
	// log and COMMIT succeeds (on_error: reject).
	Reject func(user, schema, table string) bool
	// Exact says that the affected rows of a statement are to be the server's own, where
	// they are not known before it runs (affected_rows: exact).
	Exact func(user, schema, table string) bool
	// Observe is told what becomes of statements; nil fields are not called.
	Observe struct {
		Batched func(rows int, took time.Duration)
		Barrier func()
		Relayed func(why rewrite.Reason)
		Flushed func(f backend.Flush)
	}
}

// batching is what a session knows about its inserts and holds of them.
type batching struct {
	*Batching

	lex       rewrite.Lex
	vars      map[string]string
	state     *rewrite.State // nil: not known, read before the next burst
	need      int            // inserts of a shape that run unbatched before the next burst is batched
	tracked   bool           // session_track_transaction_info was on when it was read last
	timeFixed bool           // the session cannot set timestamp (MariaDB's secure_timestamp)
	run       int            // batched since the state was read
	idle      time.Duration  // after which the server is asked something (S26)

	shapes     map[string]*shape
	latest     *shape // of the last insert: loaders repeat themselves
	current    *shape // of the insert at hand, nil if it was not read to its end
	barriers   uint64 // counts what ends a burst
	generation uint64 // of DDL, when the shapes were validated

	scratch
	held     backend.Batch
	reserved int
	flusher  *backend.Flusher
	// heldReject: every shape among those held sends failing statements to the reject log.
	heldReject bool

	touched     bool        // the transaction has run a statement
	failed      *wire.Error // the transaction's held rows failed: nothing but ROLLBACK goes on (S14)
	locked      bool        // holds table or global locks
	doubt       bool        // the last reply was an error, which may have ended the transaction: it carries no status
	preparedDDL bool        // has prepared what could be DDL
	// preparedLocks and preparedInspects: has prepared what could take table locks, or
	// show what earlier statements left behind.
	preparedLocks, preparedInspects bool
	wrote                           bool // rows of this session may be in the journal still
	traces                          trace
	newest                          newest
	looked                          time.Time // when the variables were read for a statement that is no insert
}

// trace is what the last batched insert would have left on the connection (S26).
type trace struct {
	valid  bool
	pinged bool // since
	rows   int  // of the insert
}

// shape is a statement without its rows, as this session sends it.
type shape struct {
	head, tail string
	set        bool
	columns    []string

	seen    int    // in this burst
	burst   uint64 // batching.barriers when seen was counted
	refused rewrite.Reason
	retryAt time.Time     // when a refused shape is looked at again
	pause   time.Duration // until then
	form    *rewrite.Form
	lex     rewrite.Lex   // form was read under it
	plan    *rewrite.Plan // nil: not validated
	target  *backend.Shape
	windows uint64    // target's windows when it was validated
	checked time.Time // when the server checked it last
	reject  bool
}

// maxShapes bounds a session's shapes; a session with more has no bursts.
const maxShapes = 256

// openBatch prepares a logged-in session for batching.
func (x *session) openBatch() {
	if get := x.server.opts.Batching; get != nil && !x.server.opts.Listen[x.listener].Relay {
		x.b.Batching = get(x.listener)
	}
	if x.b.Batching == nil {
		return
	}
	x.b.shapes = make(map[string]*shape)
	x.b.need = x.b.Burst
	x.b.lex = x.baseLex()
}

// closeBatch drops what the session holds: the server rolls its transaction back too.
func (x *session) closeBatch() {
	x.dropHeld()
}

// baseLex is how statements are read while the session's variables are not known:
// good enough to recognise a repeated insert, not to batch it.
func (x *session) baseLex() rewrite.Lex {
	lex := rewrite.Lex{Dialect: rewrite.MySQL, Version: x.greet.VersionNumber(), Charset: "utf8mb4"}
	if x.greet.IsMariaDB() {
		lex.Dialect = rewrite.MariaDB
	}
	lex.NoBackslashEscapes = x.status&wire.StatusNoBackslashEscapes != 0
	return lex
}

// worthwhile is how many inserts a burst has to have after reading the session's
// variables: reading them costs some milliseconds.
const (
	worthwhile = 256
	mostNeeded = 4096
)

// forgetState is called after anything that could have changed the session's
// variables, its temporary tables or its rights (S04, S05). A session that does such
// things between short bursts has to show longer and longer ones.
func (b *batching) forgetState() {
	if b.state == nil {
		return
	}
	if b.run < worthwhile {
		b.need = min(2*max(b.need, 1), mostNeeded)
	} else {
		b.need = b.Burst
	}
	b.run, b.state = 0, nil
	b.barriers++
	for _, s := range b.shapes {
		s.plan = nil
	}
}

// inTransaction says whether the next insert belongs to a transaction.
func (x *session) inTransaction() bool {
	return x.status&wire.StatusInTrans != 0 || x.status&wire.StatusAutocommit == 0
}

// mayWait says whether the session may wait for the pool's rows: not while it holds
// locks that the pool could be waiting for (S24). A transaction that has not run a
// statement holds none.
func (x *session) mayWait() bool {
	return !x.b.locked && !(x.inTransaction() && x.b.touched)
}
