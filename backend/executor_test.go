package backend

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// recorder takes the place of a server's connection. It notes the statements that are
// sent and answers as it is told; it knows nothing of what a server would do.
type recorder struct {
	sent   []string
	answer func(sql string) *wire.Error // nil: OK
	status uint16
}

// record returns a session whose other end is r; it ends with the test.
func (r *recorder) record(t *testing.T) *wire.Session {
	t.Helper()
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c := wire.NewConn(far)
		for {
			p, _, err := c.ReadPacket(1 << 20)
			if err != nil {
				return
			}
			sql := string(p[1:])
			r.sent = append(r.sent, sql)
			var refused *wire.Error
			if r.answer != nil {
				refused = r.answer(sql)
			}
			if refused != nil {
				err = c.WriteErr(1, refused)
			} else {
				err = c.WriteOK(1, &wire.OK{Status: r.status}, wire.Caps{})
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = near.Close()
		<-done
	})
	return &wire.Session{Conn: wire.NewConn(near), Caps: wire.Caps{Base: wire.ClientProtocol41}}
}

// refuse answers a statement that holds part with an error.
func refuse(part string, code uint16) func(string) *wire.Error {
	return func(sql string) *wire.Error {
		if strings.Contains(sql, part) {
			return &wire.Error{Code: code, State: "23000", Message: part}
		}
		return nil
	}
}

const head = "INSERT INTO `x`.`t` (`a`,`b`) VALUES "

var wide = Limits{ChunkRows: 1000, ChunkBytes: 1 << 20, StatementBytes: 1 << 16}

// narrow has room for so many bytes between head and tail.
func narrow(bytes int) Limits {
	l := wide
	l.StatementBytes = len(head) + bytes
	return l
}

func TestInsertMerges(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		fill   func(b *builder)
		want   []string
	}{
		"one statement":                   {wide, func(b *builder) { b.plain(1, 2, 3) }, []string{head + "(1, 0),(2, 0),(3, 0)"}},
		"just fits":                       {narrow(len("(1, 0),(2, 0)")), func(b *builder) { b.plain(1, 2, 3) }, []string{head + "(1, 0),(2, 0)", head + "(3, 0)"}},
		"just not":                        {narrow(len("(1, 0),(2, 0)") - 1), func(b *builder) { b.plain(1, 2) }, []string{head + "(1, 0)", head + "(2, 0)"}},
		"a row is sent whatever its size": {narrow(1), func(b *builder) { b.plain(1, 2) }, []string{head + "(1, 0)", head + "(2, 0)"}},
		"max_allowed_packet": {Limits{StatementBytes: 1 << 20, PacketBytes: len(head) + 64 + len("(1, 0),(2, 0)")},
			func(b *builder) { b.plain(1, 2, 3) }, []string{head + "(1, 0),(2, 0)", head + "(3, 0)"}},
		"a client statement goes on in the next": {narrow(len("(1, 0),(2, 0)")), func(b *builder) {
			b.add("INSERT INTO t (a, b) VALUES (1, 0), (2, 0), (3, 0)", 0)
		}, []string{head + "(1, 0),(2, 0)", head + "(3, 0)"}},
		"shapes": {wide, func(b *builder) {
			b.plain(1)
			b.add("REPLACE INTO t (a, b) VALUES (2, 0)", 0)
			b.plain(3)
		}, []string{head + "(1, 0)", "REPLACE INTO `x`.`t` (`a`,`b`) VALUES (2, 0)", head + "(3, 0)"}},
		"seconds": {wide, func(b *builder) {
			for i, second := range []int64{10, 10, 11, 0} {
				b.add(fmt.Sprintf("INSERT INTO t (a, b) VALUES (%d, 0)", i), second)
			}
		}, []string{"SET timestamp = 10", head + "(0, 0),(1, 0)", "SET timestamp = 11", head + "(2, 0)", "SET timestamp = DEFAULT", head + "(3, 0)"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := build(t, numbers(nil))
			c.fill(b)
			var r recorder
			x := executor{conn: r.record(t), limits: c.limits}
			require.NoError(t, x.insert(&b.Batch, b.arrivalOrder()))
			require.Equal(t, c.want, r.sent)
			inserts := 0
			for _, sql := range r.sent {
				if !strings.HasPrefix(sql, "SET") {
					inserts++
				}
			}
			require.Equal(t, inserts, x.Statements)
			require.Equal(t, inserts == 1, x.oneStatement(&b.Batch))
		})
	}
}

func TestRunEnd(t *testing.T) {
	b := build(t, numbers(nil))
	b.plain(1, 2)
	b.add("REPLACE INTO t (a, b) VALUES (3, 0)", 0)
	b.add("INSERT INTO t (a, b) VALUES (4, 0)", 10)
	b.add("INSERT INTO t (a, b) VALUES (5, 0)", 10)
	b.add("INSERT INTO t (a, b) VALUES (6, 0), (7, 0), (8, 0)", 10)
	all := []int{0, 1, 2, 3, 4, 5}
	ends := func(x *executor) (ends []int) {
		for at := 0; at < len(all); at = ends[len(ends)-1] {
			ends = append(ends, x.runEnd(&b.Batch, all, at))
		}
		return ends
	}
	require.Equal(t, []int{2, 3, 6}, ends(&executor{limits: wide}))
	require.Equal(t, []int{2, 3, 5, 6}, ends(&executor{limits: narrow(len("(4, 0),(5, 0),"))}))
	require.Equal(t, []int{1, 2, 3, 4, 5, 6}, ends(&executor{limits: narrow(1)}), "a client statement is sent whatever its size")

	many := build(t, numbers(nil))
	many.add("INSERT INTO t (a, b) VALUES (1, 0)", 0)
	e := many.entries[0]
	var list []int
	for i := range 2*replayGroup + 1 {
		if i > 0 {
			many.entries = append(many.entries, e)
		}
		list = append(list, i)
	}
	require.Equal(t, replayGroup, (&executor{limits: Limits{StatementBytes: 1 << 20}}).runEnd(&many.Batch, list, 0))
}

func TestReplayHalves(t *testing.T) {
	b := build(t, numbers(nil))
	b.plain(1, 2)
	b.add("INSERT INTO t (a, b) VALUES (3, 0), (33, 0)", 0)
	b.plain(4)
	run := func(answer func(string) *wire.Error, first bool) ([]Casualty, []string, error) {
		r := recorder{answer: answer}
		x := executor{conn: r.record(t), limits: wide}
		lost, err := x.replayAll(&b.Batch, entriesOf(&b.Batch, b.arrivalOrder()), first)
		return lost, r.sent, err
	}
	lost, sent, err := run(refuse("(33,", 1062), false)
	require.NoError(t, err)
	require.Len(t, lost, 1)
	require.Equal(t, 2, lost[0].Statement, "the client statement, with both its rows")
	require.Equal(t, []string{
		head + "(1, 0),(2, 0),(3, 0),(33, 0),(4, 0)",
		head + "(1, 0),(2, 0)",
		head + "(3, 0),(33, 0),(4, 0)", head + "(3, 0),(33, 0)", head + "(4, 0)",
	}, sent)

	lost, sent, err = run(refuse("(1,", 1062), true)
	require.NoError(t, err)
	require.Len(t, lost, 1)
	require.Equal(t, head+"(1, 0)", sent[len(sent)-1], "stops at the first")

	lost, sent, err = run(refuse("INSERT", 1142), false)
	require.NoError(t, err)
	require.Len(t, lost, 4, "an error of the shape is every statement's")
	require.Len(t, sent, 1)

	lost, sent, err = run(refuse("(33,", 1213), false)
	require.EqualValues(t, 1213, code(err))
	require.Empty(t, lost)
	require.Len(t, sent, 1, "S13: an error that passes rejects nothing")
}

func code(err error) uint16 {
	var said *wire.Error
	if errors.As(err, &said) {
		return said.Code
	}
	return 0
}

// What takes more than one statement is undone before it is done again.
func TestFlusherUndoes(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		fill   func(b *builder)
		undo   bool
	}{
		"one statement":           {wide, func(b *builder) { b.plain(1, 2) }, false},
		"too long for one by far": {narrow(1), func(b *builder) { b.plain(1, 2) }, true},
		"too long with its head":  {Limits{StatementBytes: len("(1, 0)(2, 0)")}, func(b *builder) { b.plain(1, 2) }, true},
		"two seconds": {wide, func(b *builder) {
			b.add("INSERT INTO t (a, b) VALUES (1, 0)", 10)
			b.add("INSERT INTO t (a, b) VALUES (2, 0)", 11)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := build(t, numbers(nil))
			c.fill(b)
			r := recorder{answer: refuse("(2, 0)", 1062)}
			f := NewFlusher(r.record(t))
			lost, err := f.Run(&b.Batch, c.limits, false, false)
			require.NoError(t, err)
			require.Len(t, lost, 1)
			require.Equal(t, 1, lost[0].Statement)
			sent := strings.Join(r.sent, "\n")
			require.Equal(t, c.undo, strings.HasPrefix(sent, "SAVEPOINT "+savepoint+"\n"), sent)
			require.Equal(t, c.undo, strings.Contains(sent, "ROLLBACK TO SAVEPOINT "+savepoint+"\n"), sent)
		})
	}
}

// A status is known only from a statement that went well.
func TestFlusherStatus(t *testing.T) {
	b := build(t, numbers(nil))
	b.plain(1)
	r := recorder{answer: refuse("INSERT", 1213)}
	f := NewFlusher(r.record(t))
	_, err := f.Run(&b.Batch, wide, false, false)
	require.EqualValues(t, 1213, code(err))
	require.False(t, f.HasStatus)

	r = recorder{status: wire.StatusInTrans}
	f = NewFlusher(r.record(t))
	_, err = f.Run(&b.Batch, wide, false, false)
	require.NoError(t, err)
	require.True(t, f.HasStatus)
	require.Equal(t, uint16(wire.StatusInTrans), f.Status)
}

// The last one runs by itself and last, the others in order of their keys.
func TestFlusherAlone(t *testing.T) {
	b := build(t, numbers(nil))
	b.plain(3, 2, 1)
	var r recorder
	f := NewFlusher(r.record(t))
	lost, err := f.Run(&b.Batch, wide, true, false)
	require.NoError(t, err)
	require.Empty(t, lost)
	require.Equal(t, []string{"SAVEPOINT " + savepoint, head + "(2, 0),(3, 0)", head + "(1, 0)"}, r.sent)
}

func TestFailureOf(t *testing.T) {
	said := func(code uint16) error { return fmt.Errorf("wrapped: %w", &wire.Error{Code: code}) }
	for _, code := range []uint16{1062, 1048, 1264, 1366, 1406, 1452, 1364, 3819, 4025, 1526} {
		require.Equal(t, rowFailure, failureOf(said(code)), code)
	}
	for _, code := range []uint16{1146, 1142, 1054, 1136} {
		require.Equal(t, shapeFailure, failureOf(said(code)), code)
	}
	for _, code := range []uint16{1205, 1213, 1290, 1021, 1040, 1114, 1226, 1969, 1036, 3032, 1197} {
		require.Equal(t, retryFailure, failureOf(said(code)), code)
	}
	require.Equal(t, retryFailure, failureOf(errors.New("connection reset")))
	require.Equal(t, retryFailure, failureOf(&stateError{said(1231)}), "the rows are not to blame for the session's state")
	for code := range shapeErrors {
		require.False(t, retryErrors[code], code)
	}
}

// The column that locks a table may be named under any character set.
func TestInsertable(t *testing.T) {
	columns := func(list ...rewrite.Column) *rewrite.Table { return &rewrite.Table{Columns: list} }
	g := rewrite.Column{Name: "g", Generated: true}
	require.Equal(t, "b", insertable(columns(g, rewrite.Column{Name: "a"}, rewrite.Column{Name: "b"}, g)))
	require.Equal(t, "b", insertable(columns(g, rewrite.Column{Name: "é"}, rewrite.Column{Name: "b"})))
	require.Equal(t, "é", insertable(columns(g, rewrite.Column{Name: "é"})))
}
