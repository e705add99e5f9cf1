package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pair connects two sockets of a kind.
func pair(t *testing.T, network string) (a, b net.Conn) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, address)
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	a, err = net.Dial(network, l.Addr().String())
	require.NoError(t, err)
	b, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return newSocket(a), newSocket(b)
}

// TestSocket: a socket behaves as the connection that it wraps: bytes in both
// directions at once, larger than any buffer, end, deadline, close, broken pipe.
func TestSocket(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			a, b := pair(t, network)
			require.IsType(t, &socket{}, a)
			sent := bytes.Repeat([]byte("sluice"), 2<<20)
			done := make(chan error, 2)
			for _, c := range []net.Conn{a, b} {
				go func() { _, err := c.Write(sent); done <- err }()
			}
			for _, c := range []net.Conn{a, b} {
				got := make([]byte, len(sent))
				_, err := io.ReadFull(c, got)
				require.NoError(t, err)
				require.True(t, bytes.Equal(sent, got))
			}
			require.NoError(t, <-done)
			require.NoError(t, <-done)

			require.NoError(t, a.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
			_, err := a.Read(make([]byte, 1))
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			require.NoError(t, a.SetReadDeadline(time.Time{}))

			require.NoError(t, b.(*socket).CloseWrite())
			_, err = a.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)

			require.NoError(t, b.Close())
			require.Eventually(t, func() bool {
				_, err := a.Write([]byte("x"))
				return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
			}, 5*time.Second, time.Millisecond)
			require.NoError(t, a.Close())
			_, err = a.Read(make([]byte, 1))
			require.ErrorIs(t, err, net.ErrClosed)
		})
	}
}

// TestSocketAllocates nothing in the steady state.
func TestSocketAllocates(t *testing.T) {
	a, b := pair(t, "tcp")
	buf := make([]byte, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := a.Write(buf[:32]); err != nil {
			t.Error(err)
		}
		if _, err := b.Read(buf); err != nil {
			t.Error(err)
		}
	}))
}
