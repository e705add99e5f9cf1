package wire

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// inverse is a layer that inverts every byte.
type inverse struct{ net.Conn }

func (l inverse) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	for i := range p[:n] {
		p[i] = ^p[i]
	}
	return n, err
}

// TestWrapReadsAhead: bytes that came together with the packet after which a layer
// begins belong to the layer.
func TestWrapReadsAhead(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	c := NewConn(near)
	go func() {
		packet := AppendPacket(nil, 0, []byte("plain"))
		layered := AppendPacket(nil, 0, []byte("inverted"))
		for i := range layered {
			layered[i] = ^layered[i]
		}
		_, _ = far.Write(append(packet, layered...))
		_ = far.Close()
	}()
	p, _, err := c.ReadPacket(100)
	require.NoError(t, err)
	require.Equal(t, "plain", string(p))
	require.Positive(t, c.Buffered())
	c.Wrap(func(below net.Conn) net.Conn { return inverse{below} })
	p, _, err = c.ReadPacket(100)
	require.NoError(t, err)
	require.Equal(t, "inverted", string(p))
	_, _, err = c.ReadPacket(100)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, near, c.Socket())
}
