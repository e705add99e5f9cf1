package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
)

// Compression is what a client and its server compress with once the login is over.
type Compression struct {
	Algorithm Algorithm
	Level     int // zstd's, 1 to 22
}

// Algorithm is a compression algorithm, or a set of them.
type Algorithm uint8

// The algorithms of MySQL's protocol_compression_algorithms.
const (
	Uncompressed Algorithm = 1 << iota
	Zlib
	Zstd
)

// caps are the flags that offer, or ask for, the algorithms.
func (a Algorithm) caps() (flags uint32) {
	if a&Zlib != 0 {
		flags |= ClientCompress
	}
	if a&Zstd != 0 {
		flags |= ClientZstd
	}
	return flags
}

// algorithms are those that flags ask for.
func algorithms(flags uint32) (a Algorithm) {
	if flags&ClientCompress != 0 {
		a |= Zlib
	}
	if flags&ClientZstd != 0 {
		a |= Zstd
	}
	if a == 0 {
		a = Uncompressed
	}
	return a
}

// Errors of a login whose compression a server refuses, in MySQL's words and with its
// numbers (3922, 3923).
var (
	ErrAlgorithm = &Error{Code: 3922, State: "HY000", Message: "Invalid compression algorithm 'uncompressed'"}
	ErrZstdLevel = &Error{Code: 3923, State: "HY000", Message: "Invalid zstd compression level for algorithm 'zstd'"}
)

// Compression is what a login asks for out of what was offered. As on a server it is zlib
// if both could be, and what was not offered counts as not asked for.
func (l *Login) Compression(offered Algorithm) (Compression, *Error) {
	switch asked := l.Algorithms & offered; {
	case asked&Zlib != 0:
		return Compression{Algorithm: Zlib}, nil
	case asked&Zstd != 0 && (l.ZstdLevel < 1 || l.ZstdLevel > 22):
		return Compression{}, ErrZstdLevel
	case asked&Zstd != 0:
		return Compression{Algorithm: Zstd, Level: l.ZstdLevel}, nil
	case offered != 0 && offered&Uncompressed == 0:
		return Compression{}, ErrAlgorithm
	}
	return Compression{Algorithm: Uncompressed}, nil
}

// A compressed packet (MySQL "Compressed Packet") has a header of its own: three bytes
// length of what follows, one sequence id, three bytes length of that when it is
// unpacked, or zero if it is not packed. It holds any part of the stream of packets.
const (
	compressedHeader = 7
	minPacked        = 50          // shorter pieces are not packed (MIN_COMPRESS_LENGTH)
	maxPiece         = largeBuffer // what a relay writes at once
)

// Errors of a compressed stream: what comes after cannot be understood.
var (
	ErrCompressed = errors.New("couldn't uncompress communication packet")
	ErrOutOfOrder = errors.New("got compressed packets out of order")
)

// Compressed is the layer of compressed packets, the same for either side. Its sequence
// ids are one count for both directions. A command begins at 0, which the side that
// sends commands says by Restart, and the other side reads.
//
// Between packets it holds nothing but a read buffer.
type Compressed struct {
	net.Conn
	in     *Conn // reads from below
	codec  codec
	next   atomic.Uint32 // sequence id; one goroutine may read while another one writes
	left   int           // of the packet being read: what Read still has to give
	body   body          // what unpacked it reads from
	unpack unpacker      // nil if the packet is not packed
	fault  error         // what the stream cannot be read on after
	last   [1]byte
	short  [compressedHeader + minPacked]byte
}

// Compress returns a layer for Conn.Wrap.
func Compress(with Compression) func(net.Conn) net.Conn {
	return func(below net.Conn) net.Conn {
		c := &Compressed{Conn: below, in: NewConn(below), codec: codecOf(with)}
		c.body.in = c.in
		return c
	}
}

// Compressed is the topmost layer if that is compression, else nil. The sequence ids of
// packets inside compressed ones mean nothing: client libraries number in their own ways,
// some going on from the compressed packet's id, and servers do not look at them.
func (c *Conn) Compressed() *Compressed {
	layer, _ := c.Conn.(*Compressed)
	return layer
}

// Restart has the next packet that is written begin a command.
func (c *Compressed) Restart() { c.next.Store(0) }

// Read gives bytes of one compressed packet, never of two: what is written after the
// last byte of a command takes its sequence id from the packet with that byte.
func (c *Compressed) Read(p []byte) (int, error) {
	if len(p) == 0 || c.fault != nil {
		return 0, c.fault
	}
	for c.left == 0 {
		if err := c.begin(); err != nil {
			return 0, err
		}
	}
	p = p[:min(len(p), c.left)]
	if c.unpack == nil {
		c.body.err = nil
		n, err := c.body.Read(p)
		c.left -= n
		return n, err
	}
	n, err := c.unpack.Read(p)
	c.left -= n
	switch {
	case c.left == 0:
		// A packet's last bytes are not given before its checksum has been seen: they
		// may be all that a command needs.
		err = c.end()
	case errors.Is(err, io.EOF):
		err = c.broken(errors.New("it is shorter than it says"))
	case err != nil:
		err = c.broken(err)
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// begin reads a header. A packet that fits the large buffer is waited for whole, so that
// a read that is woken by its deadline can be repeated.
func (c *Compressed) begin() error {
	c.in.Shrink()
	h, err := c.in.Peek(compressedHeader)
	if err != nil {
		return err
	}
	packed, id, plain := chunkLen(h), h[3], chunkLen(h[4:])
	if id != 0 && id != byte(c.next.Load()) {
		c.fault = fmt.Errorf("%w: %d", ErrOutOfOrder, id)
		return c.fault
	}
	if compressedHeader+packed <= largeBuffer {
		if _, err = c.in.Peek(compressedHeader + packed); err != nil {
			return unexpected(err)
		}
	}
	c.next.Store(uint32(id) + 1)
	c.in.Discard(compressedHeader)
	c.body.rest, c.body.err = packed, nil
	if plain == 0 {
		c.left = packed
		return nil
	}
	c.left = plain
	if c.unpack, err = c.codec.unpacker(&c.body); err != nil {
		return c.broken(err)
	}
	return nil
}

// end sees to it that a packet is what its header says.
func (c *Compressed) end() error {
	if n, err := io.ReadFull(c.unpack, c.last[:]); n > 0 {
		return c.broken(errors.New("it is longer than it says"))
	} else if !errors.Is(err, io.EOF) {
		return c.broken(err)
	}
	if c.body.rest > 0 {
		return c.broken(errors.New("something follows in it"))
	}
	c.codec.keep(c.unpack)
	c.unpack = nil
	return nil
}

// broken tells a packet that cannot be unpacked from a connection that failed.
func (c *Compressed) broken(err error) error {
	if c.body.err != nil {
		return c.body.err
	}
	c.fault = fmt.Errorf("%w: %s", ErrCompressed, err.Error()) // not a connection's error any more
	return c.fault
}

// Write sends p in as few compressed packets as hold it, each at once.
func (c *Compressed) Write(p []byte) (int, error) {
	for done := 0; done < len(p); {
		piece := p[done:min(len(p), done+maxPiece)]
		if err := c.writePiece(piece); err != nil {
			return done, err
		}
		done += len(piece)
	}
	return len(p), nil
}

func (c *Compressed) writePiece(piece []byte) error {
	if len(piece) < minPacked {
		return c.send(append(c.short[:compressedHeader], piece...), 0)
	}
	buf := packBuffers.Get().(*[]byte)
	defer packBuffers.Put(buf)
	// What packs is given back before the write, which may last.
	if out := c.codec.pack((*buf)[:compressedHeader], piece); out != nil {
		return c.send(out, len(piece))
	}
	return c.send(append((*buf)[:compressedHeader], piece...), 0)
}

// send fills the header in, for which out begins with room, and writes.
func (c *Compressed) send(out []byte, plain int) error {
	n := len(out) - compressedHeader
	out[0], out[1], out[2], out[3] = byte(n), byte(n>>8), byte(n>>16), byte(c.next.Add(1)-1)
	out[4], out[5], out[6] = byte(plain), byte(plain>>8), byte(plain>>16)
	_, err := c.Conn.Write(out)
	return err
}

// body reads what follows a header, and remembers when the connection fails.
type body struct {
	in   *Conn
	rest int
	err  error
}

func (b *body) fill() error {
	switch {
	case b.err != nil:
		return b.err
	case b.rest == 0:
		return io.EOF
	case b.in.Buffered() > 0:
		return nil
	}
	if b.rest > smallBuffer {
		b.in.Enlarge()
	}
	b.err = unexpected(b.in.fill(1))
	return b.err
}

// Read reads once at most.
func (b *body) Read(p []byte) (int, error) {
	if err := b.fill(); err != nil {
		return 0, err
	}
	n := copy(p, b.in.buf[b.in.r:min(b.in.w, b.in.r+b.rest)])
	b.in.Discard(n)
	b.rest -= n
	return n, nil
}

// ReadByte keeps zlib from reading ahead.
func (b *body) ReadByte() (byte, error) {
	if err := b.fill(); err != nil {
		return 0, err
	}
	v := b.in.buf[b.in.r]
	b.in.Discard(1)
	b.rest--
	return v, nil
}

// unexpected is the error of a connection that ends within a packet.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
