package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// ErrNoTable says that the server shows the service account no such table.
var ErrNoTable = errors.New("no such table")

// PrivilegeError says that something about a table cannot be known because the
// service account lacks a privilege.
type PrivilegeError struct {
	Table string
	Lacks string
	Mend  string // the GRANT that mends it
}

func (e *PrivilegeError) Error() string {
	return fmt.Sprintf("the service account lacks %s on %s: %s", e.Lacks, e.Table, e.Mend)
}

// errMoved says that the table changed while it was being read.
var errMoved = errors.New("the table changes faster than it can be read")

// attempts bounds how often Load starts again after a DDL in between.
const attempts = 3

// Load reads all that rewrite needs to know of a table. A view, a sequence or a
// system table comes back with Base false. Schema and Name are spelled as the
// server stores them. The connection gets the statement of Settings first.
//
// The several queries agree with one another: the definition is read before and
// after them, and if it moved they are repeated.
func Load(q wire.Querier, dialect rewrite.Dialect, version int, schema, table string) (*rewrite.Table, error) {
	fail := func(err error) (*rewrite.Table, error) {
		return nil, fmt.Errorf("load %s: %w", qualified(schema, table), err)
	}
	if _, err := q.Query(Settings(dialect, version)); err != nil {
		return fail(err)
	}
	grants, err := ReadGrants(q)
	if err != nil {
		return fail(err)
	}
	for range attempts {
		t, err := load(q, dialect, version, grants, schema, table)
		if err == nil {
			return t, nil
		}
		if !errors.Is(err, errMoved) && !refused(err, errNoSuchTable) {
			return fail(err)
		}
	}
	return fail(errMoved)
}

func load(q wire.Querier, dialect rewrite.Dialect, version int, grants *Grants, schema, table string) (*rewrite.Table, error) {
	o, err := readObject(q, schema, table)
	if err != nil {
		return nil, err
	}
	t := &rewrite.Table{Schema: o.schema, Name: o.table, Engine: o.engine}
	if t.Columns, err = readColumns(q, dialect, version, t); err != nil {
		return nil, err
	}
	if !o.base {
		return t, nil
	}
	before, err := show(q, t.Schema, t.Name)
	if err != nil {
		return nil, err
	}
	if !grants.Holds("TRIGGER", t.Schema, t.Name) {
		return nil, &PrivilegeError{qualified(t.Schema, t.Name), "TRIGGER",
			"GRANT TRIGGER ON " + ident(t.Schema) + ".* TO " + grants.Account()}
	}
	r, err := q.Query(triggersOf(t.Schema, t.Name))
	if err != nil {
		return nil, fmt.Errorf("triggers: %w", err)
	}
	t.Triggers = len(r.Rows) != 0
	if err := readKeys(q, dialect, version, t, before.overlaps); err != nil {
		return nil, err
	}
	if err := readForeign(q, dialect, grants, t); err != nil {
		return nil, err
	}
	size, err := Sizes(q, t)
	if err != nil {
		return nil, err
	}
	t.Rows, t.DataLength, t.RowLength = size.Rows, size.DataLength, size.RowLength

	after, err := show(q, t.Schema, t.Name)
	if err != nil {
		return nil, err
	}
	again, err := readColumns(q, dialect, version, t)
	if err != nil {
		return nil, err
	}
	if before.text != after.text || before.base != after.base || len(again) != len(t.Columns) {
		return nil, errMoved
	}
	for i := range again {
		// The columns were read before the first look at the definition.
		if again[i] != t.Columns[i] {
			return nil, errMoved
		}
	}
	t.Base, t.Temporary = after.base, after.temporary
	t.Transactional = transactional[strings.ToLower(t.Engine)]
	t.SystemVersioned = o.versioned || after.versioned
	t.Partitioned = after.partitioned
	t.Checks = after.checks
	t.Definition = after.text
	return t, nil
}

// transactional are the engines that roll back what a failed statement did. A
// closed list: some engines claim it in information_schema.ENGINES for another
// server's tables (FEDERATED, SPIDER).
var transactional = set("innodb rocksdb tokudb ndbcluster ndb")

// object is what a name means.
type object struct {
	schema, table string
	engine        string
	base          bool
	view          bool
	sequence      bool
	versioned     bool
}

func readObject(q wire.Querier, schema, table string) (object, error) {
	// MariaDB from 11.2 lists the session's own temporary tables too.
	r, err := q.Query("SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES" +
		" WHERE TABLE_SCHEMA=" + literal(schema) + " AND TABLE_NAME=" + literal(table) +
		" AND TABLE_TYPE<>'TEMPORARY'")
	if err != nil {
		return object{}, fmt.Errorf("tables: %w", err)
	}
	if len(r.Rows) != 1 {
		return object{}, ErrNoTable
	}
	row := r.Rows[0]
	o := object{schema: string(row[0]), table: string(row[1]), engine: string(row[3])}
	switch string(row[2]) {
	case "BASE TABLE":
		o.base = true
	case "SYSTEM VERSIONED":
		o.base, o.versioned = true, true
	case "VIEW":
		o.view = true
	case "SEQUENCE":
		o.sequence = true
	}
	return o, nil
}
