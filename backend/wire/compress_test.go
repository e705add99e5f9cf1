package wire

import (
	"bytes"
	stdzlib "compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

var methods = []Compression{
	{Algorithm: Zlib},
	{Algorithm: Zstd, Level: 1}, {Algorithm: Zstd, Level: 3}, {Algorithm: Zstd, Level: 22},
}

func eachMethod(t *testing.T, f func(t *testing.T, m Compression)) {
	for _, m := range methods {
		t.Run(fmt.Sprintf("%d-%d", m.Algorithm, m.Level), func(t *testing.T) { f(t, m) })
	}
}

var bestZstd = sync.OnceValue(func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		panic(err)
	}
	return w
})

// frame is a compressed packet as the others write it: zlib by the standard library,
// zstd by the library's best level, which knows windows that ours does not write.
func frame(t testing.TB, m Compression, id byte, p []byte) []byte {
	if m.Algorithm == Zlib {
		var out bytes.Buffer
		w := stdzlib.NewWriter(&out)
		_, err := w.Write(p)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return append(header(out.Len(), id, len(p)), out.Bytes()...)
	}
	out := bestZstd().EncodeAll(p, nil)
	return append(header(len(out), id, len(p)), out...)
}

// unpacked is a compressed packet that is not packed.
func unpacked(id byte, p string) []byte { return append(header(len(p), id, 0), p...) }

func header(size int, id byte, plain int) []byte {
	return []byte{byte(size), byte(size >> 8), byte(size >> 16), id, byte(plain), byte(plain >> 8), byte(plain >> 16)}
}

// headers reads the headers of a stream of compressed packets.
func headers(t *testing.T, p []byte) (sizes, ids, plains []int) {
	for len(p) > 0 {
		require.GreaterOrEqual(t, len(p), compressedHeader)
		n := chunkLen(p)
		sizes, ids, plains = append(sizes, n), append(ids, int(p[3])), append(plains, chunkLen(p[4:]))
		p = p[compressedHeader+n:]
	}
	return sizes, ids, plains
}

// recorded keeps what is written.
type recorded struct {
	*scripted
	out bytes.Buffer
}

func (r *recorded) Write(p []byte) (int, error) { return r.out.Write(p) }

// wrapped is a connection that reads in and has the layer on it.
func wrapped(m Compression, in []byte, most int) (*Conn, *recorded) {
	s := &recorded{scripted: &scripted{in: in, random: rand.New(rand.NewPCG(1, 1)), most: most}}
	c := NewConn(s)
	c.Wrap(Compress(m))
	return c, s
}

// text is n bytes that pack well.
func text(n int) []byte { return bytes.Repeat([]byte("a row of some table, 12345;"), n/27+1)[:n] }

// noise is n bytes that do not pack.
func noise(n int) []byte {
	p := make([]byte, n)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(p)
	return p
}

// TestCompressBothWays: what one side writes the other one reads, whatever the sizes.
func TestCompressBothWays(t *testing.T) {
	eachMethod(t, func(t *testing.T, m Compression) {
		a, b := net.Pipe()
		defer a.Close()
		var sent [][]byte
		for _, n := range []int{1, 49, 50, 51, 1000, smallBuffer, largeBuffer - 1, largeBuffer, largeBuffer + 1, 1 << 20} {
			sent = append(sent, text(n), noise(n))
		}
		go func() {
			w := Compress(m)(a)
			for _, p := range sent {
				if _, err := w.Write(p); err != nil {
					return
				}
			}
			_ = a.Close()
		}()
		got, err := io.ReadAll(Compress(m)(b))
		require.NoError(t, err)
		require.True(t, bytes.Equal(bytes.Join(sent, nil), got))
	})
}

// TestCompressWrites: what is short or does not get shorter is not packed, a write is one
// compressed packet, and nothing exceeds what a header can say.
func TestCompressWrites(t *testing.T) {
	eachMethod(t, func(t *testing.T, m Compression) {
		for _, c := range []struct {
			p      []byte
			plains []int
		}{
			{text(minPacked - 1), []int{0}},
			{text(minPacked + 150), []int{minPacked + 150}},
			{noise(1000), []int{0}},
			{noise(largeBuffer), []int{0}},
			{text(largeBuffer), []int{largeBuffer}},
			{text(largeBuffer + 1), []int{largeBuffer, 0}},
		} {
			conn, s := wrapped(m, nil, 1)
			n, err := conn.Write(c.p)
			require.NoError(t, err)
			require.Equal(t, len(c.p), n)
			sizes, _, plains := headers(t, s.out.Bytes())
			require.Equal(t, c.plains, plains)
			for i, plain := range plains {
				if plain > 0 {
					require.Less(t, sizes[i], plain)
				}
			}
		}
		conn, s := wrapped(m, nil, 1)
		_, err := conn.Write(text(1<<24 + 5))
		require.NoError(t, err)
		_, _, plains := headers(t, s.out.Bytes())
		require.Len(t, plains, (1<<24)/maxPiece+1)
	})
}

// TestCompressIds: one count for both directions, which wraps, and which a packet with
// id 0 begins again.
func TestCompressIds(t *testing.T) {
	m := Compression{Algorithm: Zlib}
	var in []byte
	in = append(in, unpacked(0, "command")...)
	in = append(in, frame(t, m, 2, text(100))...) // a file, after one packet of ours
	in = append(in, unpacked(3, "end")...)
	in = append(in, unpacked(0, "command")...)
	conn, s := wrapped(m, in, 1000)
	take := func(n int) {
		t.Helper()
		_, err := conn.Peek(n)
		require.NoError(t, err)
		require.Equal(t, n, conn.Buffered(), "it read on into the next compressed packet")
		conn.Discard(n)
	}
	ids := func(n int) []int {
		for range n {
			_, err := conn.Write([]byte("reply"))
			require.NoError(t, err)
		}
		_, ids, _ := headers(t, s.out.Bytes())
		s.out.Reset()
		return ids
	}
	take(7)
	require.Equal(t, []int{1}, ids(1))
	take(100)
	take(3)
	require.Equal(t, []int{4, 5}, ids(2))
	take(7)
	many := ids(300)
	require.Equal(t, 1, many[0])
	require.Equal(t, []int{255, 0, 1}, many[254:257])
	conn.Compressed().Restart()
	require.Equal(t, []int{0}, ids(1))
}

// TestCompressReadsAnySplit: compressed packets know nothing of the packets in them.
func TestCompressReadsAnySplit(t *testing.T) {
	eachMethod(t, func(t *testing.T, m Compression) {
		var payloads [][]byte
		for _, n := range []int{0, 1, 3, 200, 0, 5000, 20000, 60} {
			payloads = append(payloads, text(n), noise(n))
		}
		var stream []byte
		for _, p := range payloads {
			stream = AppendPacket(stream, 0, p)
		}
		for _, piece := range []int{1, 2, 3, 5, 64, 1001, 1 << 20} {
			var in []byte
			id := byte(0)
			for i, rest := 0, stream; len(rest) > 0; i, id = i+1, id+1 {
				n := min(piece, len(rest))
				switch {
				case i%5 == 1:
					in = append(in, unpacked(id, "")...)
					n = 0
				case i%3 == 0 && i < 300:
					in = append(in, frame(t, m, id, rest[:n])...)
				default:
					in = append(in, unpacked(id, string(rest[:n]))...)
				}
				rest = rest[n:]
			}
			conn, _ := wrapped(m, in, 3*piece)
			for i, want := range payloads {
				got, _, err := conn.ReadPacket(1 << 20)
				require.NoError(t, err, "piece %d, payload %d", piece, i)
				require.True(t, bytes.Equal(want, got), "piece %d, payload %d", piece, i)
			}
			_, _, err := conn.ReadPacket(1 << 20)
			require.ErrorIs(t, err, io.EOF)
		}
	})
}

// TestCompressLongest: a packet as long as a header can say is unpacked as it is read,
// and afterwards nothing of it is held.
func TestCompressLongest(t *testing.T) {
	for name, p := range map[string][]byte{"text": text(MaxChunk), "noise": noise(MaxChunk)} {
		for _, m := range []Compression{{Algorithm: Zlib}, {Algorithm: Zstd, Level: 22}} {
			t.Run(fmt.Sprint(name, m.Algorithm), func(t *testing.T) {
				in := frame(t, m, 0, p)
				if len(in)-compressedHeader > MaxChunk {
					in = unpacked(0, string(p))
				}
				conn, _ := wrapped(m, in, len(in))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var got int
				for buf := make([]byte, smallBuffer); got < len(p); {
					n, err := conn.Read(buf)
					require.NoError(t, err)
					require.True(t, bytes.Equal(p[got:got+n], buf[:n]))
					got += n
				}
				runtime.ReadMemStats(&after)
				most := uint64(1 << 20)
				if m.Algorithm == Zstd {
					most = zstdWindow + 4<<20 // its window is as far back as a packet may refer
				}
				require.Less(t, after.TotalAlloc-before.TotalAlloc, most)
				_, err := conn.Read(make([]byte, 1))
				require.ErrorIs(t, err, io.EOF)
				require.Nil(t, conn.Compressed().unpack)
				require.Nil(t, conn.Compressed().in.large)
			})
		}
	}
}

// TestCompressBroken: what is wrong with a packet is an error before all of its bytes are
// given, as long as they are as many as it says, and stays one.
func TestCompressBroken(t *testing.T) {
	eachMethod(t, func(t *testing.T, m Compression) {
		p := text(1000)
		whole := frame(t, m, 0, p)
		change := func(f func(in []byte) []byte) []byte { return f(bytes.Clone(whole)) }
		resize := func(in []byte, plain int) []byte {
			copy(in[4:], header(0, 0, plain)[4:])
			return in
		}
		for name, c := range map[string]struct {
			in   []byte
			want error
		}{
			"longer than it says":   {change(func(in []byte) []byte { return resize(in, 999) }), ErrCompressed},
			"shorter than it says":  {change(func(in []byte) []byte { return resize(in, 1001) }), ErrCompressed},
			"a bomb":                {change(func(in []byte) []byte { return resize(in, 1) }), ErrCompressed},
			"something follows":     {append(header(len(whole)-compressedHeader+3, 0, 1000), append(bytes.Clone(whole[compressedHeader:]), "abc"...)...), ErrCompressed},
			"checksum":              {change(func(in []byte) []byte { in[len(in)-1] ^= 1; return in }), ErrCompressed},
			"garbage":               {append(header(20, 0, 100), "this is not packed, no"...), ErrCompressed},
			"nothing in it":         {header(0, 0, 100), ErrCompressed},
			"cut in its middle":     {append(header(len(whole)-compressedHeader-9, 0, 1000), whole[compressedHeader:len(whole)-9]...), ErrCompressed},
			"out of order":          {frame(t, m, 7, p), ErrOutOfOrder},
			"end of the connection": {whole[:len(whole)-1], io.ErrUnexpectedEOF},
			"end in a header":       {whole[:5], io.EOF},
		} {
			t.Run(name, func(t *testing.T) {
				conn, _ := wrapped(m, append(bytes.Clone(c.in), unpacked(1, "more")[:min(11, len(c.in)/1000)]...), 100)
				var got []byte
				var err error
				buf := make([]byte, 64)
				for range 1000 {
					var n int
					if n, err = conn.Read(buf); err != nil {
						break
					}
					got = append(got, buf[:n]...)
				}
				require.ErrorIs(t, err, c.want)
				if name != "shorter than it says" {
					require.Less(t, len(got), len(p))
				}
				if errors.Is(c.want, ErrCompressed) || errors.Is(c.want, ErrOutOfOrder) {
					require.NotErrorIs(t, err, io.ErrUnexpectedEOF)
					_, again := conn.Read(buf)
					require.ErrorIs(t, again, c.want)
				}
			})
		}
	})
}

// TestCompressDeadline: a read that is woken in the middle of a packet can be repeated.
func TestCompressDeadline(t *testing.T) {
	eachMethod(t, func(t *testing.T, m Compression) {
		near, far := net.Pipe()
		defer near.Close()
		conn := NewConn(near)
		conn.Wrap(Compress(m))
		in := frame(t, m, 0, AppendPacket(nil, 0, text(5000)))
		for _, part := range [][]byte{in[:3], in[3:20], in[20:]} {
			require.NoError(t, conn.SetReadDeadline(time.Unix(1, 0)))
			_, _, err := conn.Packet()
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			require.NoError(t, conn.SetReadDeadline(time.Time{}))
			sent := make(chan error)
			go func() {
				_, err := far.Write(part)
				sent <- err
			}()
			if len(part) == len(in)-20 {
				raw, whole, err := conn.Packet()
				require.NoError(t, err)
				require.True(t, whole)
				require.Len(t, raw, 5004)
			} else { // the part is taken and is not enough
				require.NoError(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
				_, _, err := conn.Packet()
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			}
			require.NoError(t, <-sent)
		}
	})
}

// FuzzCompressed: whatever arrives, nothing panics, nothing is given that no packet has,
// and the stream ends.
func FuzzCompressed(f *testing.F) {
	for i, m := range methods[:2] {
		stream := frame(f, m, 0, text(300))
		stream = append(stream, unpacked(1, "not packed")...)
		stream = append(stream, unpacked(2, "")...)
		f.Add(append(stream, frame(f, m, 3, text(60))...), i == 1, byte(50))
		f.Add(header(100, 0, 1<<24-1), i == 1, byte(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, isZstd bool, most byte) {
		m := methods[0]
		if isZstd {
			m = methods[1]
		}
		conn, _ := wrapped(m, in, int(most)+1)
		claimed := 0
		for rest := in; len(rest) >= compressedHeader; {
			n := chunkLen(rest)
			claimed += max(chunkLen(rest[4:]), min(n, len(rest)-compressedHeader))
			rest = rest[min(compressedHeader+n, len(rest)):]
		}
		got, err := io.Copy(io.Discard, io.LimitReader(conn.Compressed(), int64(claimed)+1))
		if got > int64(claimed) {
			t.Fatalf("%d bytes of %d, %v", got, claimed, err)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	for _, m := range methods {
		for _, n := range []int{400, 8 << 10, 128 << 10} {
			b.Run(fmt.Sprintf("%d-%d/%d", m.Algorithm, m.Level, n), func(b *testing.B) {
				conn, s := wrapped(m, nil, 1)
				p := text(n)
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					s.out.Reset()
					_, _ = conn.Write(p)
				}
			})
		}
	}
}
