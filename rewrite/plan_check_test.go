package rewrite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	lax := []string{"sql_mode", ""}
	nn := func() *Table { return table(column("a", "int"), column("b", "int", notNull), column("c", "int")) }
	id := func(options ...func(*Column)) *Table {
		return table(column("id", "int", append([]func(*Column){autoIncrement}, options...)...), column("b", "int"))
	}
	ts := func(options ...func(*Column)) *Table {
		return table(column("a", "int"), column("b", "timestamp", append([]func(*Column){notNull}, options...)...))
	}
	const (
		mayBeNull = Reason("a value for column b that could be NULL in non-strict mode")
		noID      = Reason("needs a generated id, or its id is not written as a plain number")
	)
	for name, c := range map[string]struct {
		table   *Table
		dialect Dialect
		state   []string
		sql     string
		want    Facts
		why     Reason
	}{
		"one row":  {nn(), MySQL, nil, "INSERT INTO t VALUES (1,2,3)", Facts{OneRow: true}, ""},
		"two rows": {nn(), MySQL, nil, "INSERT INTO t VALUES (1,2,3),(4,5,NULL)", Facts{}, ""},
		"width":    {nn(), MySQL, nil, "INSERT INTO t VALUES (1,2)", Facts{}, "the number of values is not the number of columns"},
		"now":      {nn(), MySQL, nil, "INSERT INTO t VALUES (1,2,NOW())", Facts{OneRow: true, Timed: true}, ""},

		"S19 strict":       {nn(), MySQL, nil, "INSERT INTO t VALUES (1,NULL,3)", Facts{OneRow: true}, ""},
		"S19 NULL":         {nn(), MySQL, lax, "INSERT INTO t VALUES (1,2,3),(1,NULL,3)", Facts{}, mayBeNull},
		"S19 expression":   {nn(), MySQL, lax, "INSERT INTO t VALUES (1,1/0,3)", Facts{OneRow: true}, mayBeNull},
		"S19 REPLACE":      {nn(), MySQL, lax, "REPLACE INTO t VALUES (1,NULL,3)", Facts{OneRow: true}, mayBeNull},
		"S19 IGNORE":       {nn(), MySQL, lax, "INSERT IGNORE INTO t VALUES (1,NULL,3)", Facts{OneRow: true}, ""},
		"S19 nullable":     {nn(), MySQL, lax, "INSERT INTO t VALUES (1,2,NULL)", Facts{OneRow: true}, ""},
		"DEFAULT, none":    {nn(), MySQL, lax, "INSERT INTO t VALUES (1,DEFAULT,3)", Facts{OneRow: true}, ""},
		"DEFAULT, UUID()":  {table(column("a", "int"), column("b", "int", defaults(DefaultUnsafe))), MySQL, nil, "INSERT INTO t VALUES (1,DEFAULT)", Facts{OneRow: true}, "the default of column b depends on more than the row"},
		"DEFAULT, now":     {table(column("a", "int"), column("b", "datetime", defaults(DefaultNow))), MySQL, nil, "INSERT INTO t VALUES (1,DEFAULT)", Facts{OneRow: true, Timed: true}, ""},
		"DEFAULT, now(6)":  {table(column("a", "int"), column("b", "datetime", defaults(DefaultNowFrac))), MySQL, nil, "INSERT INTO t VALUES (1,DEFAULT)", Facts{OneRow: true}, "the default of column b depends on more than the row"},
		"DEFAULT, expr":    {table(column("a", "int"), column("b", "int", notNull, defaults(DefaultExpr))), MySQL, nil, "INSERT INTO t VALUES (1,DEFAULT)", Facts{OneRow: true}, ""},
		"S19 DEFAULT expr": {table(column("a", "int"), column("b", "int", notNull, defaults(DefaultExpr))), MySQL, lax, "INSERT INTO t VALUES (1,DEFAULT)", Facts{OneRow: true}, "the default of column b depends on more than the row"},
		"generated":        {table(column("a", "int"), column("b", "int", generated)), MySQL, nil, "INSERT INTO t VALUES (1,DEFAULT),(2,3)", Facts{}, "a value for the generated column b"},

		"S21 MariaDB":      {ts(), MariaDB, nil, "INSERT INTO t VALUES (1,NULL)", Facts{OneRow: true, Timed: true}, ""},
		"S21 MariaDB, lax": {ts(), MariaDB, lax, "INSERT INTO t VALUES (1,NULL)", Facts{OneRow: true, Timed: true}, ""},
		"S21 fraction":     {ts(precision(3, 0)), MariaDB, nil, "INSERT INTO t VALUES (1,NULL)", Facts{OneRow: true}, "NULL for column b means a time finer than a second"},
		"S21 MySQL":        {ts(), MySQL, nil, "INSERT INTO t VALUES (1,NULL)", Facts{OneRow: true}, ""},
		"S21 MySQL, lax":   {ts(), MySQL, lax, "INSERT INTO t VALUES (1,NULL)", Facts{OneRow: true}, mayBeNull},
		"S21 MySQL, off":   {ts(), MySQL, []string{"explicit_defaults_for_timestamp", "OFF"}, "INSERT INTO t VALUES (1,NULL)", Facts{OneRow: true, Timed: true}, ""},

		"F085 one":        {id(), MySQL, nil, "INSERT INTO t VALUES (12,1)", Facts{OneRow: true, InsertID: 12}, ""},
		"F085 last row":   {id(), MySQL, nil, "INSERT INTO t VALUES (30,1),(10,2),(20,3)", Facts{InsertID: 20}, ""},
		"F085 negative":   {id(), MySQL, nil, "INSERT INTO t VALUES (-3,1)", Facts{OneRow: true, InsertID: 1<<64 - 3}, ""},
		"F085 quoted":     {id(), MySQL, nil, "INSERT INTO t VALUES ('41',1)", Facts{OneRow: true, InsertID: 41}, ""},
		"F084 NULL":       {id(), MySQL, nil, "INSERT INTO t VALUES (NULL,1)", Facts{OneRow: true}, "needs a generated id"},
		"F084 NULL later": {id(), MySQL, nil, "INSERT INTO t VALUES (1,1),(NULL,1)", Facts{}, "needs a generated id"},
		"F084 DEFAULT":    {id(), MySQL, nil, "INSERT INTO t VALUES (DEFAULT,1)", Facts{OneRow: true}, "needs a generated id"},
		"F084 zero":       {id(), MySQL, nil, "INSERT INTO t VALUES (0,1)", Facts{OneRow: true}, noID},
		"F084 minus zero": {id(), MySQL, []string{"sql_mode", "NO_AUTO_VALUE_ON_ZERO"}, "INSERT INTO t VALUES (-0,1)", Facts{OneRow: true}, noID},
		"F084 zero kept":  {id(), MySQL, []string{"sql_mode", "NO_AUTO_VALUE_ON_ZERO"}, "INSERT INTO t VALUES (7,2),(0,1)", Facts{}, ""},
		"F084 empty":      {id(), MySQL, lax, "INSERT INTO t VALUES ('',1)", Facts{OneRow: true}, noID},
		"F084 spaces":     {id(), MySQL, lax, "INSERT INTO t VALUES (' 7',1)", Facts{OneRow: true}, noID},
		"id, zeros first": {id(), MySQL, lax, "INSERT INTO t VALUES (007,1)", Facts{OneRow: true}, noID},
		"id, decimal":     {id(), MySQL, lax, "INSERT INTO t VALUES (7.0,1)", Facts{OneRow: true}, "needs a generated id"},
		"id, clipped":     {id(), MySQL, lax, "INSERT INTO t VALUES (2147483648,1)", Facts{OneRow: true}, noID},
		"id, unsigned":    {id(unsigned), MySQL, lax, "INSERT INTO t VALUES (2147483648,1)", Facts{OneRow: true, InsertID: 1 << 31}, ""},
		"id, below":       {id(unsigned), MySQL, lax, "INSERT INTO t VALUES (-1,1)", Facts{OneRow: true}, noID},
		"id, double":      {altered(id(), func(t *Table) { t.Columns[0].Type = "double" }), MySQL, nil, "INSERT INTO t VALUES (7,1)", Facts{OneRow: true}, noID},
		"S10 IGNORE":      {id(), MySQL, nil, "INSERT IGNORE INTO t VALUES (5,1),(6,1)", Facts{InsertID: 6}, ""},
	} {
		s := newState(t, c.dialect, c.state...)
		form, rows := parseInsert(t, s, c.sql)
		p, why := NewPlan(form, c.table, s)
		require.Empty(t, why, name)
		facts, why := p.Check([]byte(c.sql), rows)
		require.Equal(t, c.why, why, name)
		if why == "" {
			require.Equal(t, c.want, facts, name)
		}
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	s := newState(t, MySQL, "sql_mode", "")
	sql := "INSERT INTO t VALUES (1,NULL,'x'),('2',DEFAULT,NULL),(3,1/0,_utf8mb4'y')"
	form, rows := parseInsert(t, s, sql)
	p, why := NewPlan(form, table(column("a", "int", autoIncrement), column("b", "int"), column("c", "varchar")), s)
	require.Empty(t, why)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, why := p.Check([]byte(sql), rows); why != "" {
			t.Fatal(why)
		}
	}))
}
