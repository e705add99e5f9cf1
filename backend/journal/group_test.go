package journal

import (
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

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
