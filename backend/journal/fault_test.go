package journal

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"
)

// faultFS fails the operations that change something, from the one with number
// first on, as often as times says. A failing write leaves a part of its bytes.
type faultFS struct {
	vfs.FS
	mu    sync.Mutex
	first int
	times int
	err   error
	part  float64 // of a failing write
	count int
	hits  []string
}

func (f *faultFS) fault(op, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if f.count < f.first || f.count >= f.first+f.times {
		return nil
	}
	f.hits = append(f.hits, fmt.Sprintf("%s %s (operation %d)", op, path, f.count))
	return f.err
}

func (f *faultFS) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times = 0
}

func (f *faultFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.fault("create", name); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	return &faultFile{file, f, name}, nil
}

func (f *faultFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &faultFile{file, f, name}, nil
}

func (f *faultFS) Remove(name string) error {
	if err := f.fault("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

type faultFile struct {
	vfs.File
	fs   *faultFS
	name string
}

func (f *faultFile) Write(p []byte) (int, error) {
	if err := f.fs.fault("write", f.name); err != nil {
		n := int(f.fs.part * float64(len(p)))
		_, _ = f.File.Write(p[:n])
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultFile) Sync() error {
	if err := f.fs.fault("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) SyncData() error {
	if err := f.fs.fault("sync", f.name); err != nil {
		return err
	}
	return f.File.SyncData()
}

func (f *faultFile) Close() error {
	err := f.fs.fault("close", f.name)
	if cerr := f.File.Close(); err == nil {
		err = cerr
	}
	return err
}

// story is what happened to a journal, as its clients saw it.
type story struct {
	acked     map[uint64]string // by sequence number
	failed    map[string]bool   // bodies whose Append gave an error
	uncertain map[string]bool   // the same, with ErrUncertain
	sealed    uint64
	done      uint64
	onFailure func() // called after each Append that gave a certain error
}

func newStory() *story {
	return &story{acked: make(map[uint64]string), failed: make(map[string]bool), uncertain: make(map[string]bool)}
}

func (s *story) append(t *testing.T, j *Journal, q QueueID, sh ShapeID, b []byte) error {
	seq, err := j.Append(Record{Queue: q, Shape: sh, Rows: 1, Body: b})
	switch {
	case err == nil:
		require.Empty(t, s.acked[seq])
		s.acked[seq] = string(b)
	case errors.Is(err, ErrUncertain):
		s.uncertain[string(b)] = true
	default:
		s.failed[string(b)] = true
		if s.onFailure != nil {
			s.onFailure()
		}
	}
	if err != nil && !errors.Is(err, ErrDiskFull) && !errors.Is(err, ErrFailed) {
		require.NoError(t, err, "every error has a type")
	}
	return err
}

// live runs a journal through appends, rolls and a window.
func (s *story) live(t *testing.T, j *Journal) {
	q, sh := mustQueue(t, j, "q"), mustShape(t, j, "s")
	for i := range 16 {
		length := 300
		if i%5 == 4 {
			length = 20000 // some cross a block
		}
		_ = s.append(t, j, q, sh, body(i, length))
		if i == 9 {
			j.mu.Lock()
			to := j.queues[q].last
			j.mu.Unlock()
			w := Window{ID: to, Queue: q, To: to, Rows: 1, Chunks: []uint32{0}}
			if to > 0 && j.Seal(w) == nil {
				s.sealed = to
				if j.Done(q, to) == nil {
					s.done = to
				}
			}
		}
	}
}

// check opens what is on disk and compares it with the story.
func (s *story) check(t *testing.T, opts Options, what string) {
	t.Helper()
	j, err := Open(opts)
	require.NoError(t, err, what)
	defer func() { require.NoError(t, j.Close()) }()
	q := mustQueue(t, j, "q")
	got := make(map[uint64]string)
	removed := j.queues[q].removed // a full disk makes applied records go early
	require.LessOrEqual(t, removed, s.done, what)
	for _, r := range readAll(t, j, q, removed, endSeq) {
		got[r.Seq] = string(r.Body)
	}
	for seq, b := range s.acked {
		if seq <= removed {
			continue
		}
		require.Equal(t, b, got[seq], "%s: acknowledged record %d", what, seq)
	}
	for seq, b := range got {
		require.False(t, s.failed[b], "%s: record %d was refused, but is there", what, seq)
	}
	require.LessOrEqual(t, len(got), len(s.acked)+len(s.uncertain), what)
	for _, st := range j.Recovered() {
		if st.Sealed != nil {
			require.Greater(t, st.Sealed.ID, s.done, what)
		} else if s.sealed != 0 {
			require.Equal(t, s.sealed, st.Window, what)
		}
		require.GreaterOrEqual(t, st.Applied, s.done, what)
	}
}

func TestFaultAtEveryOperation(t *testing.T) {
	for _, mode := range []SyncMode{SyncAlways, SyncEverySecond, SyncOS} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			run := func(first, times int, err error, part float64) *faultFS {
				mem := vfs.NewCrashableMem()
				fs := &faultFS{FS: mem, first: first, times: times, err: err, part: part}
				opts := testOptions(fs)
				opts.Sync, opts.SegmentBytes = mode, 40<<10
				s := newStory()
				j, err := Open(opts)
				if err != nil {
					require.NotEmpty(t, fs.hits)
					return fs
				}
				var atOnce []*vfs.MemFS // killed right after an error
				s.onFailure = func() {
					if len(atOnce) < 2 {
						atOnce = append(atOnce, crash(mem))
					}
				}
				s.live(t, j)
				fs.heal()
				s.onFailure = nil
				for _, left := range atOnce {
					opts.FS = left
					then := newStory()
					then.failed = s.failed
					maps.Copy(then.uncertain, s.uncertain)
					for _, b := range s.acked {
						then.uncertain[b] = true // those of later
					}
					then.check(t, opts, fmt.Sprint(mode, fs.hits, ", killed at once"))
				}
				what := fmt.Sprint(mode, strings.Join(fs.hits, ", "))
				q, sh := mustQueue(t, j, "q"), mustShape(t, j, "s")
				if err := s.append(t, j, q, sh, []byte("after it was mended")); err != nil {
					require.Equal(t, SyncEverySecond, mode, what)
					require.ErrorIs(t, err, ErrFailed)
					require.Error(t, j.Stats().Failed)
				}
				opts.FS = crash(mem)
				s.check(t, opts, what+", killed")
				if mode == SyncAlways {
					lost := opts
					lost.FS = mem.CrashClone(vfs.CrashCloneCfg{})
					lost.boot = func() ID { return ID{2} }
					s.check(t, lost, what+", power lost")
				}
				_ = j.Close()
				opts.FS = crash(mem)
				s.check(t, opts, what+", closed")
				return fs
			}
			operations := run(0, 0, nil, 0).count
			require.Greater(t, operations, 30)
			for first := 1; first <= operations; first++ {
				run(first, 1, syscall.ENOSPC, 0.5)
				run(first, 1, syscall.EIO, 1)
				if first%4 == 0 {
					run(first, 4, syscall.ENOSPC, 0)
					run(first, 1000, syscall.EIO, 0.9)
				}
			}
		})
	}
}

func TestConcurrentAppendersAndFaults(t *testing.T) {
	for first := 5; first < 120; first += 4 {
		mem := vfs.NewCrashableMem()
		fs := &faultFS{FS: mem, first: first, times: 1 + first%3, err: syscall.EIO, part: float64(first%2) / 2}
		opts := testOptions(fs)
		opts.Sync = SyncAlways
		j, err := Open(opts)
		if err != nil {
			continue
		}
		s := newStory()
		var mu sync.Mutex
		var wg sync.WaitGroup
		q, sh := mustQueue(t, j, "q"), mustShape(t, j, "s")
		for w := range 6 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 25 {
					b := body(w*100+i, 4000)
					seq, err := j.Append(Record{Queue: q, Shape: sh, Rows: 1, Body: b})
					mu.Lock()
					switch {
					case err == nil:
						s.acked[seq] = string(b)
					case errors.Is(err, ErrUncertain):
						s.uncertain[string(b)] = true
					default:
						s.failed[string(b)] = true
					}
					mu.Unlock()
				}
			}()
		}
		wg.Wait()
		require.Len(t, s.acked, 150-len(s.failed)-len(s.uncertain))
		require.EqualValues(t, len(s.acked), j.Stats().UnappliedRecords)
		require.Len(t, readAll(t, j, q, 0, endSeq), len(s.acked))
		opts.FS = crash(mem)
		s.check(t, opts, fmt.Sprint(fs.hits))
		opts.FS = mem.CrashClone(vfs.CrashCloneCfg{})
		opts.boot = func() ID { return ID{2} }
		s.check(t, opts, fmt.Sprint(fs.hits, ", power lost"))
		require.NoError(t, j.Close())
	}
}

func TestErrorsHaveTypes(t *testing.T) {
	for cause, kind := range map[error]error{
		syscall.ENOSPC: ErrDiskFull, syscall.EDQUOT: ErrDiskFull, syscall.EIO: ErrFailed, syscall.EROFS: ErrFailed,
	} {
		var on errorfs.Toggle
		on.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				return cause
			}
			return nil
		})
		j := mustOpen(t, testOptions(errorfs.Wrap(vfs.NewMem(), &on)))
		q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
		mustAppend(t, j, Record{Queue: q, Shape: s})
		on.On()
		for range 3 {
			_, err := j.Append(Record{Queue: q, Shape: s, Body: []byte("refused")})
			require.ErrorIs(t, err, kind)
			require.ErrorIs(t, err, cause)
			require.ErrorContains(t, err, "0000000")
		}
		on.Off()
		mustAppend(t, j, Record{Queue: q, Shape: s, Body: []byte("taken")})
		require.Len(t, readAll(t, j, q, 0, endSeq), 2)
	}
}

func TestAFailedFsyncEndsModeEverySecond(t *testing.T) {
	var on errorfs.Toggle
	on.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSyncData {
			return syscall.EIO
		}
		return nil
	})
	opts := testOptions(errorfs.Wrap(vfs.NewMem(), &on))
	opts.Sync = SyncEverySecond
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	mustAppend(t, j, Record{Queue: q, Shape: s})
	on.On()
	j.tick()
	on.Off()
	_, err := j.Append(Record{Queue: q, Shape: s})
	require.ErrorIs(t, err, ErrFailed)
	require.ErrorContains(t, err, "check the disk and restart sluice")
	require.Error(t, j.Stats().Failed)
	require.Len(t, readAll(t, j, q, 0, endSeq), 1, "reading goes on")

	// The same when it is the end of a segment that cannot be synced.
	require.NoError(t, j.Close())
	j = mustOpen(t, opts)
	q, s = mustQueue(t, j, "q"), mustShape(t, j, "s")
	on.On()
	for range 100 {
		if _, err = j.Append(Record{Queue: q, Shape: s, Body: body(1, 5000)}); err != nil {
			break
		}
	}
	on.Off()
	require.ErrorIs(t, err, ErrFailed)
	_, err = j.Append(Record{Queue: q, Shape: s})
	require.ErrorIs(t, err, ErrFailed)
}

func TestDirectoryThatCannotBeUsed(t *testing.T) {
	for _, kind := range []errorfs.OpKind{errorfs.OpMkdirAll, errorfs.OpLock, errorfs.OpList, errorfs.OpCreate, errorfs.OpRename} {
		fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == kind {
				return syscall.EROFS
			}
			return nil
		}))
		_, err := Open(testOptions(fs))
		require.ErrorIs(t, err, syscall.EROFS)
		require.ErrorContains(t, err, "/sluice/journal")
		require.NotErrorIs(t, err, ErrLocked)
	}
}
