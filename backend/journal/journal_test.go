package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// testOptions are those of a small journal in memory.
func testOptions(fs vfs.FS) Options {
	return Options{
		Dir: "/sluice/journal", FS: fs, Sync: SyncOS, SegmentBytes: 100 << 10, Logger: zerolog.Nop(),
		boot: func() ID { return ID{1} },
	}
}

func mustOpen(t testing.TB, opts Options) *Journal {
	t.Helper()
	j, err := Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func mustQueue(t testing.TB, j *Journal, name string) QueueID {
	t.Helper()
	q, err := j.Queue(name)
	require.NoError(t, err)
	return q
}

func mustShape(t testing.TB, j *Journal, blob string) ShapeID {
	t.Helper()
	s, err := j.Shape([]byte(blob))
	require.NoError(t, err)
	return s
}

func mustAppend(t testing.TB, j *Journal, r Record) uint64 {
	t.Helper()
	seq, err := j.Append(r)
	require.NoError(t, err)
	return seq
}

// readAll returns what a queue holds in (from, to].
func readAll(t testing.TB, j *Journal, q QueueID, from, to uint64) []Record {
	t.Helper()
	var got []Record
	require.NoError(t, j.Read(q, from, to, func(r Record) error {
		r.Body = bytes.Clone(r.Body)
		got = append(got, r)
		return nil
	}))
	return got
}

// crash returns the file system as a killed process leaves it.
func crash(fs *vfs.MemFS) *vfs.MemFS {
	return fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: newRand(1)})
}

// body makes a body of a length that says which record it belongs to.
func body(n, length int) []byte {
	b := fmt.Appendf(nil, "(%d,'", n)
	for len(b) < length {
		b = append(b, byte('a'+(n+len(b))%26))
	}
	return b
}

const endSeq = 1 << 62

func TestAppendAndReadBack(t *testing.T) {
	fs := vfs.NewCrashableMem()
	j := mustOpen(t, testOptions(fs))
	a, b := mustQueue(t, j, "db.a"), mustQueue(t, j, "db.b")
	s1, s2 := mustShape(t, j, "insert into a"), mustShape(t, j, "insert into b\x00\xff")
	require.NotEqual(t, a, b)
	require.NotEqual(t, s1, s2)
	require.Equal(t, a, mustQueue(t, j, "db.a"))
	require.Equal(t, s1, mustShape(t, j, "insert into a"))

	var want []Record
	lengths := []int{0, 1, 100, blockSize - 40, blockSize, 3*blockSize + 5, 200 << 10}
	for i := range 400 {
		r := Record{Queue: a, Shape: s1, Time: 1700000000 - int64(i), Rows: uint32(i), Body: body(i, lengths[i%len(lengths)])}
		if i%3 == 0 {
			r.Queue, r.Shape = b, s2
		}
		r.Seq = mustAppend(t, j, r)
		require.Equal(t, uint64(i+1), r.Seq)
		if r.Queue == a {
			want = append(want, r)
		}
	}
	require.Equal(t, want, readAll(t, j, a, 0, endSeq))
	require.Greater(t, j.Stats().Segments, 5)

	for name, reopened := range map[string]*vfs.MemFS{"killed": crash(fs), "closed": nil} {
		t.Run(name, func(t *testing.T) {
			if reopened == nil {
				require.NoError(t, j.Close())
				require.NoError(t, j.Close())
				reopened = crash(fs)
			}
			j := mustOpen(t, testOptions(reopened))
			require.Equal(t, want, readAll(t, j, a, 0, endSeq))
			require.Equal(t, want[10:20], readAll(t, j, a, want[9].Seq, want[19].Seq))
			require.Len(t, readAll(t, j, b, 0, endSeq), 134)
			require.Equal(t, "insert into b\x00\xff", string(j.ShapeBlob(s2)))
			require.Nil(t, j.ShapeBlob(99))
			require.Equal(t, b, mustQueue(t, j, "db.b"))
			require.Equal(t, s2, mustShape(t, j, "insert into b\x00\xff"))
			require.Greater(t, mustQueue(t, j, "db.c"), b)
			state := j.Recovered()
			require.Len(t, state, 2)
			require.Equal(t, uint64(len(want)), state[0].Records)
			require.Equal(t, want[0].Time, state[0].Oldest)
			require.Equal(t, want[len(want)-1].Seq, state[0].Last)
			seq := mustAppend(t, j, Record{Queue: a, Shape: s1})
			if name == "closed" {
				require.Equal(t, uint64(401), seq)
			} else {
				require.Greater(t, seq, uint64(401), "numbers that may have been given away are not used")
			}
		})
	}
}

func TestSequenceNumbersAreNeverUsedTwice(t *testing.T) {
	// Power losses take everything that was not synced, again and again.
	fs := vfs.NewCrashableMem()
	used := make(map[uint64]bool)
	for boot := range byte(5) {
		opts := testOptions(fs)
		opts.boot = func() ID { return ID{boot + 1} }
		j := mustOpen(t, opts)
		q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
		for range 100 {
			seq := mustAppend(t, j, Record{Queue: q, Shape: s, Body: body(1, 3000)})
			require.False(t, used[seq])
			used[seq] = true
		}
		fs = fs.CrashClone(vfs.CrashCloneCfg{})
	}
}

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "journal")
	j := mustOpen(t, Options{Dir: dir, Sync: SyncOS, Logger: zerolog.Nop()})
	mustAppend(t, j, Record{Queue: mustQueue(t, j, "q"), Shape: mustShape(t, j, "s")})
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f.Name())
	}
}

func TestUse(t *testing.T) {
	j := mustOpen(t, testOptions(vfs.NewMem()))
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	_, err := j.Append(Record{Queue: q, Shape: s + 1})
	require.ErrorIs(t, err, ErrUnknown)
	_, err = j.Append(Record{Queue: q + 1, Shape: s})
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, j.Read(q+1, 0, 1, nil), ErrUnknown)
	mustAppend(t, j, Record{Queue: q, Shape: s})
	mine := errors.New("mine")
	require.Equal(t, mine, j.Read(q, 0, endSeq, func(Record) error { return mine }))
	require.NoError(t, j.Close())
	_, err = j.Append(Record{Queue: q, Shape: s})
	require.ErrorIs(t, err, ErrClosed)
	_, err = j.Queue("new")
	require.ErrorIs(t, err, ErrClosed)
	for _, m := range []SyncMode{SyncAlways, SyncEverySecond, SyncOS} {
		got, err := ParseSyncMode(m.String())
		require.NoError(t, err)
		require.Equal(t, m, got)
	}
	_, err = ParseSyncMode("2s")
	require.Error(t, err)
}
