package wire

import (
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// codec packs and unpacks the contents of compressed packets. What it takes for that is
// pooled, and out of the pool only during a call or until a packet has been unpacked.
type codec interface {
	// pack appends p to dst, packed; nil if it does not get shorter.
	pack(dst, p []byte) []byte
	// unpacker reads the packed content of src.
	unpacker(src *body) (unpacker, error)
	// keep takes back an unpacker that has come to its end.
	keep(unpacker)
}

type unpacker = io.Reader

func codecOf(c Compression) codec {
	if c.Algorithm == Zstd {
		return zstdCodec{zstdLevel(c.Level)}
	}
	return zlibCodec{}
}

// packBuffers hold a compressed packet that is written. Zstd may exceed a piece that
// does not get shorter by a few bytes before that is noticed.
var packBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, compressedHeader+maxPiece+64)
	return &b
}}

// The libraries and the level were chosen by measurement (docs/decisions/0016).
const zlibLevel = 2

var (
	zlibWriters sync.Pool // *zlib.Writer
	zlibReaders sync.Pool // io.ReadCloser and zlib.Resetter
)

type zlibCodec struct{}

func (zlibCodec) pack(dst, p []byte) []byte {
	out := shorter{buf: dst, most: len(dst) + len(p) - 1}
	w, _ := zlibWriters.Get().(*zlib.Writer)
	if w == nil {
		w, _ = zlib.NewWriterLevel(&out, zlibLevel) // fails only for a level that does not exist
	} else {
		w.Reset(&out)
	}
	_, err := w.Write(p)
	if err == nil {
		err = w.Close()
	}
	w.Reset(nil)
	zlibWriters.Put(w)
	if err != nil {
		return nil
	}
	return out.buf
}

func (zlibCodec) unpacker(src *body) (unpacker, error) {
	r, ok := zlibReaders.Get().(zlib.Resetter)
	if !ok {
		return zlib.NewReader(src)
	}
	return r.(io.Reader), r.Reset(src, nil)
}

func (zlibCodec) keep(r unpacker) { zlibReaders.Put(r) }

var errNotShorter = errors.New("it does not get shorter")

// shorter collects bytes up to a bound.
type shorter struct {
	buf  []byte
	most int
}

func (s *shorter) Write(p []byte) (int, error) {
	if len(s.buf)+len(p) > s.most {
		return 0, errNotShorter
	}
	s.buf = append(s.buf, p...)
	return len(p), nil
}

// zstdCodec is a level: 0 to 2 for the library's fastest, default and better.
type zstdCodec struct{ level int }

// zstdLevel takes what a client asked for. The library's best level, for 10 and up,
// holds 35 MiB for each packet that is being written and gains 4 %.
func zstdLevel(level int) int {
	return min(int(zstd.EncoderLevelFromZstd(level)), int(zstd.SpeedBetterCompression)) - int(zstd.SpeedFastest)
}

var (
	zstdWriters [3]sync.Pool // *zstd.Encoder
	zstdReaders sync.Pool    // *zstd.Decoder
)

func (c zstdCodec) pack(dst, p []byte) []byte {
	w, _ := zstdWriters[c.level].Get().(*zstd.Encoder)
	if w == nil {
		w, _ = zstd.NewWriter(nil, // fails only for an option out of range
			zstd.WithEncoderLevel(zstd.SpeedFastest+zstd.EncoderLevel(c.level)), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(maxPiece), zstd.WithEncoderCRC(false))
	}
	out := w.EncodeAll(p, dst)
	zstdWriters[c.level].Put(w)
	if len(out)-len(dst) >= len(p) {
		return nil
	}
	return out
}

// A frame's window is as large as its content at most.
const zstdWindow = 1 << 24

func (zstdCodec) unpacker(src *body) (unpacker, error) {
	r, _ := zstdReaders.Get().(*zstd.Decoder)
	if r == nil {
		r, _ = zstd.NewReader(nil, // fails only for an option out of range
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderMaxMemory(zstdWindow))
	}
	return r, r.Reset(src)
}

func (zstdCodec) keep(r unpacker) {
	d := r.(*zstd.Decoder)
	_ = d.Reset(nil)
	zstdReaders.Put(d)
}
