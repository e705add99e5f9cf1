package journal

import (
	"bytes"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// FuzzDecode feeds the decoders of all record kinds. What one accepts must be
// written again with the same meaning.
func FuzzDecode(f *testing.F) {
	r := Record{Queue: 3, Shape: 4, Time: -5, Rows: 6, Body: []byte("(1,'a')")}
	f.Add(append(appendRecordHead(nil, &r, 2, 1), r.Body...))
	f.Add(appendWindow(nil, &Window{ID: 1, Queue: 2, From: 3, To: 9, Rows: 3, Order: []uint32{2, 0, 1}, Chunks: []uint32{0, 2}, Meta: []byte("m")}))
	f.Add(appendDone(nil, 1, 2, 3))
	f.Add(appendHeader(nil, &header{kind: "journal", number: 2, base: 3, limit: 4, ends: []segmentEnd{{1, 2}}}))
	e := testReject(1)
	e.ID = 1
	f.Add(appendReject(nil, &e))
	f.Add(appendDrop(nil, 5, []uint64{1, 2, 300}))
	f.Add([]byte{kindQueue, 1, 2, 3, 4, 1, 'q'})
	f.Add([]byte{kindShape, 1, 1, 's'})
	f.Fuzz(func(t *testing.T, payload []byte) {
		var r, r2 Record
		if decodeRecord(payload, &r) == nil {
			again := append(appendRecordHead(nil, &r, r.Seq, promise(payload)), r.Body...)
			require.NoError(t, decodeRecord(again, &r2))
			require.Equal(t, r, r2)
		}
		if w, err := decodeWindow(payload); err == nil {
			w2, err := decodeWindow(appendWindow(nil, w))
			require.NoError(t, err)
			require.Equal(t, w, w2)
		}
		if q, id, to, err := decodeDone(payload); err == nil {
			q2, id2, to2, err := decodeDone(appendDone(nil, q, id, to))
			require.NoError(t, err)
			require.Equal(t, []any{q, id, to}, []any{q2, id2, to2})
		}
		if h, err := decodeHeader(payload); err == nil {
			h2, err := decodeHeader(appendHeader(nil, &h))
			require.NoError(t, err)
			require.Equal(t, h, h2)
		}
		var e, e2 Reject
		if decodeReject(payload, &e) == nil {
			require.NoError(t, decodeReject(appendReject(nil, &e), &e2))
			require.Equal(t, e, e2)
		}
		if at, ids, err := decodeDrop(payload); err == nil {
			at2, ids2, err := decodeDrop(appendDrop(nil, at, ids))
			require.NoError(t, err)
			require.Equal(t, at, at2)
			require.Equal(t, ids, ids2)
		}
		_ = promise(payload)
		if len(payload) > 0 {
			// As part of a log, whatever it says.
			j := &Journal{
				queues: make(map[QueueID]*queue), byName: make(map[string]*queue),
				shapes: make(map[ShapeID]*shape), byBlob: make(map[string]*shape),
			}
			rec := recovery{j: j}
			s := &segment{number: 1, header: header{base: 1, limit: 1 << 40}}
			_ = rec.visit(s, 0, []byte{kindQueue, 2, 0, 0, 0, 1, 'q'})
			_ = rec.visit(s, 0, payload)
			_ = rec.visit(s, 0, payload)
			rec.leave()
		}
	})
}

// FuzzSegment opens a journal whose newest segment is anything at all.
func FuzzSegment(f *testing.F) {
	fs, _ := fill(f, SyncOS, 10, 200, 50)
	whole := readFile(f, fs, firstSegment)
	f.Add(whole)
	f.Add(whole[:len(whole)-7])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, contents []byte) {
		fs := crash(fs)
		writeFile(t, fs, firstSegment, contents)
		opts := testOptions(fs)
		opts.Logger = zerolog.Nop()
		if sum, err := Verify(opts); err == nil {
			require.True(t, bytes.Equal(contents, readFile(t, fs, firstSegment)))
			_ = sum
		}
		j, err := Open(opts)
		if err != nil {
			return
		}
		q, err := j.Queue("q")
		require.NoError(t, err)
		mustAppend(t, j, Record{Queue: q, Shape: mustShape(t, j, "s"), Body: []byte("new")})
		require.NoError(t, j.Close())
		opts.FS = vfs.FS(fs)
		require.NoError(t, func() error { j, err := Open(opts); _ = j.Close(); return err }())
	})
}
