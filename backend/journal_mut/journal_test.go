package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

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

func TestConcurrentAppendAndRead(t *testing.T) {
	for _, mode := range []SyncMode{SyncAlways, SyncEverySecond, SyncOS} {
		t.Run(mode.String(), func(t *testing.T) {
			opts := testOptions(vfs.NewMem())
			opts.Sync = mode
			j := mustOpen(t, opts)
			const writers, each = 8, 200
			var wg sync.WaitGroup
			errs := make(chan error, 2*writers)
			for w := range writers {
				q, s := mustQueue(t, j, fmt.Sprint("q", w/2)), mustShape(t, j, "s")
				wg.Add(2)
				go func() {
					defer wg.Done()
					last := uint64(0)
					for i := range each {
						seq, err := j.Append(Record{Queue: q, Shape: s, Rows: uint32(w), Body: body(w*each+i, 50+i*7)})
						if err == nil && seq <= last {
							err = fmt.Errorf("seq %d after %d", seq, last)
						}
						if err != nil {
							errs <- err
							return
						}
						last = seq
					}
				}()
				go func() {
					defer wg.Done()
					for n, from := 0, uint64(0); n < each; {
						err := j.Read(q, from, endSeq, func(r Record) error {
							if r.Queue != q || r.Seq <= from {
								return errors.New("wrong record")
							}
							from = r.Seq
							n++
							return nil
						})
						if err != nil {
							errs <- err
							return
						}
						time.Sleep(time.Millisecond)
					}
				}()
			}
			go func() {
				for range 50 {
					j.tick()
					_ = j.Stats()
				}
			}()
			wg.Wait()
			close(errs)
			for err := range errs {
				require.NoError(t, err)
			}
			st := j.Stats()
			require.EqualValues(t, writers*each, st.LastSeq)
			require.EqualValues(t, writers*each, st.UnappliedRecords)
			if mode == SyncAlways {
				require.NotZero(t, st.Syncs)
			}
		})
	}
}

// slowSync makes an fsync take its time, so that others gather behind it.
type slowSync struct {
	vfs.FS
	pause time.Duration
}

func (fs slowSync) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	return slowFile{f, fs.pause}, err
}

type slowFile struct {
	vfs.File
	pause time.Duration
}

func (f slowFile) SyncData() error {
	time.Sleep(f.pause)
	return f.File.SyncData()
}

func TestAppendersShareAnFsync(t *testing.T) {
	opts := testOptions(slowSync{vfs.NewMem(), 5 * time.Millisecond})
	opts.Sync = SyncAlways
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 10 {
				_, _ = j.Append(Record{Queue: q, Shape: s, Body: []byte("x")})
			}
		}()
	}
	wg.Wait()
	st := j.Stats()
	require.EqualValues(t, 200, st.UnappliedRecords)
	require.Less(t, st.Syncs, uint64(60))
	require.GreaterOrEqual(t, st.LastSync, 5*time.Millisecond)
}

func TestEverySecondSyncsInTheBackground(t *testing.T) {
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	opts.Sync = SyncEverySecond
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	mustAppend(t, j, Record{Queue: q, Shape: s})
	require.Zero(t, j.Stats().Syncs)
	require.Eventually(t, func() bool { return j.Stats().Syncs == 1 }, 5*time.Second, 10*time.Millisecond)
	opts.FS = fs.CrashClone(vfs.CrashCloneCfg{})
	opts.boot = func() ID { return ID{2} }
	require.Len(t, readAll(t, mustOpen(t, opts), q, 0, endSeq), 1)
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

func TestIdentity(t *testing.T) {
	write := func(fs vfs.FS, name, text string) {
		f, err := fs.Create(name, dataCategory)
		require.NoError(t, err)
		_, err = io.WriteString(f, text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	fresh := func() (*vfs.MemFS, ID) {
		fs := vfs.NewCrashableMem()
		j := mustOpen(t, testOptions(fs))
		mustAppend(t, j, Record{Queue: mustQueue(t, j, "q"), Shape: mustShape(t, j, "s")})
		require.NoError(t, j.Close())
		return fs, j.ID()
	}
	fs, id := fresh()
	require.Equal(t, id, mustOpen(t, testOptions(fs)).ID())
	other, otherID := fresh()
	require.NotEqual(t, id, otherID)
	const name = "/sluice/journal/identity"

	t.Run("from the future", func(t *testing.T) {
		fs, _ := fresh()
		write(fs, name, "sluice journal 2 with things unheard of\n")
		_, err := Open(testOptions(fs))
		require.ErrorIs(t, err, ErrVersion)
		require.ErrorContains(t, err, "newer sluice")
	})
	t.Run("garbage", func(t *testing.T) {
		for _, text := range []string{"", "hello", "sluice rejects 1 " + id.String(), "sluice journal 1 00", "sluice journal one"} {
			fs, _ := fresh()
			write(fs, name, text)
			_, err := Open(testOptions(fs))
			var damage *DamageError
			require.ErrorAs(t, err, &damage)
			require.Equal(t, name, damage.Path)
		}
	})
	t.Run("lost", func(t *testing.T) {
		fs, _ := fresh()
		require.NoError(t, fs.Remove(name))
		_, err := Open(testOptions(fs))
		require.ErrorContains(t, err, "restore this file")
	})
	t.Run("foreign segment", func(t *testing.T) {
		fs, _ := fresh()
		_, err := vfs.Clone(other, fs, "/sluice/journal/0000000001.log", "/sluice/journal/0000000002.log")
		require.NoError(t, err)
		_, err = Open(testOptions(fs))
		require.ErrorContains(t, err, "belongs to journal "+otherID.String())
	})
	t.Run("renamed segment", func(t *testing.T) {
		fs, _ := fresh()
		require.NoError(t, fs.Rename("/sluice/journal/0000000001.log", "/sluice/journal/0000000009.log"))
		_, err := Open(testOptions(fs))
		require.ErrorContains(t, err, "its header says that it is 0000000001.log")
	})
	t.Run("not a segment", func(t *testing.T) {
		fs, _ := fresh()
		write(fs, "/sluice/journal/0000000002.log", "some text that somebody left here")
		_, err := Open(testOptions(fs))
		var damage *DamageError
		require.ErrorAs(t, err, &damage)
	})
	t.Run("other files", func(t *testing.T) {
		fs, _ := fresh()
		write(fs, "/sluice/journal/README", "text")
		write(fs, "/sluice/journal/1.log", "text")
		mustOpen(t, testOptions(fs))
	})
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

func TestOneWritePerAppend(t *testing.T) {
	fs := &faultFS{FS: vfs.NewMem()}
	j := mustOpen(t, testOptions(fs))
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	mustAppend(t, j, Record{Queue: q, Shape: s})
	before := fs.count
	const n = 500
	for i := range n {
		mustAppend(t, j, Record{Queue: q, Shape: s, Body: body(i, 100)})
	}
	// A block that is full is written by itself.
	blocks := int(j.Stats().Bytes) / blockSize
	require.LessOrEqual(t, fs.count-before, n+blocks)
	require.GreaterOrEqual(t, fs.count-before, n)
}

func TestAppendAllocates(t *testing.T) {
	opts := testOptions(vfs.Default)
	opts.Dir, opts.SegmentBytes = filepath.Join(t.TempDir(), "journal"), 1<<30
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	r := Record{Queue: q, Shape: s, Body: body(1, 100)}
	// The one allocation is the writer that the record package returns.
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() { mustAppend(t, j, r) }), 1.0)
}
