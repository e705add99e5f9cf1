package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// Buffer sizes: an idle session keeps the small one; a long reply or upload
// borrows a large one for as long as it lasts.
const (
	smallBuffer = 8 << 10
	largeBuffer = 128 << 10
)

var largeBuffers = sync.Pool{New: func() any { b := make([]byte, largeBuffer); return &b }}

// ErrTooLarge is returned by ReadPacket for a payload above its limit. Nothing of
// the packet has been consumed.
var ErrTooLarge = errors.New("packet larger than the limit")

// Conn frames packets over a connection. Reads are buffered, so that a packet
// can be looked at before it is forwarded as it is; writes are not.
type Conn struct {
	net.Conn          // the topmost layer: the socket, or TLS or compression over it
	socket   net.Conn // the lowest one
	tls      *tls.Conn
	buf      []byte
	r, w     int     // buf[r:w] is read and not yet consumed
	large    *[]byte // the borrowed buffer, if any
	small    []byte
	out      []byte // for packets that sluice writes itself
}

// NewConn wraps c.
func NewConn(c net.Conn) *Conn {
	small := make([]byte, smallBuffer)
	s := newSocket(c)
	return &Conn{Conn: s, socket: s, buf: small, small: small}
}

// Buffered is the number of bytes read and not yet consumed.
func (c *Conn) Buffered() int { return c.w - c.r }

// Peek returns the next n bytes without consuming them, reading as needed.
// The slice is valid until the next call on c. n must not exceed the large buffer.
func (c *Conn) Peek(n int) ([]byte, error) {
	for c.w-c.r < n {
		if err := c.fill(n); err != nil {
			return c.buf[c.r:c.w], err
		}
	}
	return c.buf[c.r : c.r+n], nil
}

// fill reads once, after making room for need bytes.
func (c *Conn) fill(need int) error {
	switch {
	case c.r == c.w:
		c.r, c.w = 0, 0
	case c.r > 0 && (c.r+need > len(c.buf) || c.w == len(c.buf)):
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	}
	if need > len(c.buf) {
		if need > largeBuffer {
			return fmt.Errorf("peek of %d bytes", need)
		}
		c.Enlarge()
	}
	n, err := c.Conn.Read(c.buf[c.w:])
	c.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// Enlarge borrows a large read buffer until Shrink.
func (c *Conn) Enlarge() {
	if c.large != nil {
		return
	}
	c.large = largeBuffers.Get().(*[]byte)
	n := copy(*c.large, c.buf[c.r:c.w])
	c.buf, c.r, c.w = *c.large, 0, n
}

// Shrink gives the large buffer back once what it holds fits the small one.
func (c *Conn) Shrink() {
	if c.large == nil || c.w-c.r > len(c.small) {
		return
	}
	n := copy(c.small, c.buf[c.r:c.w])
	largeBuffers.Put(c.large)
	c.large = nil
	c.buf, c.r, c.w = c.small, 0, n
}

// Discard consumes n buffered bytes.
func (c *Conn) Discard(n int) { c.r += n }

// Header reads the header of the next packet without consuming it.
func (c *Conn) Header() (length int, seq byte, err error) {
	h, err := c.Peek(headerLen)
	if err != nil {
		return 0, 0, err
	}
	return int(h[0]) | int(h[1])<<8 | int(h[2])<<16, h[3], nil
}

// Packet returns the next packet, header included, without consuming it, if it
// fits the large buffer; whole is false for a longer one, of which only a first
// part is returned. Valid until the next call on c.
func (c *Conn) Packet() (raw []byte, whole bool, err error) {
	n, _, err := c.Header()
	if err != nil {
		return nil, false, err
	}
	if n+headerLen > largeBuffer {
		raw, err = c.Peek(largeBuffer)
		return raw, false, err
	}
	raw, err = c.Peek(n + headerLen)
	return raw, true, err
}

// ReadPacket consumes one payload, put together from its parts, and returns it
// with the sequence id of its last part. The slice is a fresh one.
func (c *Conn) ReadPacket(limit int) ([]byte, byte, error) {
	var payload []byte
	for {
		n, seq, err := c.Header()
		if err != nil {
			return nil, 0, err
		}
		if len(payload)+n > limit {
			return nil, 0, ErrTooLarge
		}
		c.Discard(headerLen)
		if payload, err = c.appendBytes(payload, n); err != nil {
			return nil, 0, err
		}
		if n < MaxChunk {
			return payload, seq, nil
		}
	}
}

// appendBytes reads n bytes. Memory is taken for what has come, not for what a header says.
func (c *Conn) appendBytes(p []byte, n int) ([]byte, error) {
	for n > 0 {
		at := len(p)
		step := min(n, max(at, smallBuffer, c.Buffered()))
		p = append(p, make([]byte, step)...)
		if err := c.readFull(p[at:]); err != nil {
			return nil, err
		}
		n -= step
	}
	return p, nil
}

func (c *Conn) readFull(p []byte) error {
	n := copy(p, c.buf[c.r:c.w])
	c.r += n
	if n == len(p) {
		return nil
	}
	_, err := io.ReadFull(c.Conn, p[n:])
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Forward moves n bytes of c to dst, as they come, through c's buffer.
// readErr and writeErr say which side failed.
func (c *Conn) Forward(dst io.Writer, n int) (readErr, writeErr error) {
	for n > 0 {
		if c.r == c.w {
			if n > smallBuffer {
				c.Enlarge()
			}
			if err := c.fill(1); err != nil {
				return err, nil
			}
		}
		k := min(n, c.w-c.r)
		if _, err := dst.Write(c.buf[c.r : c.r+k]); err != nil {
			return nil, err
		}
		c.r += k
		n -= k
	}
	return nil, nil
}

// ForwardPacket moves the next packet, all its parts, to dst. It returns the sequence id
// of the last part, and whether the payload had no bytes. Parts that come compressed are
// numbered from first on, others keep their ids.
func (c *Conn) ForwardPacket(dst io.Writer, first byte) (seq byte, empty bool, readErr, writeErr error) {
	empty = true
	for ; ; first++ {
		n, seq, err := c.Header()
		if err != nil {
			return seq, empty, err, nil
		}
		if c.Compressed() != nil {
			c.buf[c.r+3], seq = first, first
		}
		if n > 0 {
			empty = false
		}
		if readErr, writeErr = c.Forward(dst, n+headerLen); readErr != nil || writeErr != nil {
			return seq, empty, readErr, writeErr
		}
		if n < MaxChunk {
			return seq, empty, nil, nil
		}
	}
}

// WriteOK sends an OK packet.
func (c *Conn) WriteOK(seq byte, ok *OK, caps Caps) error {
	c.out = AppendOK(c.out[:0], seq, ok, caps)
	_, err := c.Write(c.out)
	return err
}

// WriteErr sends an ERR packet.
func (c *Conn) WriteErr(seq byte, e *Error) error {
	_, err := c.Write(AppendErr(nil, seq, e))
	return err
}

// WriteCommand sends a command whose payload is its byte and args, in as many
// packets as it takes.
func (c *Conn) WriteCommand(command byte, args ...[]byte) error {
	size := headerLen + 1
	for _, a := range args {
		size += len(a)
	}
	out := &c.out
	if size > smallBuffer {
		out = writeBuffers.Get().(*[]byte)
		defer keepWriteBuffer(out)
	}
	*out = append((*out)[:0], 0, 0, 0, 0, command)
	for _, a := range args {
		*out = append(*out, a...)
	}
	return c.writePackets(*out)
}

// writePackets sends a payload before which out has room for a header.
func (c *Conn) writePackets(out []byte) error {
	if len(out)-headerLen < MaxChunk {
		_, err := c.Write(closePacket(out, 0))
		return err
	}
	var seq byte
	for at := headerLen; ; seq++ {
		n := min(len(out)-at, MaxChunk)
		head := [headerLen]byte{byte(n), byte(n >> 8), byte(n >> 16), seq}
		bufs := net.Buffers{head[:], out[at : at+n]}
		if _, err := bufs.WriteTo(c.Conn); err != nil {
			return err
		}
		at += n
		if n < MaxChunk {
			return nil
		}
	}
}

// writeBuffers hold commands of sluice's own that an idle session should not own the
// memory of.
var writeBuffers = sync.Pool{New: func() any { return new([]byte) }}

func keepWriteBuffer(buf *[]byte) {
	if cap(*buf) <= 2*largeBuffer {
		writeBuffers.Put(buf)
	}
}
