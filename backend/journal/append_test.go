package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

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
