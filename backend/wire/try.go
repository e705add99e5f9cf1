package wire

import (
	"errors"
	"syscall"
)

// ErrAgain says that nothing can be read, or written, without waiting.
var ErrAgain = errors.New("not without waiting")

// Plain says that nothing stands between the framing and a socket: the Try methods work.
func (c *Conn) Plain() bool {
	_, ok := c.Conn.(*socket)
	return ok
}

// TryFill reads once into the buffer what is there already; ErrAgain if there is nothing.
func (c *Conn) TryFill() error {
	if c.r == c.w {
		c.r, c.w = 0, 0
	}
	if c.w == len(c.buf) {
		return nil
	}
	n, err := c.Conn.(*socket).tryRead(c.buf[c.w:])
	c.w += n
	return err
}

// TryWrite writes what the socket takes without waiting, which may be nothing.
func (c *Conn) TryWrite(p []byte) (int, error) {
	n, err := c.Conn.(*socket).tryWrite(p)
	if errors.Is(err, ErrAgain) {
		err = nil
	}
	return n, err
}

// Enlarged says that the buffer is a borrowed large one.
func (c *Conn) Enlarged() bool { return c.large != nil }

// Full says that the buffer holds no more: it is not known whether there is more to read.
func (c *Conn) Full() bool { return c.w == len(c.buf) }

// OnlyPacket returns the packet in the buffer, header included, if it is whole and all
// that was read. It is not consumed.
func (c *Conn) OnlyPacket() (raw []byte, ok bool) {
	raw = c.buf[c.r:c.w]
	if len(raw) < headerLen || c.Full() || chunkLen(raw)+headerLen != len(raw) {
		return nil, false
	}
	return raw, true
}

// Follow feeds the packets in the buffer to r. n is the length of the reply, 0 if its end
// has not been read yet; only says that nothing was read beyond it. Nothing is consumed.
func (c *Conn) Follow(r *Reply) (n int, only bool) {
	for pos := c.r; c.w-pos >= headerLen; {
		end := pos + headerLen + chunkLen(c.buf[pos:])
		if end > c.w {
			break
		}
		payload := c.buf[pos+headerLen : end]
		done := r.Feed(len(payload), payload[:min(len(payload), prefixLen)])
		pos = end
		switch {
		case r.Infile || r.Unknown:
			return 0, false
		case done:
			return pos - c.r, pos == c.w
		}
	}
	return 0, false
}

// tryRead reads once, without waiting.
func (s *socket) tryRead(p []byte) (int, error) {
	s.in.once = true
	n, err := s.Read(p)
	s.in.once = false
	return n, again(err)
}

// tryWrite writes once, without waiting.
func (s *socket) tryWrite(p []byte) (int, error) {
	s.out.once = true
	n, err := s.out.run("write", s.raw.Write, p)
	s.out.once = false
	return n, again(err)
}

func again(err error) error {
	if errors.Is(err, syscall.EAGAIN) {
		return ErrAgain
	}
	return err
}
