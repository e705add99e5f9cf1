package rewrite

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keyPlan is a plan whose primary key is all of columns.
func keyPlan(t testing.TB, s *State, columns ...Column) *Plan {
	t.Helper()
	tb := table(columns...)
	tb.Primary.Parts = nil
	names := make([]string, len(columns))
	for i := range columns {
		tb.Columns[i].Nullable = false
		tb.Primary.Parts = append(tb.Primary.Parts, KeyPart{Column: i})
		names[i] = columns[i].Name
	}
	p, why := NewPlan(Form{Table: "t", HasColumns: true, Columns: names}, tb, s)
	require.Empty(t, why)
	return p
}

// keyOf returns the key of a row written as "(...)".
func keyOf(t testing.TB, p *Plan, row string) (string, bool) {
	t.Helper()
	var rows Rows
	require.Empty(t, ScanRowList(&rows, []byte(row), &p.State.Lex), row)
	key, exact := p.Key(nil, []byte(row), rows.Row(0))
	return string(key), exact
}

var (
	general  = charset("utf8mb4", "utf8mb4_general_ci", 10)
	uca      = charset("utf8mb4", "utf8mb4_unicode_ci", 10)
	uca520   = charset("utf8mb4", "utf8mb4_unicode_520_ci", 10)
	uca900   = charset("utf8mb4", "utf8mb4_0900_ai_ci", 10)
	uca900cs = charset("utf8mb4", "utf8mb4_0900_as_cs", 10)
	bin      = charset("utf8mb4", "utf8mb4_bin", 10)
	bin900   = charset("utf8mb4", "utf8mb4_0900_bin", 10)
	latin1   = charset("latin1", "latin1_swedish_ci", 10)
)

// Equal keys, both exact: the server takes the two for the same key. All of
// these were tried on MariaDB 10.11 and MySQL 9.7.
func TestKeyEqual(t *testing.T) {
	s := newState(t, MySQL, "time_zone", "+02:00")
	for _, c := range []struct {
		column Column
		values []string
	}{
		{column("a", "int"), []string{"12", "'12'", "012", "+12", "'0012'"}},
		{column("a", "int"), []string{"-12", "'-12'", "-012"}},
		{column("a", "tinyint"), []string{"1", "TRUE", "true"}},
		{column("a", "decimal", precision(5, 2)), []string{"1.5", "1.50", "'1.5'", "01.500"}},
		{column("a", "decimal", precision(5, 2)), []string{"7", "7.0", "'7.00'", "'7'"}},
		{column("a", "datetime", precision(3, 0)), []string{"'2001-01-01'", "'2001-01-01 00:00:00'", "'2001-01-01 00:00:00.0'"}},
		{column("a", "time", precision(2, 0)), []string{"'01:00:00'", "'01:00:00.00'"}},
		{column("a", "year"), []string{"2001", "'2001'"}},
		{column("a", "varchar", general), []string{"'a'", "'A'", "'á'", "'a  '", `'\a'`}},
		{column("a", "varchar", uca), []string{"'ß'", "'ss'", "'SS '", "'s\x01s'"}},
		{column("a", "varchar", uca900), []string{"'e'", "'é'", "'É'"}},
		{column("a", "char", uca900), []string{"'bar'", "'bar '"}},
		{column("a", "char", bin900), []string{"'bar'", "'bar '"}},
		{column("a", "varchar", bin), []string{"'bar'", "'bar '"}},
		{column("a", "varchar", latin1), []string{"'a'", "'A '"}},
		{column("a", "varchar", bin), []string{"5", "'5'", "0x35"}},
		{column("a", "varchar", bin), []string{`'it''s'`, `'it\'s'`, `"it's"`}},
		{column("a", "varchar", bin), []string{`'\%\_'`, `'\\%\\_'`}},
		{column("a", "varbinary", charset("", "", 10)), []string{"0x6100", `'a\0'`, "X'6100'"}},
		{column("a", "binary", charset("", "", 10)), []string{"0x6100", "'a'"}},
	} {
		p := keyPlan(t, s, c.column)
		want, exact := keyOf(t, p, "("+c.values[0]+")")
		require.True(t, exact, "%s %s", c.column.Type, c.values[0])
		for _, value := range c.values[1:] {
			got, exact := keyOf(t, p, "("+value+")")
			require.True(t, exact, "%s %s", c.column.Type, value)
			require.Equal(t, want, got, "%s %s", c.column.Type, value)
		}
	}
}

// Ascending keys, all exact: different keys to the server, in this order.
func TestKeyOrder(t *testing.T) {
	s := newState(t, MySQL, "time_zone", "+02:00")
	for _, c := range []struct {
		column Column
		values []string
	}{
		{column("a", "tinyint"), []string{"-128", "-1", "0", "1", "9", "'10'", "127"}},
		{column("a", "mediumint"), []string{"-8388608", "-256", "255", "256", "8388607"}},
		{column("a", "int", unsigned), []string{"0", "1", "255", "256", "65536", "2147483648", "4294967295"}},
		{column("a", "bigint"), []string{"-9223372036854775808", "-1", "0", "9223372036854775807"}},
		{column("a", "bigint", unsigned), []string{"0", "9223372036854775808", "18446744073709551615"}},
		{column("a", "decimal", precision(5, 2)), []string{"-999.99", "-10", "-9.5", "-9.49", "0", "0.01", "0.1", "9", "10", "999.99"}},
		{column("a", "date"), []string{"'1000-01-01'", "'1969-12-31'", "'1970-01-01'", "'2000-02-29'", "'2000-03-01'", "'9999-12-31'"}},
		{column("a", "datetime", precision(6, 0)), []string{"'1969-12-31 23:59:59'", "'2001-01-01 00:00:00'", "'2001-01-01 00:00:00.000001'", "'2001-01-01 00:00:01'"}},
		{column("a", "timestamp"), []string{"'1970-01-01 02:00:01'", "'2001-01-01 00:00:00'", "'2038-01-19 05:14:07'"}},
		{column("a", "time"), []string{"'-10:00:00'", "'-00:00:01'", "'00:00:00'", "'00:00:01'", "'10:00:00'"}},
		{column("a", "year"), []string{"1901", "1999", "2000", "2155"}},
		{column("a", "varchar", general), []string{"''", "'a'", "'ab'", "'b'", "'é'", "'z'", "'中'"}},
		{column("a", "varchar", uca), []string{"''", "'1'", "'a'", "'Ab'", "'b'", "'Z'", "'я'", "'か'"}},
		{column("a", "varchar", uca520), []string{"'a'", "'b'", "'Ł'", "'м'", "'中'"}},
		{column("a", "varchar", uca900), []string{"'😀'", "'a'", "'a '", "'ab'", "'中'"}},
		{column("a", "varchar", uca900cs), []string{"'a'", "'A'", "'á'", "'ab'", "'b'"}},
		{column("a", "varchar", bin), []string{"''", "'A'", "'B'", "'a'", "'é'", "'中'", "'😀'"}},
		{column("a", "varchar", bin900), []string{`'\0'`, `'\0a'`, `'` + "\x01" + `'`, `'` + "\x02" + `'`, "'a'", "'a '", "'a b'"}},
		{column("a", "varbinary", charset("", "", 10)), []string{"''", "0x00", "0x0000", "0x01", "0x61", "0x6100", "0xff"}},
	} {
		p := keyPlan(t, s, c.column)
		last := ""
		for i, value := range c.values {
			key, exact := keyOf(t, p, "("+value+")")
			require.True(t, exact, "%s %s", c.column.Type, value)
			require.True(t, i == 0 || last < key, "%s %s is not above %s", c.column.Type, value, c.values[max(i-1, 0)])
			last = key
		}
	}
}

// S18, F102, F134: whatever the server would round, clip, convert or read in
// its own way is not exact.
func TestKeyNotExact(t *testing.T) {
	s := newState(t, MySQL)
	for _, c := range []struct {
		column Column
		values string
	}{
		{column("a", "tinyint"), "128 -129 999 '' 'x' '1e1' '+7' '1.0' '-0' 1.0 1e0 0x07 b'111' NULL DEFAULT 1+1 99999999999999999999 '0x10'"},
		{column("a", "int", unsigned), "-1 4294967296"},
		{column("a", "decimal", precision(5, 2)), "1000 1.005 -0 '-0.00' 1e1 '.5' '5.' '+1' '1e1' ''"},
		{column("a", "decimal", precision(5, 2), unsigned), "-1"},
		{column("a", "float"), "1.5 1"},
		{column("a", "double"), "1.5 '1.5'"},
		{column("a", "date"), "'0000-00-00' '2001-02-29' '2001-1-1' '01-01-01' '20010101' 20010101 '2001-00-01' '0999-01-01' DATE'2001-01-01' '2001/01/01' ''"},
		{column("a", "datetime"), "'2001-01-01T00:00:00' '2001-01-01-00:00:00.0' NOW()"},
		{column("a", "timestamp"), "'2001-01-01'"}, // time_zone=SYSTEM
		{column("a", "time"), "'1:00:00' '100:00:00' '-00:00:00' 10000 '00:60:00'"},
		{column("a", "year"), "1 99 0 '0' 2156 1900 '01'"},
		{column("a", "varchar", bin), "'12345678901' 1.5 +5 05 _latin1'a' 'a''b'_utf8mb4'x' NULL"},
		{column("a", "varchar", uca), "'\uffff'"},
		{column("a", "varchar", charset("utf8mb3", "utf8mb3_bin", 10)), "'😀'"},
		{column("a", "varchar", charset("ascii", "ascii_bin", 10)), "0xe9"},
		{column("a", "varchar", bin), "0xff"},
		{column("a", "varchar", latin1), "'é'"}, // the client sends UTF-8
		{column("a", "varchar", charset("utf8mb4", "utf8mb4_uca1400_ai_ci", 10)), "'a'"},
		{column("a", "varchar", charset("latin1", "latin1_german2_ci", 10)), "'a'"},
		{column("a", "varchar", charset("gbk", "gbk_chinese_ci", 10)), "'a'"},
		{column("a", "char", charset("utf8mb4", "utf8mb4_unicode_nopad_ci", 10)), "'a'"},
		{column("a", "enum", bin), "'a' 1"},
		{column("a", "bit"), "1"},
	} {
		p := keyPlan(t, s, c.column)
		for value := range strings.FieldsSeq(c.values) {
			var rows Rows
			row := "(" + value + ")"
			if ScanRowList(&rows, []byte(row), &s.Lex) != "" {
				continue // relayed anyway
			}
			_, exact := p.Key(nil, []byte(row), rows.Row(0))
			require.False(t, exact, "%s %s", c.column.Type, value)
		}
	}
}

// What counts is how the literal gets to the column: client, connection and
// column character set.
func TestKeyCharsets(t *testing.T) {
	const ascii, high = "('abc')", "('\xe9')"
	for _, c := range []struct {
		client, connection string
		column             func(*Column)
		ascii, high        bool
	}{
		{"latin1", "latin1", latin1, true, true},
		{"latin1", "latin1", bin, true, false},
		{"latin1", "utf8mb4", latin1, true, false},
		{"utf8mb4", "utf8mb4", latin1, true, false},
		{"utf8mb4", "utf8mb4", bin, true, false}, // not valid
		{"binary", "binary", latin1, true, true},
		{"binary", "binary", bin, true, false}, // not valid
		{"binary", "binary", charset("binary", "binary", 10), true, true},
		{"latin1", "latin1", charset("binary", "binary", 10), true, true},
		{"latin1", "utf8mb4", charset("binary", "binary", 10), true, false},
	} {
		p := keyPlan(t, newState(t, MySQL, "character_set_client", c.client, "character_set_connection", c.connection), column("a", "varchar", c.column))
		for row, want := range map[string]bool{ascii: c.ascii, high: c.high} {
			key, exact := p.Key(nil, []byte(row), []Value{{Span: Span{1, len(row) - 1}, Kind: String}})
			require.Equal(t, want, exact, "%v %q", c, row)
			require.NotEmpty(t, key)
		}
	}
}

func TestKeyParts(t *testing.T) {
	s := newState(t, MySQL)
	p := keyPlan(t, s, column("a", "varchar", bin), column("b", "int"))
	var keys []string
	for _, row := range []string{"('',5)", "('a',-1)", "('a',1)", "('a',256)", "('aa',0)", "('b',-7)"} {
		key, exact := keyOf(t, p, row)
		require.True(t, exact)
		keys = append(keys, key)
	}
	require.IsIncreasing(t, keys)

	// b DESC, a: order of the parts is that of the key, not of the row.
	tb := table(column("a", "varchar", bin), column("b", "varchar", bin))
	tb.Primary.Parts = []KeyPart{{Column: 1, Desc: true}, {Column: 0}}
	p, why := NewPlan(Form{Table: "t"}, tb, s)
	require.Empty(t, why)
	keys = keys[:0]
	for _, row := range []string{"('x','b')", "('a','ab')", "('b','ab')", "('a','a')", "('a','')"} {
		key, exact := keyOf(t, p, row)
		require.True(t, exact)
		keys = append(keys, key)
	}
	require.IsIncreasing(t, keys)
}

func TestKeyNoBackslashEscapes(t *testing.T) {
	p := keyPlan(t, newState(t, MySQL, "sql_mode", "NO_BACKSLASH_ESCAPES"), column("a", "varbinary", charset("", "", 10)))
	for row, want := range map[string]string{`('C:\')`: "C:\\\x00", `('a\nb')`: "a\\nb\x00", `('''')`: "'\x00"} {
		key, exact := keyOf(t, p, row)
		require.True(t, exact)
		require.Equal(t, want, key)
	}
}

// A weight takes one to three bytes, none of them zero, in the order of the
// weights, and none is the beginning of another.
func TestAppendWeight(t *testing.T) {
	last := []byte{}
	for w := range 1 << 16 {
		b := appendWeight(nil, uint16(w))
		require.Negative(t, bytes.Compare(last, b), w)
		require.False(t, w > 0 && bytes.HasPrefix(b, last), w)
		require.NotContains(t, b, byte(0))
		last = b
	}
}

func FuzzKey(f *testing.F) {
	for _, seed := range []string{"('a',1)", `('\\%é',-1)`, "('😀中 ','1')", "(0x00,1e1)", "(NULL,DEFAULT)", "(DATE'2001-01-01',.5)"} {
		f.Add(seed)
	}
	s := newState(f, MariaDB, "time_zone", "UTC")
	var plans []*Plan
	for _, second := range []string{"int", "decimal", "datetime", "timestamp", "time", "year", "date", "float", "bit"} {
		for _, first := range []func(*Column){general, uca, uca900, uca900cs, bin, latin1} {
			plans = append(plans, keyPlan(f, s, column("a", "varchar", first), column("b", second, precision(6, 3))))
		}
	}
	var rows Rows
	f.Fuzz(func(t *testing.T, text string) {
		if ScanRowList(&rows, []byte(text), &s.Lex) != "" || rows.Width != 2 {
			return
		}
		for _, p := range plans {
			first, exact := p.Key(nil, []byte(text), rows.Row(0))
			again, same := p.Key([]byte("prefix"), []byte(text), rows.Row(0))
			if exact != same || string(again) != "prefix"+string(first) {
				t.Fatalf("%q: %x and %x", text, first, again)
			}
		}
	})
}

func benchmarkRows(b *testing.B, n int) (*Plan, []byte, *Rows) {
	b.Helper()
	s := newState(b, MariaDB)
	p := keyPlan(b, s, column("word", "varchar", charset("utf8mb4", "utf8mb4_general_ci", 64)), column("location_id", "int", unsigned))
	var sql []byte
	for i := range n {
		sql = fmt.Appendf(sql, "('word%d',%d),", i*7919%5000, i*104729%1000003)
	}
	rows := new(Rows)
	if why := ScanRowList(rows, sql[:len(sql)-1], &s.Lex); why != "" {
		b.Fatal(why)
	}
	return p, sql, rows
}

func BenchmarkKey(b *testing.B) {
	p, sql, rows := benchmarkRows(b, 1000)
	cs := charset("utf8mb4", "utf8mb4_0900_ai_ci", 64)
	u := charset("utf8mb4", "utf8mb4_unicode_ci", 64)
	raw := charset("utf8mb4", "utf8mb4_bin", 64)
	for name, p := range map[string]*Plan{
		"general_ci": p,
		"0900_ai_ci": keyPlan(b, p.State, column("word", "varchar", cs), column("location_id", "int")),
		"unicode_ci": keyPlan(b, p.State, column("word", "varchar", u), column("location_id", "int")),
		"bin":        keyPlan(b, p.State, column("word", "varchar", raw), column("location_id", "int")),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var key []byte
			i := 0
			for b.Loop() {
				key, _ = p.Key(key[:0], sql, rows.Row(i))
				i = (i + 1) % 1000
			}
		})
	}
}

func TestKeyDoesNotAllocate(t *testing.T) {
	s := newState(t, MySQL)
	p := keyPlan(t, s, column("a", "varchar", general), column("b", "varchar", uca), column("c", "varchar", uca900),
		column("d", "varchar", uca900cs), column("e", "varchar", latin1), column("f", "decimal", precision(9, 3)), column("g", "datetime"))
	row := []byte(`('Wört\'er','größe','中文é','é','x''y',1.25,'2001-01-01 00:00:00')`)
	var rows Rows
	require.Empty(t, ScanRowList(&rows, row, &s.Lex))
	key := make([]byte, 0, 1024)
	require.Zero(t, testing.AllocsPerRun(100, func() { key, _ = p.Key(key[:0], row, rows.Row(0)) }))
}
