package wire

import (
	"net"
	"time"
)

// Wrap puts a layer between the framing and the connection: TLS after a login's
// first packet, compression after its last. What has been read ahead and not
// consumed is what the layer reads first.
func (c *Conn) Wrap(layer func(net.Conn) net.Conn) {
	below := c.Conn
	if c.w > c.r {
		below = &ahead{Conn: below, rest: append([]byte(nil), c.buf[c.r:c.w]...)}
		c.r, c.w = 0, 0
	}
	c.Conn = layer(below)
}

// Socket is the connection below all layers. It stays the same when layers are added, so
// that it may be used from other goroutines.
func (c *Conn) Socket() net.Conn { return c.socket }

// Close closes the socket, without a word to the peer from the layers above it.
func (c *Conn) Close() error { return c.socket.Close() }

// SetDeadline bounds reads and writes of the socket, and so of all layers.
func (c *Conn) SetDeadline(t time.Time) error { return c.socket.SetDeadline(t) }

// SetReadDeadline bounds reads.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.socket.SetReadDeadline(t) }

// SetWriteDeadline bounds writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.socket.SetWriteDeadline(t) }

// ahead gives what was read before the layer above was there, and then the connection.
type ahead struct {
	net.Conn
	rest []byte
}

// Read reads once.
func (a *ahead) Read(p []byte) (int, error) {
	if len(a.rest) > 0 {
		n := copy(p, a.rest)
		a.rest = a.rest[n:]
		return n, nil
	}
	return a.Conn.Read(p)
}
