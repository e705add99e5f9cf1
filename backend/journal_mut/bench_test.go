package journal

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

func benchJournal(b *testing.B, mode SyncMode) (*Journal, QueueID, ShapeID) {
	b.Helper()
	j := mustOpen(b, Options{Dir: filepath.Join(b.TempDir(), "journal"), Sync: mode, Logger: zerolog.Nop(), Keep: -1})
	return j, mustQueue(b, j, "q"), mustShape(b, j, "s")
}

func BenchmarkAppend(b *testing.B) {
	for _, mode := range []SyncMode{SyncOS, SyncEverySecond} {
		for _, size := range []int{100, 1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", mode, size), func(b *testing.B) {
				j, q, s := benchJournal(b, mode)
				r := Record{Queue: q, Shape: s, Rows: 1, Body: body(1, size)}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := j.Append(r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkAppendAlways(b *testing.B) {
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			j, q, s := benchJournal(b, SyncAlways)
			r := Record{Queue: q, Shape: s, Rows: 1, Body: body(1, 100)}
			b.SetParallelism(clients)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := j.Append(r); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func BenchmarkRead(b *testing.B) {
	j, q, s := benchJournal(b, SyncOS)
	r := Record{Queue: q, Shape: s, Rows: 1, Body: body(1, 100)}
	const n = 100000
	for range n {
		mustAppend(b, j, r)
	}
	b.SetBytes(n * 100)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, j.Read(q, 0, endSeq, func(Record) error { return nil }))
	}
}
