package rawclient

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/klauspost/compress/zstd"
)

// Compression algorithms, by the names that MySQL gives them.
const (
	Zlib = "zlib"
	Zstd = "zstd"
)

// Compression asks for the compressed protocol after the login.
type Compression struct {
	Algorithm string // empty for none
	Level     byte   // zstd's, in the login packet; zero means 3
	Piece     int    // how many bytes one compressed packet holds at most; zero means as many as its header can say
}

// capability is the flag that asks for the algorithm.
func (o Compression) capability() uint64 {
	switch o.Algorithm {
	case Zlib:
		return Compress
	case Zstd:
		return ZstdCompress
	}
	return 0
}

func (o Compression) level() byte {
	if o.Level == 0 {
		return 3
	}
	return o.Level
}

// Frame is the header of a compressed packet.
type Frame struct {
	Seq   byte
	Size  int // of what follows the header
	Plain int // of that when unpacked; zero if it is not packed
}

// frameHeader is the length of a compressed packet's header.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_compression_packet.html
const frameHeader = 7

// minPacked is the length below which servers and clients pack nothing.
const minPacked = 50

// packed is the compressed protocol over a connection. Ids are checked as the
// servers do: one counter for both directions, from 0 with each command.
type packed struct {
	net.Conn
	option Compression
	next   byte
	in     *bufio.Reader
	plain  []byte  // unpacked and not read yet
	frames []Frame // those that were read since the last reply began
	zlib   *zlib.Writer
	zstd   *zstd.Encoder
}

func pack(c net.Conn, in *bufio.Reader, option Compression) *packed {
	if option.Piece == 0 {
		option.Piece = MaxPart
	}
	return &packed{Conn: c, option: option, in: in}
}

// restart is for a command that is sent.
func (p *packed) restart() { p.next = 0 }

// expect is for the reply to a command of that many bytes, packet headers included.
func (p *packed) expect(size int) {
	p.next = byte((size + p.option.Piece - 1) / p.option.Piece)
	p.frames = nil
}

func (p *packed) Read(b []byte) (int, error) {
	for len(p.plain) == 0 {
		if err := p.readFrame(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.plain)
	p.plain = p.plain[n:]
	return n, nil
}

func (p *packed) readFrame() error {
	f, plain, err := p.take()
	if err != nil {
		return err
	}
	p.frames = append(p.frames, f)
	if f.Seq != p.next {
		return fmt.Errorf("%w: compressed packet %d, want %d", ErrSequence, f.Seq, p.next)
	}
	p.next++
	p.plain = plain
	return nil
}

// take reads one compressed packet and unpacks it.
func (p *packed) take() (f Frame, plain []byte, err error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(p.in, header[:]); err != nil {
		return f, nil, err
	}
	f = Frame{Seq: header[3], Size: int24(header[:]), Plain: int24(header[4:])}
	body := make([]byte, f.Size)
	if _, err := io.ReadFull(p.in, body); err != nil {
		return f, nil, fmt.Errorf("read compressed packet: %w", err)
	}
	if f.Plain == 0 {
		return f, body, nil
	}
	plain, err = unpackBytes(p.option.Algorithm, body)
	if err == nil && len(plain) != f.Plain {
		err = fmt.Errorf("it has %d bytes, not %d", len(plain), f.Plain)
	}
	if err != nil {
		return f, nil, fmt.Errorf("%w: unpack: %w", ErrSequence, err)
	}
	return f, plain, nil
}

func (p *packed) Write(b []byte) (int, error) {
	var out []byte
	for rest := b; len(rest) > 0; {
		piece := rest[:min(len(rest), p.option.Piece)]
		rest = rest[len(piece):]
		f := Frame{Seq: p.next, Size: len(piece)}
		if len(piece) >= minPacked {
			small, err := p.packBytes(piece)
			if err != nil {
				return 0, err
			}
			if len(small) < len(piece) {
				f.Size, f.Plain, piece = len(small), len(piece), small
			}
		}
		out = append(AppendFrame(out, f), piece...)
		p.next++
	}
	if _, err := p.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// AppendFrame appends the header of a compressed packet.
func AppendFrame(out []byte, f Frame) []byte {
	return append(out, byte(f.Size), byte(f.Size>>8), byte(f.Size>>16), f.Seq,
		byte(f.Plain), byte(f.Plain>>8), byte(f.Plain>>16))
}

func int24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func (p *packed) packBytes(b []byte) ([]byte, error) {
	if p.option.Algorithm == Zstd {
		if p.zstd == nil {
			var err error
			p.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
				zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(int(p.option.level()))))
			if err != nil {
				return nil, err
			}
		}
		return p.zstd.EncodeAll(b, nil), nil
	}
	var out bytes.Buffer
	if p.zlib == nil {
		p.zlib = zlib.NewWriter(&out)
	} else {
		p.zlib.Reset(&out)
	}
	_, err := p.zlib.Write(b)
	err = errors.Join(err, p.zlib.Close())
	return out.Bytes(), err
}

func unpackBytes(algorithm string, b []byte) ([]byte, error) {
	if algorithm == Zstd {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.DecodeAll(b, nil)
	}
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// compress begins the compressed protocol, if it was agreed on.
func (c *Client) compress(option Compression) {
	if c.Caps&option.capability() == 0 {
		return
	}
	c.packed = pack(c.conn, c.reader, option)
	c.conn, c.reader = c.packed, bufio.NewReader(c.packed)
}

// Frames are the headers of the compressed packets that were read since the
// last reply began, nil without compression.
func (c *Client) Frames() []Frame {
	if c.packed == nil {
		return nil
	}
	return c.packed.frames
}

// TakeFrame reads one compressed packet, whatever its id, and returns what is in it.
func (c *Client) TakeFrame() (Frame, []byte, error) { return c.packed.take() }

// Raw is the connection below compression, for tests that misbehave.
func (c *Client) Raw() net.Conn {
	if c.packed != nil {
		return c.packed.Conn
	}
	return c.conn
}
