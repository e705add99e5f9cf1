package backend

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/rewrite"
)

// variables are what a session of either server reports, as far as a State needs it.
func variables(changes ...string) map[string]string {
	vars := map[string]string{
		"sql_mode":                        "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
		"character_set_client":            "utf8mb4",
		"character_set_connection":        "utf8mb4",
		"collation_connection":            "utf8mb4_general_ci",
		"time_zone":                       "SYSTEM",
		"foreign_key_checks":              "ON",
		"unique_checks":                   "ON",
		"div_precision_increment":         "4",
		"default_week_format":             "0",
		"lc_time_names":                   "en_US",
		"explicit_defaults_for_timestamp": "ON",
		"auto_increment_increment":        "1",
		"auto_increment_offset":           "1",
	}
	for i := 0; i+1 < len(changes); i += 2 {
		vars[changes[i]] = changes[i+1]
	}
	return vars
}

// numbers is x.t with the primary key a and two more columns.
func numbers(change func(*rewrite.Table)) *rewrite.Table {
	t := &rewrite.Table{
		Schema: "x", Name: "t", Engine: "InnoDB", Transactional: true, Base: true, Definition: "CREATE TABLE t (...)",
		Columns: []rewrite.Column{
			{Name: "a", Type: "int"},
			{Name: "b", Type: "int", Nullable: true, Default: rewrite.DefaultLiteral},
			{Name: "c", Type: "varchar", Length: 40, Charset: "latin1", Collation: "latin1_swedish_ci", Nullable: true, Default: rewrite.DefaultLiteral},
		},
		Primary: &rewrite.Key{Name: "PRIMARY", Parts: []rewrite.KeyPart{{Column: 0}}},
	}
	if change != nil {
		change(t)
	}
	return t
}

// statement scans a client's INSERT and plans it.
func statement(t testing.TB, sql string, table *rewrite.Table, vars map[string]string) (*rewrite.Plan, *rewrite.Rows) {
	t.Helper()
	state, why := rewrite.NewState(vars, rewrite.MariaDB, 101119)
	require.Empty(t, why)
	state.Schema = "x"
	rows := new(rewrite.Rows)
	in, why := rewrite.Split(rows, []byte(sql), &state.Lex)
	require.Empty(t, why, sql)
	var columns []string
	for _, c := range in.Columns {
		columns = append(columns, sql[c.Start:c.End])
	}
	form, why := rewrite.ParseForm([]byte(sql[in.Head.Start:in.Head.End]), []byte(sql[in.Tail.Start:in.Tail.End]), in.Set, columns,
		[]byte(sql[rows.Spans[0].Start:rows.Spans[0].End]), &state.Lex)
	require.Empty(t, why, sql)
	plan, why := rewrite.NewPlan(form, table, state)
	require.Empty(t, why, sql)
	return plan, rows
}

// builder builds batches from INSERT statements: the same text up to VALUES is the
// same shape.
type builder struct {
	testing.TB
	table  *rewrite.Table
	shapes map[string]*Shape
	Batch
}

func build(t testing.TB, table *rewrite.Table) *builder {
	return &builder{TB: t, table: table, shapes: make(map[string]*Shape)}
}

// add appends one client statement, sent at second (0: its rows do not depend on it).
func (b *builder) add(sql string, second int64) {
	b.Helper()
	plan, rows := statement(b, sql, b.table, variables())
	key := string(plan.AppendHead(nil)) + string(plan.AppendTail(nil))
	s := b.shapes[key]
	if s == nil {
		s = NewShape(plan, "u")
		b.shapes[key] = s
	}
	b.Add(s, []byte(sql), rows, second)
}

// plain appends one-row plain INSERTs with these values of a.
func (b *builder) plain(keys ...int) {
	b.Helper()
	for _, k := range keys {
		b.add(fmt.Sprintf("INSERT INTO t (a, b) VALUES (%d, 0)", k), 0)
	}
}

// openJournal opens a journal in dir and closes it at the test's end.
func openJournal(t *testing.T, dir string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(journal.Options{Dir: dir, Sync: journal.SyncOS, MinFree: -1})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}
