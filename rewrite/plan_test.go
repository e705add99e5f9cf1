package rewrite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// parseInsert is what the proxy does with the first statement of a shape.
func parseInsert(t testing.TB, s *State, sql string) (Form, *Rows) {
	t.Helper()
	rows := new(Rows)
	insert, why := Split(rows, []byte(sql), &s.Lex)
	require.Empty(t, why, sql)
	var columns []string
	for _, c := range insert.Columns {
		columns = append(columns, sql[c.Start:c.End])
	}
	sample := rows.Spans[0]
	form, why := ParseForm([]byte(sql[insert.Head.Start:insert.Head.End]), []byte(sql[insert.Tail.Start:insert.Tail.End]),
		insert.Set, columns, []byte(sql[sample.Start:sample.End]), &s.Lex)
	require.Empty(t, why, sql)
	return form, rows
}

func column(name, typeName string, options ...func(*Column)) Column {
	c := Column{Name: name, Type: typeName, Nullable: true, Default: DefaultLiteral}
	for _, option := range options {
		option(&c)
	}
	return c
}

func notNull(c *Column)       { c.Nullable, c.Default = false, DefaultNone }
func autoIncrement(c *Column) { notNull(c); c.AutoIncrement = true }
func generated(c *Column)     { c.Generated = true }
func invisible(c *Column)     { c.Invisible = true }
func unsigned(c *Column)      { c.Unsigned = true }
func onUpdate(c *Column)      { c.OnUpdateNow = true }

func defaults(kind DefaultKind) func(*Column) { return func(c *Column) { c.Default = kind } }
func precision(n, scale int) func(*Column) {
	return func(c *Column) { c.Precision, c.Scale = n, scale }
}
func charset(name, collation string, length int) func(*Column) {
	return func(c *Column) { c.Charset, c.Collation, c.Length = name, collation, length }
}

// table returns an InnoDB table x.t whose primary key is its first column.
func table(columns ...Column) *Table {
	columns[0].Nullable = false
	return &Table{
		Schema: "x", Name: "t", Columns: columns, Engine: "InnoDB", Transactional: true, Base: true,
		Primary: &Key{Name: "PRIMARY", Parts: []KeyPart{{Column: 0}}},
	}
}

func altered(t *Table, change func(*Table)) *Table { change(t); return t }

func TestNewPlanRefuses(t *testing.T) {
	two := func() *Table { return table(column("a", "int"), column("b", "int")) }
	with := func(options ...func(*Column)) *Table {
		return table(column("a", "int"), column("b", "int"), column("c", "timestamp", options...))
	}
	for name, c := range map[string]struct {
		table *Table
		sql   string
		state []string
		want  Reason
	}{
		"view":        {altered(two(), func(t *Table) { t.Base = false }), "", nil, "not a base table"},
		"temporary":   {altered(two(), func(t *Table) { t.Temporary = true }), "", nil, "a temporary table"},
		"triggers":    {altered(two(), func(t *Table) { t.Triggers = true }), "", nil, "a table with triggers"},
		"S21 history": {altered(two(), func(t *Table) { t.SystemVersioned = true }), "", nil, "a system-versioned table"},
		"MyISAM": {altered(two(), func(t *Table) { t.Engine, t.Transactional = "MyISAM", false }), "", nil,
			"engine MyISAM has no transactions"},
		"periods": {altered(two(), func(t *Table) { t.Definition = "...\n period for `p` (`f`, `g`)" }), "", nil,
			"a table with application-time periods"},
		"blind writes": {altered(two(), func(t *Table) { t.Engine = "ROCKSDB" }), "", []string{"unique_checks", "OFF"},
			"unique_checks=0 on engine ROCKSDB"},
		"S17 REPLACE of a parent": {altered(two(), func(t *Table) { t.Children = []string{"x.c"} }), "REPLACE INTO t VALUES (1,2)", nil,
			"REPLACE into a table that foreign keys refer to"},
		"S17 REPLACE of its own parent": {altered(two(), func(t *Table) { t.SelfReferencing = true }), "REPLACE INTO t VALUES (1,2)", nil,
			"REPLACE into a table that foreign keys refer to"},
		"unknown column": {two(), "INSERT INTO t (a,z) VALUES (1,2)", nil, "unknown column z"},
		"twice":          {two(), "INSERT INTO t (a,A) VALUES (1,2)", nil, "column A is named twice"},

		"generated id": {table(column("b", "int"), column("id", "int", autoIncrement)), "INSERT INTO t (b) VALUES (1)", nil,
			"needs a generated id"},
		"S10 IGNORE": {table(column("b", "int"), column("id", "int", autoIncrement)), "INSERT IGNORE INTO t (b) VALUES (1)", nil,
			"needs a generated id"},
		"fraction":    {with(defaults(DefaultNowFrac)), "INSERT INTO t (a,b) VALUES (1,2)", nil, "default of column c is finer than a second"},
		"UUID()":      {with(defaults(DefaultUnsafe)), "INSERT INTO t (a,b) VALUES (1,2)", nil, "default of column c depends on more than the row"},
		"no default":  {with(notNull), "INSERT INTO t (a,b) VALUES (1,2)", nil, "column c has no default"},
		"S19 default": {table(column("a", "int"), column("b", "int", notNull, defaults(DefaultExpr))), "INSERT INTO t (a) VALUES (1)", []string{"sql_mode", ""}, "default of column b could be NULL in non-strict mode"},
		"on update": {with(onUpdate, precision(3, 0)), "INSERT INTO t (a,b) VALUES (1,2) ON DUPLICATE KEY UPDATE b=3", nil,
			"ON UPDATE of column c is finer than a second"},
		"on update, REPLACE": {with(onUpdate, precision(3, 0)), "REPLACE INTO t (a,b) VALUES (1,2)", nil,
			"ON UPDATE of column c is finer than a second"},

		"S19 tail": {table(column("a", "int"), column("b", "int", notNull)), "INSERT INTO t VALUES (1,2) ON DUPLICATE KEY UPDATE b=NULL",
			[]string{"sql_mode", ""}, "ON DUPLICATE KEY UPDATE could give NULL for column b in non-strict mode"},
		"S19 tail reads NULL": {table(column("a", "int"), column("b", "int", notNull), column("c", "int")),
			"INSERT INTO t VALUES (1,2,3) ON DUPLICATE KEY UPDATE b=b+VALUES(c)",
			[]string{"sql_mode", ""}, "ON DUPLICATE KEY UPDATE could give NULL for column b in non-strict mode"},
		"S21 tail": {with(notNull), "INSERT INTO t VALUES (1,2,3) ON DUPLICATE KEY UPDATE c=NULL", nil,
			"ON DUPLICATE KEY UPDATE could set column c to the current time"},
		"tail, unknown": {two(), "INSERT INTO t VALUES (1,2) ON DUPLICATE KEY UPDATE z=1", nil,
			"unknown column z in ON DUPLICATE KEY UPDATE"},
		"tail, id": {table(column("a", "int", autoIncrement), column("b", "int")), "INSERT INTO t VALUES (1,2) ON DUPLICATE KEY UPDATE a=9", nil,
			"ON DUPLICATE KEY UPDATE assigns the AUTO_INCREMENT column"},
		"tail, key of a parent": {altered(two(), func(t *Table) { t.Children = []string{"x.c"} }), "INSERT INTO t VALUES (1,2) ON DUPLICATE KEY UPDATE a=9", nil,
			"ON DUPLICATE KEY UPDATE assigns a key of a table that foreign keys refer to"},
		"name": {table(column("a", "int"), column("größe", "int")), "INSERT INTO t VALUES (1,2)", []string{"character_set_client", "latin1"},
			"column größe: a name outside ASCII where character_set_client is not UTF-8"},
	} {
		if c.sql == "" {
			c.sql = "INSERT INTO t VALUES (1,2)"
		}
		s := newState(t, MariaDB, c.state...)
		form, _ := parseInsert(t, s, c.sql)
		_, why := NewPlan(form, c.table, s)
		require.Equal(t, c.want, why, name)
	}
}

func TestNewPlanAccepts(t *testing.T) {
	lax := []string{"sql_mode", ""}
	for name, c := range map[string]struct {
		table *Table
		sql   string
		state []string
		timed bool
		auto  int
	}{
		"default now": {table(column("a", "int"), column("c", "datetime", defaults(DefaultNow))), "INSERT INTO t (a) VALUES (1)", nil, true, -1},
		"supplied":    {table(column("a", "int"), column("c", "datetime", defaults(DefaultNowFrac))), "INSERT INTO t VALUES (1,'2001-01-01')", nil, false, -1},
		"on update": {table(column("a", "int"), column("b", "int"), column("c", "datetime", onUpdate)),
			"INSERT INTO t VALUES (1,2,'2001-01-01') ON DUPLICATE KEY UPDATE b=1", nil, true, -1},
		"on update, assigned": {table(column("a", "int"), column("b", "int"), column("c", "datetime", onUpdate, precision(6, 0))),
			"INSERT INTO t VALUES (1,2,'2001-01-01') ON DUPLICATE KEY UPDATE c=VALUES(c)", nil, false, -1},
		"on update, plain": {table(column("a", "int"), column("c", "datetime", onUpdate, precision(6, 0))), "INSERT INTO t (a) VALUES (1)", nil, false, -1},
		"tail now": {table(column("a", "int"), column("c", "datetime")),
			"INSERT INTO t VALUES (1,'2001-01-01') ON DUPLICATE KEY UPDATE c=NOW()", nil, true, -1},
		"tail adds": {table(column("a", "int"), column("b", "int", notNull)),
			"INSERT INTO t VALUES (1,2) ON DUPLICATE KEY UPDATE b=b+VALUES(b)", lax, false, -1},
		"tail may be NULL": {table(column("a", "int"), column("b", "int")),
			"INSERT INTO t VALUES (1,2) ON DUPLICATE KEY UPDATE b=NULL", lax, false, -1},
		"id":         {table(column("a", "int", autoIncrement), column("b", "int")), "INSERT INTO t (b,a) VALUES (1,2)", nil, false, 1},
		"no default": {table(column("a", "int"), column("b", "int", notNull)), "INSERT INTO t (a) VALUES (1)", lax, false, -1},
		"generated":  {table(column("a", "int"), column("g", "int", generated)), "INSERT INTO t VALUES (1,DEFAULT)", nil, false, -1},
	} {
		s := newState(t, MySQL, c.state...)
		form, rows := parseInsert(t, s, c.sql)
		p, why := NewPlan(form, c.table, s)
		require.Empty(t, why, name)
		require.Equal(t, c.timed, p.Timed, name)
		require.Equal(t, c.auto, p.Auto, name)
		_, why = p.Check([]byte(c.sql), rows)
		require.Empty(t, why, name)
	}
}

// Design section 4 with S16, S17 and S18.
func TestPlanOrder(t *testing.T) {
	text := charset("utf8mb4", "utf8mb4_general_ci", 20)
	const (
		plain   = "INSERT INTO t (a,b) VALUES (1,2)"
		ignore  = "INSERT IGNORE INTO t (a,b) VALUES (1,2)"
		replace = "REPLACE INTO t (a,b) VALUES (1,2)"
		upsert  = "INSERT INTO t (a,b) VALUES (1,2) ON DUPLICATE KEY UPDATE b=b+VALUES(a)"
		moves   = "INSERT INTO t (a,b) VALUES (1,2) ON DUPLICATE KEY UPDATE A=a+2"
	)
	two := func(options ...func(*Column)) *Table {
		return table(column("a", "int", options...), column("b", "int"))
	}
	word := func(collation string) *Table {
		return table(column("a", "varchar", charset("utf8mb4", collation, 20)), column("b", "int"))
	}
	unique := func(t *Table) { t.Unique = []Key{{Name: "u", Parts: []KeyPart{{Column: 1}}}} }
	for name, c := range map[string]struct {
		table *Table
		sql   string
		want  Order
		cut   bool
	}{
		"plain":              {two(), plain, ByKey, true},
		"ignore":             {two(), ignore, ByKeyStable, true},
		"replace":            {two(), replace, ByKeyStable, true},
		"upsert":             {two(), upsert, ByKeyStable, true},
		"S18 tail moves key": {two(), moves, Arrival, false},
		"S16 unique, plain":  {altered(two(), unique), plain, ByKey, false},
		"S16 unique, ignore": {altered(two(), unique), ignore, Arrival, false},
		"no primary key":     {altered(two(), func(t *Table) { t.Primary = nil }), plain, Arrival, false},
		"S17 itself":         {altered(two(), func(t *Table) { t.SelfReferencing = true }), plain, Arrival, false},
		"S17 parents":        {altered(two(), func(t *Table) { t.Parents = []string{"x.p"} }), plain, Arrival, false},
		"S17 children":       {altered(two(), func(t *Table) { t.Children = []string{"x.c"} }), ignore, Arrival, false},
		"S18 prefix":         {altered(table(column("a", "varchar", text), column("b", "int")), func(t *Table) { t.Primary.Parts[0].Prefix = 4 }), replace, Arrival, false},
		"prefix, plain":      {altered(table(column("a", "varchar", text), column("b", "int")), func(t *Table) { t.Primary.Parts[0].Prefix = 4 }), plain, ByKey, true},
		"known collation":    {word("utf8mb4_unicode_ci"), ignore, ByKeyStable, true},
		"unknown collation":  {word("utf8mb4_uca1400_ai_ci"), ignore, Arrival, false},
		"unknown, plain":     {word("utf8mb4_uca1400_ai_ci"), plain, ByKey, true},
		"double":             {table(column("a", "double"), column("b", "int")), ignore, Arrival, false},
		"enum":               {table(column("a", "enum"), column("b", "int")), ignore, Arrival, false},
		"timestamp, zone":    {table(column("a", "timestamp"), column("b", "int")), ignore, Arrival, false},
		"on update in key":   {table(column("a", "datetime", onUpdate), column("b", "int")), upsert, Arrival, false},
		"key not supplied": {altered(two(), func(t *Table) {
			t.Columns = append(t.Columns, column("c", "int"))
			t.Primary.Parts = append(t.Primary.Parts, KeyPart{Column: 2})
		}), plain, Arrival, false},
		"functional unique key": {altered(two(), func(t *Table) { t.Unique = []Key{{Parts: []KeyPart{{Column: -1}}}} }), replace, Arrival, false},
	} {
		s := newState(t, MariaDB)
		form, _ := parseInsert(t, s, c.sql)
		p, why := NewPlan(form, c.table, s)
		require.Empty(t, why, name)
		require.Equal(t, c.want, p.Order, name)
		require.Equal(t, c.cut, p.Cut, name)
	}
}

func TestPlanColumns(t *testing.T) {
	tb := table(column("a", "int"), column("hidden", "int", invisible), column("b", "int"), column("g", "int", generated))
	s := newState(t, MariaDB)
	for sql, want := range map[string][]int{
		"INSERT INTO t VALUES (1,2,DEFAULT)":      {0, 2, 3},
		"INSERT INTO t (hidden, A) VALUES (1,2)":  {1, 0},
		"INSERT INTO t SET b=1, a=2":              {2, 0},
		"REPLACE x.t (`a`) VALUES (1)":            {0},
		"INSERT INTO t (a,g) VALUES (1, DEFAULT)": {0, 3},
	} {
		form, _ := parseInsert(t, s, sql)
		p, why := NewPlan(form, tb, s)
		require.Empty(t, why, sql)
		require.Equal(t, want, p.Columns, sql)
	}
}
