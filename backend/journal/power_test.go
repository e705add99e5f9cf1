package journal

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

func TestPowerLossAtEachStep(t *testing.T) {
	// Pictures are taken before every operation, with nothing, a part, or all of
	// what was not synced. Whatever was acknowledged by then must be in them.
	type picture struct {
		fs    *vfs.MemFS
		acked map[uint64]string
		done  uint64
	}
	for _, percent := range []int{0, 50, 90} {
		t.Run(fmt.Sprint(percent), func(t *testing.T) {
			t.Parallel()
			mem := vfs.NewCrashableMem()
			s := newStory()
			var pictures []picture
			cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: newRand(uint64(percent))}
			fs := &stepFS{FS: mem, step: func() {
				acked := make(map[uint64]string, len(s.acked))
				for k, v := range s.acked {
					acked[k] = v
				}
				pictures = append(pictures, picture{mem.CrashClone(cfg), acked, s.done})
			}}
			opts := testOptions(fs)
			opts.Sync, opts.SegmentBytes = SyncAlways, 40<<10
			j := mustOpen(t, opts)
			s.live(t, j)
			require.NoError(t, j.Close())
			require.Greater(t, len(pictures), 50)
			for i, p := range pictures {
				what := fmt.Sprintf("picture %d, %d acknowledged", i, len(p.acked))
				opts.FS = p.fs
				opts.boot = func() ID { return ID{9} }
				then := newStory()
				then.acked, then.done = p.acked, p.done
				// Records under way may be there or not.
				for _, b := range s.acked {
					then.uncertain[b] = true
				}
				then.check(t, opts, what)
			}
		})
	}
}

// stepFS calls step before each operation that changes something.
type stepFS struct {
	vfs.FS
	step func()
}

func (f *stepFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f.step()
	file, err := f.FS.Create(name, c)
	return &stepFile{file, f.step}, err
}

func (f *stepFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	return &stepFile{file, f.step}, err
}

func (f *stepFS) Rename(a, b string) error {
	f.step()
	return f.FS.Rename(a, b)
}

type stepFile struct {
	vfs.File
	step func()
}

func (f *stepFile) Write(p []byte) (int, error) {
	f.step()
	return f.File.Write(p)
}

func (f *stepFile) Sync() error {
	f.step()
	return f.File.Sync()
}

func (f *stepFile) SyncData() error {
	f.step()
	return f.File.SyncData()
}

func TestSealIsDurableInModeEverySecond(t *testing.T) {
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	opts.Sync = SyncEverySecond
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	to := mustAppend(t, j, Record{Queue: q, Shape: s, Rows: 1})
	w := Window{ID: to, Queue: q, To: to, Rows: 1, Chunks: []uint32{0}}
	require.NoError(t, j.Seal(w))
	opts.FS = fs.CrashClone(vfs.CrashCloneCfg{})
	opts.boot = func() ID { return ID{2} }
	require.Equal(t, &w, mustOpen(t, opts).Recovered()[0].Sealed)
}

func TestWhatOpenReadIsDurable(t *testing.T) {
	// A process dies with records in the page cache only. The next one builds on
	// them, so they must not vanish afterwards.
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	opts.Sync = SyncEverySecond
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	mustAppend(t, j, Record{Queue: q, Shape: s})
	j.stop()
	<-j.done
	require.NoError(t, j.dir.close())
	j2 := mustOpen(t, opts)
	require.Len(t, readAll(t, j2, q, 0, endSeq), 1)
	mustAppend(t, j2, Record{Queue: q, Shape: s})
	opts.FS = fs.CrashClone(vfs.CrashCloneCfg{})
	opts.boot = func() ID { return ID{2} }
	require.Len(t, readAll(t, mustOpen(t, opts), q, 0, endSeq), 1)
}

func TestConcurrentAppendersAndPowerLoss(t *testing.T) {
	fs := vfs.NewCrashableMem()
	opts := testOptions(fs)
	opts.Sync = SyncAlways
	j := mustOpen(t, opts)
	q, s := mustQueue(t, j, "q"), mustShape(t, j, "s")
	var mu sync.Mutex
	acked := make(map[uint64]string)
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 100 {
				b := body(w*1000+i, 700)
				seq, err := j.Append(Record{Queue: q, Shape: s, Body: b})
				if err != nil {
					return
				}
				mu.Lock()
				acked[seq] = string(b)
				mu.Unlock()
			}
		}()
	}
	for n := 0; n < 500; n += 50 {
		for {
			mu.Lock()
			before := make(map[uint64]string, len(acked))
			for k, v := range acked {
				before[k] = v
			}
			mu.Unlock()
			if len(before) < n {
				continue
			}
			lost := opts
			lost.FS = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: n / 10, RNG: newRand(uint64(n))})
			lost.boot = func() ID { return ID{2} }
			j2 := mustOpen(t, lost)
			got := make(map[uint64]string)
			if len(before) > 0 {
				for _, r := range readAll(t, j2, mustQueue(t, j2, "q"), 0, endSeq) {
					got[r.Seq] = string(r.Body)
				}
			}
			for seq, b := range before {
				require.Equal(t, b, got[seq])
			}
			require.NoError(t, j2.Close())
			break
		}
	}
	wg.Wait()
	require.Len(t, acked, 600)
}
