package journal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func BenchmarkZRawWrite(b *testing.B) {
	f, _ := os.Create(filepath.Join(b.TempDir(), "x"))
	p := body(1, 130)
	n := 0
	for b.Loop() {
		f.Write(p)
		n++
	}
}

func BenchmarkZRecordFlush(b *testing.B) {
	f, _ := vfs.Default.Create(filepath.Join(b.TempDir(), "x"), "x")
	w := record.NewWriter(f)
	p := body(1, 123)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.WriteRecord(p); err != nil {
			b.Fatal(err)
		}
		w.Flush()
	}
}

type noSyncFS struct{ vfs.FS }

func (fs noSyncFS) Create(n string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(n, c)
	return noSyncFile{f}, err
}
func (fs noSyncFS) ReuseForWrite(a, n string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.ReuseForWrite(a, n, c)
	return noSyncFile{f}, err
}

type noSyncFile struct{ vfs.File }

func (f noSyncFile) Sync() error                       { return nil }
func (f noSyncFile) SyncData() error                   { return nil }
func (f noSyncFile) SyncTo(int64) (bool, error)        { return true, nil }

type quiet struct{}
func (quiet) Infof(string, ...interface{}) {}
func (quiet) Errorf(string, ...interface{}) {}
func (quiet) Fatalf(string, ...interface{}) {}

func benchPebble(b *testing.B, fs vfs.FS, wo *pebble.WriteOptions) {
	db, err := pebble.Open(filepath.Join(b.TempDir(), "db"), &pebble.Options{FS: fs, Logger: quiet{}})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	p := body(1, 123)
	var key [8]byte
	n := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		n++
		for i := range key {
			key[i] = byte(n >> (56 - 8*i))
		}
		if err := db.Set(key[:], p, wo); err != nil {
			b.Fatal(err)
		}
	}
}
func BenchmarkZPebbleNoSync(b *testing.B)    { benchPebble(b, vfs.Default, pebble.NoSync) }
func BenchmarkZPebbleNoopFsync(b *testing.B) { benchPebble(b, noSyncFS{vfs.Default}, pebble.Sync) }
