package backend

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/rewrite"
)

func unique(t *rewrite.Table) {
	t.Unique = []rewrite.Key{{Name: "b", Parts: []rewrite.KeyPart{{Column: 1}}}}
}

func child(t *rewrite.Table) { t.Parents = []string{"x.p"} }

func TestArrange(t *testing.T) {
	small := Limits{ChunkRows: 2, ChunkBytes: 1 << 20}
	for name, c := range map[string]struct {
		table  func(*rewrite.Table)
		fill   func(b *builder)
		order  []uint32
		chunks []uint32
	}{
		"nothing":                       {nil, func(*builder) {}, nil, []uint32{0}},
		"plain rows by key, and cut":    {nil, func(b *builder) { b.plain(5, 3, 4, 1, 2) }, []uint32{3, 4, 1, 2, 0}, []uint32{0, 2, 4}},
		"equal keys are not cut apart":  {nil, func(b *builder) { b.plain(1, 2, 2, 2, 3) }, []uint32{0, 1, 2, 3, 4}, []uint32{0, 1, 4}},
		"equal keys first":              {nil, func(b *builder) { b.plain(7, 7, 7, 7) }, []uint32{0, 1, 2, 3}, []uint32{0}},
		"S16 second key: sorted, whole": {unique, func(b *builder) { b.plain(3, 2, 1) }, []uint32{2, 1, 0}, []uint32{0}},
		"statements of several rows: sorted, whole": {nil, func(b *builder) {
			b.add("INSERT INTO t (a, b) VALUES (9, 0), (1, 0)", 0)
			b.plain(5, 4)
		}, []uint32{1, 3, 2, 0}, []uint32{0}},
		"an inexact key: sorted, whole": {nil, func(b *builder) {
			b.plain(3)
			b.add("INSERT INTO t (a, b) VALUES ('2 ', 0)", 0)
			b.plain(1)
		}, nil, nil},
		"S17 foreign keys: as they came, cut between statements": {child, func(b *builder) { b.plain(3, 2, 1) }, nil, []uint32{0, 2}},
		"REPLACE: sorted and cut, equal keys as they came": {nil, func(b *builder) {
			for _, v := range []string{"(2, 1)", "(1, 1)", "(2, 2)", "(1, 2)"} {
				b.add("REPLACE INTO t (a, b) VALUES "+v, 0)
			}
		}, []uint32{1, 3, 0, 2}, []uint32{0, 2}},
		"S16 REPLACE with a second key: as it came": {unique, func(b *builder) {
			for _, v := range []string{"(2, 1)", "(1, 1)", "(2, 2)"} {
				b.add("REPLACE INTO t (a, b) VALUES "+v, 0)
			}
		}, nil, []uint32{0, 2}},
		"REPLACE with a key that is not exact: as it came": {nil, func(b *builder) {
			b.add("REPLACE INTO t (a, b) VALUES (2, 1)", 0)
			b.add("REPLACE INTO t (a, b) VALUES (1.4, 1)", 0)
		}, nil, []uint32{0}},
		"REPLACE of several rows: sorted, whole": {nil, func(b *builder) {
			b.add("REPLACE INTO t (a, b) VALUES (3, 1), (2, 1), (1, 1)", 0)
		}, []uint32{2, 1, 0}, []uint32{0}},
		"timed rows: by second, then by key, whole": {nil, func(b *builder) {
			b.add("INSERT INTO t (a, b) VALUES (3, 0)", 20)
			b.add("INSERT INTO t (a, b) VALUES (9, 0)", 10)
			b.add("INSERT INTO t (a, b) VALUES (1, 0)", 20)
		}, []uint32{1, 2, 0}, []uint32{0}},
		"timed rows of one second: as others": {nil, func(b *builder) {
			for _, v := range []string{"(3, 0)", "(2, 0)", "(1, 0)"} {
				b.add("INSERT INTO t (a, b) VALUES "+v, 10)
			}
		}, []uint32{2, 1, 0}, []uint32{0, 2}},
		"timed REPLACE over two seconds: as it came": {nil, func(b *builder) {
			b.add("REPLACE INTO t (a, b) VALUES (3, 0)", 20)
			b.add("REPLACE INTO t (a, b) VALUES (1, 0)", 10)
		}, nil, []uint32{0}},
		"several plain shapes: by shape, whole": {nil, func(b *builder) {
			b.plain(3)
			b.add("INSERT INTO t (a, c) VALUES (2, 'x')", 0)
			b.plain(1)
			b.add("INSERT INTO t (a, c) VALUES (4, 'x')", 0)
		}, []uint32{0, 2, 1, 3}, []uint32{0}},
		"S15 shapes of which one is not plain: as they came": {nil, func(b *builder) {
			b.plain(3)
			b.add("REPLACE INTO t (a, c) VALUES (3, 'x')", 0)
			b.plain(1)
		}, nil, []uint32{0, 2}},
		"as it came: statements are not cut": {child, func(b *builder) {
			b.plain(9)
			b.add("INSERT INTO t (a, b) VALUES (1, 0), (2, 0), (3, 0)", 0)
			b.plain(8)
		}, nil, []uint32{0, 1, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			b := build(t, numbers(c.table))
			c.fill(b)
			a := b.Arrange(small)
			if c.chunks == nil { // only that it is whole
				require.Equal(t, []uint32{0}, a.Chunks)
				return
			}
			require.Equal(t, c.order, a.Order)
			require.Equal(t, c.chunks, a.Chunks)
		})
	}
}

func TestArrangeCutsByBytes(t *testing.T) {
	b := build(t, numbers(nil))
	b.plain(1, 2, 3, 4) // six bytes each
	require.Equal(t, []uint32{0, 2}, b.Arrange(Limits{ChunkRows: 100, ChunkBytes: 12}).Chunks)
	require.Equal(t, []uint32{0, 1, 2, 3}, b.Arrange(Limits{ChunkRows: 100, ChunkBytes: 1}).Chunks)
}

// The rows of the journal are those that were sent, whatever the form.
func TestRowsThroughTheJournal(t *testing.T) {
	for sql, want := range map[string]string{
		"INSERT INTO t (a, b) VALUES (1, 2) , (3 ,4);":             "(1, 2),(3 ,4)",
		"INSERT INTO t SET a = 1, b = 2":                           "(1,2)",
		"INSERT INTO t (a, c) VALUES (1, 'a,(b)'), (2, \"\\\")\")": "(1, 'a,(b)'),(2, \"\\\")\")",
	} {
		plan, rows := statement(t, sql, numbers(nil), variables())
		s := NewShape(plan, "u")
		body := AppendRows(nil, []byte(sql), s, rows)
		require.Equal(t, want, string(body))
		var b, held Batch
		b.addRecord(s, &journal.Record{Seq: 7, Time: 99, Rows: uint32(rows.Len()), Body: body})
		held.Add(s, []byte(sql), rows, 0)
		require.Equal(t, held.text, b.text)
		require.Equal(t, held.rows, b.rows)
		require.Equal(t, []entry{{shape: s, seq: 7, count: rows.Len()}}, b.entries, "rows that do not depend on the time have none")
	}
}

// TestRelease: a batch that was released is empty, and what it held is not in the next one.
func TestRelease(t *testing.T) {
	b := build(t, numbers(nil))
	b.plain(3, 1, 2)
	b.Release()
	require.Zero(t, b.Len())
	require.Zero(t, b.Statements())
	require.Zero(t, b.Bytes())
	b.Release() // there is nothing to release
	b.plain(8, 7)
	require.Equal(t, 2, b.Len())
	require.Equal(t, []uint32{1, 0}, b.Arrange(wide).Order)
}
