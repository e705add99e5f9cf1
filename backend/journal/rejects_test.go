package journal

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

func rejectOptions(fs vfs.FS) RejectOptions {
	return RejectOptions{
		Dir: "/sluice/rejects", FS: fs, SegmentBytes: 20 << 10, Logger: zerolog.Nop(),
		boot: func() ID { return ID{1} },
	}
}

func mustRejects(t testing.TB, opts RejectOptions) *Rejects {
	t.Helper()
	l, err := OpenRejects(opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func testReject(seq uint64) Reject {
	return Reject{
		Time: 1700000000 + int64(seq), Journal: ID{7}, Seq: seq, Table: "db.t", User: "loader@%", Schema: "db",
		Statement: append([]byte("INSERT INTO t VALUES ('\x00\xff\\'"), body(int(seq), 300)...),
		Errno:     1062, SQLState: "23000", Message: fmt.Sprintf("Duplicate entry '%d' for key 'PRIMARY'", seq),
		State: []byte{0, 1, 2},
	}
}

func listRejects(t testing.TB, l *Rejects) []Reject {
	t.Helper()
	var got []Reject
	require.NoError(t, l.List(func(r Reject) error {
		r.Statement, r.State = bytes.Clone(r.Statement), bytes.Clone(r.State)
		got = append(got, r)
		return nil
	}))
	return got
}

func TestRejects(t *testing.T) {
	fs := vfs.NewCrashableMem()
	l := mustRejects(t, rejectOptions(fs))
	require.Zero(t, l.Len())
	require.Empty(t, listRejects(t, l))
	var want []Reject
	for seq := uint64(200); seq > 0; seq-- { // out of order, as windows of several queues are
		r := testReject(seq)
		require.NoError(t, l.Append(r))
		r.ID = uint64(len(want) + 1)
		want = append(want, r)
	}
	again, err := l.AppendAll([]Reject{testReject(3), testReject(200), testReject(201), testReject(201)})
	require.NoError(t, err)
	require.Equal(t, 1, again)
	want = append(want, testReject(201))
	want[200].ID = 201
	require.Equal(t, want, listRejects(t, l))

	n, err := l.Drop(2, 3, 3, 999, 100)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	n, err = l.Drop(2)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, 198, l.Len())
	require.Greater(t, len(l.chain.segments), 3)

	check := func(l *Rejects) {
		require.Equal(t, 198, l.Len())
		require.Len(t, listRejects(t, l), 198)
		for _, id := range []uint64{1, 57, 201} {
			got, err := l.Get(id)
			require.NoError(t, err)
			require.Equal(t, want[id-1], got)
		}
		for _, id := range []uint64{0, 2, 202} {
			_, err := l.Get(id)
			require.ErrorIs(t, err, ErrUnknown)
		}
		require.True(t, l.Has(ID{7}, 199))
		require.True(t, l.Has(ID{7}, 5))
		require.False(t, l.Has(ID{7}, 500))
		require.False(t, l.Has(ID{8}, 5))
		// Neither kept nor dropped ones come a second time.
		added, err := l.AppendAll([]Reject{testReject(199), testReject(5)})
		require.NoError(t, err)
		require.Zero(t, added)
	}
	check(l)
	opts := rejectOptions(fs.CrashClone(vfs.CrashCloneCfg{}))
	opts.boot = func() ID { return ID{2} }
	l2 := mustRejects(t, opts)
	check(l2)
	require.NoError(t, l2.Append(testReject(202)))
	got, err := l2.Get(202)
	require.NoError(t, err)
	require.EqualValues(t, 202, got.Seq)

	mine := errors.New("mine")
	require.Equal(t, mine, l2.List(func(Reject) error { return mine }))
	_, err = OpenRejects(opts)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, l2.Close())
	require.NoError(t, l2.Close())
	require.ErrorIs(t, l2.Append(testReject(9999)), ErrClosed)
	require.ErrorIs(t, l2.List(nil), ErrClosed)
}

func TestRejectsWithoutJournal(t *testing.T) {
	// Statements of a transaction have no sequence number and are never the same.
	l := mustRejects(t, rejectOptions(vfs.NewMem()))
	r := Reject{Statement: []byte("INSERT"), Errno: 1062}
	n, err := l.AppendAll([]Reject{r, r})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.NoError(t, l.Append(r))
	require.Equal(t, 3, l.Len())
}

func TestRejectsShrink(t *testing.T) {
	fs := vfs.NewCrashableMem()
	opts := rejectOptions(fs)
	now := time.Unix(1e9, 0)
	opts.Now = func() time.Time { return now }
	l := mustRejects(t, opts)
	for seq := range uint64(300) {
		require.NoError(t, l.Append(testReject(seq+1)))
	}
	segments := len(l.chain.segments)
	require.Greater(t, segments, 5)
	for id := range uint64(299) {
		_, err := l.Drop(id + 1)
		require.NoError(t, err)
	}
	require.Equal(t, 1, l.Len())
	now = now.Add(25 * time.Hour)
	opts.FS = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: newRand(1)})
	l2 := mustRejects(t, opts)
	require.Less(t, len(l2.chain.segments), segments)
	require.Less(t, l2.Bytes(), l.Bytes())
	require.Equal(t, 1, l2.Len())
	got := listRejects(t, l2)
	require.Len(t, got, 1)
	require.EqualValues(t, 300, got[0].ID)
	added, err := l2.AppendAll([]Reject{testReject(1), testReject(300)})
	require.NoError(t, err)
	require.Equal(t, 1, added, "the first is no longer remembered, a day later")
	require.EqualValues(t, 301, listRejects(t, l2)[1].ID)
}

func TestRejectFaultAtEveryOperation(t *testing.T) {
	run := func(first, times int, cause error, part float64) int {
		mem := vfs.NewCrashableMem()
		fs := &faultFS{FS: mem, first: first, times: times, err: cause, part: part}
		opts := rejectOptions(fs)
		opts.SegmentBytes = 2000
		l, err := OpenRejects(opts)
		if err != nil {
			return fs.count
		}
		in, out := make(map[uint64]bool), make(map[uint64]bool)
		for seq := uint64(1); seq <= 12; seq++ {
			switch err := l.Append(testReject(seq)); {
			case err == nil:
				in[seq] = true
			case !errors.Is(err, ErrUncertain):
				require.True(t, errors.Is(err, ErrDiskFull) || errors.Is(err, ErrFailed), err)
				out[seq] = true
			}
		}
		fs.heal()
		require.NoError(t, l.Append(testReject(99)))
		in[99] = true
		for name, left := range map[string]*vfs.MemFS{"killed": crash(mem), "power lost": mem.CrashClone(vfs.CrashCloneCfg{})} {
			opts.FS = left
			opts.boot = func() ID { return ID{2} }
			l2 := mustRejects(t, opts)
			got := make(map[uint64]bool)
			for _, r := range listRejects(t, l2) {
				require.False(t, got[r.Seq])
				got[r.Seq] = true
			}
			for seq := range in {
				require.True(t, got[seq], "%s: %v", name, fs.hits)
			}
			for seq := range out {
				require.False(t, got[seq], "%s: %v", name, fs.hits)
			}
			require.NoError(t, l2.Close())
		}
		require.NoError(t, l.Close())
		return fs.count
	}
	operations := run(0, 0, nil, 0)
	require.Greater(t, operations, 30)
	for first := 1; first <= operations; first++ {
		run(first, 1, syscall.ENOSPC, 0.5)
		run(first, 1, syscall.EIO, 1)
		run(first, 1000, syscall.EIO, 1)
	}
}

func TestRejectsConcurrently(t *testing.T) {
	l := mustRejects(t, rejectOptions(vfs.NewMem()))
	var wg sync.WaitGroup
	errs := make(chan error, 100)
	for w := range uint64(4) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range uint64(30) {
				if err := l.Append(testReject(w*1000 + i + 1)); err != nil {
					errs <- err
				}
				if i%10 == 0 {
					if err := l.List(func(r Reject) error { _, err := l.Get(r.ID); return err }); err != nil {
						errs <- err
					}
				}
			}
		}()
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, 120, l.Len())
}
