package journal

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

func permutation(n int) []uint32 {
	order := make([]uint32, n)
	for i, v := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		order[i] = uint32(v)
	}
	return order
}

func TestWindowsSurvive(t *testing.T) {
	for _, rows := range []int{1, 255, 256, 257, 65536, 65537} {
		fs := vfs.NewCrashableMem()
		opts := testOptions(fs)
		j := mustOpen(t, opts)
		q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
		to := mustAppend(t, j, Record{Queue: q, Shape: s, Rows: uint32(rows)})
		w := Window{ID: to, Queue: q, To: to, Rows: uint64(rows), Order: permutation(rows), Chunks: []uint32{0}, Meta: []byte{0, 1}}
		if rows > 100 {
			w.Chunks = []uint32{0, 1, 100, uint32(rows - 1)}
		}
		require.NoError(t, j.Seal(w))
		more := mustAppend(t, j, Record{Queue: q, Shape: s, Rows: 7, Time: 99, Body: []byte("12345")})

		opts.FS = crash(fs)
		j2 := mustOpen(t, opts)
		st := j2.Recovered()[0]
		require.Equal(t, &w, st.Sealed)
		require.EqualValues(t, 2, st.Records)
		require.Zero(t, st.Applied)
		require.NoError(t, j2.Done(q, w.ID))
		require.Nil(t, j2.Recovered()[0].Sealed)
		require.EqualValues(t, 1, j2.Stats().UnappliedRecords)
		require.EqualValues(t, 7, j2.Stats().UnappliedRows)
		require.EqualValues(t, 5, j2.Stats().UnappliedBytes)
		require.Equal(t, time.Unix(99, 0), j2.Stats().Oldest)

		opts.FS = crash(opts.FS.(*vfs.MemFS))
		j3 := mustOpen(t, opts)
		require.Equal(t, []QueueState{{
			ID: q, Name: "q", Applied: to, Last: more, Records: 1, Rows: 7, Bytes: 5, Oldest: 99, Window: w.ID,
		}}, j3.Recovered())
		var kept []Window
		require.NoError(t, j3.History(q, func(w Window) error { kept = append(kept, w); return nil }))
		require.Equal(t, []Window{w}, kept)
	}
}

func TestWindowsAreInOrder(t *testing.T) {
	j := mustOpen(t, testOptions(vfs.NewMem()))
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	for range 10 {
		mustAppend(t, j, Record{Queue: q, Shape: s, Rows: 1})
	}
	w := func(id, from, to uint64) Window {
		return Window{ID: id, Queue: q, From: from, To: to, Rows: to - from, Chunks: []uint32{0}}
	}
	require.ErrorIs(t, j.Seal(w(1, 1, 5)), ErrOrder)
	require.ErrorIs(t, j.Seal(w(1, 0, 11)), ErrOrder)
	require.ErrorIs(t, j.Done(q, 1), ErrOrder)
	require.NoError(t, j.Seal(w(5, 0, 5)))
	require.ErrorIs(t, j.Seal(w(6, 0, 6)), ErrOrder)
	require.ErrorIs(t, j.Done(q, 6), ErrOrder)
	require.NoError(t, j.Done(q, 5))
	require.ErrorIs(t, j.Done(q, 5), ErrOrder)
	require.ErrorIs(t, j.Seal(w(5, 5, 6)), ErrOrder)
	require.NoError(t, j.Seal(w(6, 5, 6)))
	require.NoError(t, j.Done(q, 6))
	require.ErrorIs(t, j.Seal(Window{ID: 7, Queue: 9, To: 9, Rows: 1, Chunks: []uint32{0}}), ErrUnknown)
	require.ErrorIs(t, j.Done(9, 7), ErrUnknown)

	good := Window{ID: 7, Queue: q, From: 6, To: 8, Rows: 2, Order: []uint32{1, 0}, Chunks: []uint32{0, 1}}
	for name, change := range map[string]func(*Window){
		"no id":             func(w *Window) { w.ID = 0 },
		"empty":             func(w *Window) { w.To = 6 },
		"no rows":           func(w *Window) { w.Rows, w.Order = 0, nil },
		"no chunk":          func(w *Window) { w.Chunks = nil },
		"chunk not at 0":    func(w *Window) { w.Chunks = []uint32{1} },
		"empty chunk":       func(w *Window) { w.Chunks = []uint32{0, 0} },
		"chunk beyond":      func(w *Window) { w.Chunks = []uint32{0, 2} },
		"order too short":   func(w *Window) { w.Order = []uint32{0} },
		"order with a twin": func(w *Window) { w.Order = []uint32{1, 1} },
		"order beyond":      func(w *Window) { w.Order = []uint32{0, 2} },
	} {
		bad := good
		change(&bad)
		require.Error(t, j.Seal(bad), name)
	}
	require.NoError(t, j.Seal(good))
}

func TestCountersAreExactAfterRecovery(t *testing.T) {
	// A window ends inside a stretch, since records came while it was prepared.
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	for i := range 1000 {
		mustAppend(t, j, Record{Queue: q, Shape: s, Rows: 2, Time: int64(i), Body: body(i, 100)})
	}
	require.NoError(t, j.Seal(Window{ID: 700, Queue: q, To: 700, Rows: 1400, Chunks: []uint32{0}}))
	require.NoError(t, j.Done(q, 700))
	require.InDelta(t, 300, j.Stats().UnappliedRecords, 700)
	opts.FS = crash(fs)
	j2 := mustOpen(t, opts)
	st := j2.Recovered()[0]
	require.EqualValues(t, 300, st.Records)
	require.EqualValues(t, 600, st.Rows)
	require.EqualValues(t, 300*100, st.Bytes)
	require.EqualValues(t, 700, st.Oldest)
	require.NoError(t, j2.Seal(Window{ID: 1000, Queue: q, From: 700, To: 1000, Rows: 600, Chunks: []uint32{0}}))
	require.NoError(t, j2.Done(q, 1000))
	require.Zero(t, j2.Stats().UnappliedRecords)
	require.Zero(t, j2.Stats().UnappliedBytes)
	require.True(t, j2.Stats().Oldest.IsZero())
}

// applyAll seals and finishes everything in a queue.
func applyAll(t testing.TB, j *Journal, q QueueID) {
	t.Helper()
	j.mu.Lock()
	from, to := j.queues[q].applied, j.queues[q].last
	j.mu.Unlock()
	require.NoError(t, j.Seal(Window{ID: to, Queue: q, From: from, To: to, Rows: 1, Chunks: []uint32{0}}))
	require.NoError(t, j.Done(q, to))
}

func TestSegmentsAreRemovedInTime(t *testing.T) {
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	opts.Keep = time.Minute
	now := time.Unix(1e9, 0)
	opts.Now = func() time.Time { return now }
	j := mustOpen(t, opts)
	a, b, s := mustQueue(t, j, "a"), mustQueue(t, j, "b"), mustShape(t, j, "s")
	first := mustAppend(t, j, Record{Queue: b, Shape: s, Body: []byte("left behind")})
	for i := range 100 {
		mustAppend(t, j, Record{Queue: a, Shape: s, Body: body(i, 10000)})
	}
	segments := j.Stats().Segments
	require.Greater(t, segments, 9)
	applyAll(t, j, a)
	now = now.Add(time.Hour)
	j.tick()
	j.tick()
	require.Equal(t, segments, j.Stats().Segments, "a record of b is not applied")
	require.Len(t, readAll(t, j, b, 0, endSeq), 1)
	require.NoError(t, j.Seal(Window{ID: first, Queue: b, To: first, Rows: 1, Chunks: []uint32{0}}))
	j.tick()
	require.Equal(t, segments, j.Stats().Segments, "sealed is not applied")
	require.NoError(t, j.Done(b, first))
	j.tick()
	require.Equal(t, segments, j.Stats().Segments, "kept for a minute")
	now = now.Add(-time.Hour) // the clock goes backwards
	j.tick()
	now = now.Add(59 * time.Second)
	j.tick()
	require.Equal(t, segments, j.Stats().Segments)
	now = now.Add(time.Second)
	j.tick()
	require.Equal(t, 1, j.Stats().Segments)
	require.Less(t, j.Stats().Bytes, int64(100<<10))
	require.ErrorIs(t, j.Read(b, 0, endSeq, func(Record) error { return nil }), ErrRemoved)

	// What is left knows all that matters.
	next := mustAppend(t, j, Record{Queue: a, Shape: s, Rows: 3, Body: []byte("new")})
	require.EqualValues(t, 102, next)
	opts.FS = crash(fs)
	j2 := mustOpen(t, opts)
	st := j2.Recovered()
	require.Equal(t, "a", st[0].Name)
	require.EqualValues(t, 1, st[0].Records)
	require.EqualValues(t, 3, st[0].Rows)
	require.EqualValues(t, 101, st[0].Window)
	require.EqualValues(t, 101, st[0].Applied)
	require.Equal(t, "s", string(j2.ShapeBlob(s)))
	require.Len(t, readAll(t, j2, a, st[0].Applied, endSeq), 1)
	require.Greater(t, mustAppend(t, j2, Record{Queue: a, Shape: s}), next)
}

func TestEachSegmentIsSelfContained(t *testing.T) {
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	opts.Keep = -1
	j := mustOpen(t, opts)
	s := mustShape(t, j, "used once per segment")
	q := mustQueue(t, j, "q")
	for i := range 300 {
		seq := mustAppend(t, j, Record{Queue: q, Shape: s, Body: body(i, 5000)})
		if i%50 != 49 {
			continue
		}
		applyAll(t, j, q)
		j.tick()
		opts.FS = crash(fs)
		j2 := mustOpen(t, opts)
		require.LessOrEqual(t, len(j2.chain.segments), 2)
		require.Equal(t, seq, j2.Recovered()[0].Applied)
		require.Equal(t, seq, j2.Recovered()[0].Window)
		require.Zero(t, j2.Recovered()[0].Records)
		require.NoError(t, j2.Close())
	}
	require.LessOrEqual(t, j.Stats().Segments, 2)
}

func TestMaxBytes(t *testing.T) {
	opts := testOptions(vfs.NewMem())
	opts.MaxBytes = 500 << 10
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	n := 0
	for ; n < 1000; n++ {
		if _, err := j.Append(Record{Queue: q, Shape: s, Body: body(n, 5000)}); err != nil {
			require.ErrorIs(t, err, ErrFull)
			require.ErrorContains(t, err, "journal.max_bytes")
			break
		}
	}
	require.InDelta(t, 100, n, 5)
	require.LessOrEqual(t, j.Stats().Bytes, opts.MaxBytes)
	require.Len(t, readAll(t, j, q, 0, endSeq), n)
	// Applying needs no room, and what was applied makes room before its time.
	applyAll(t, j, q)
	for i := range 1000 {
		mustAppend(t, j, Record{Queue: q, Shape: s, Body: body(i, 5000)})
		if i%40 == 39 {
			applyAll(t, j, q)
		}
	}
	require.LessOrEqual(t, j.Stats().Bytes, opts.MaxBytes)
}

func TestLowSpace(t *testing.T) {
	fs := vfs.NewMem()
	opts := testOptions(fs)
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	mustAppend(t, j, Record{Queue: q, Shape: s})
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 20, TotalBytes: 1 << 30})
	j.tick()
	_, err := j.Append(Record{Queue: q, Shape: s})
	require.ErrorIs(t, err, ErrDiskFull)
	require.True(t, j.Stats().LowSpace)
	applyAll(t, j, q) // a window still goes through
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 29, TotalBytes: 1 << 30})
	j.tick()
	mustAppend(t, j, Record{Queue: q, Shape: s})
}

func TestInfo(t *testing.T) {
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	_, err := Info(opts)
	require.Error(t, err, "there is no journal")
	j := mustOpen(t, opts)
	for i := range 4 {
		q, s := mustQueue(t, j, fmt.Sprint("q", i)), mustShape(t, j, fmt.Sprint("s", i))
		for range 10 {
			mustAppend(t, j, Record{Queue: q, Shape: s, Rows: 2, Body: body(i, 6000)})
		}
	}
	_, err = Info(opts)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, j.Close())
	sum, err := Info(opts)
	require.NoError(t, err)
	require.Equal(t, j.ID(), sum.ID)
	require.True(t, sum.Clean)
	require.Len(t, sum.Queues, 4)
	require.Equal(t, 4, sum.Shapes)
	require.Len(t, sum.Segments, 3)
	require.EqualValues(t, 10, sum.Queues[3].Records)
	require.Equal(t, sum.Bytes, sum.Segments[0].Bytes+sum.Segments[1].Bytes+sum.Segments[2].Bytes)
	verified, err := Verify(opts)
	require.NoError(t, err)
	require.Equal(t, sum, verified)
	mustOpen(t, opts)
}
