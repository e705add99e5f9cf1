package stage_test

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/demo/stage"
)

// echo listens and sends back what it reads until the client has no more.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.Copy(conn, conn)
	}()
	t.Cleanup(func() {
		listener.Close()
		<-ended
	})
	return listener.Addr().String()
}

func TestRelayDelaysAndKeepsEveryByte(t *testing.T) {
	relay, err := stage.StartRelay(echo(t), 20*time.Millisecond)
	require.NoError(t, err)
	defer func() { require.NoError(t, relay.Close()) }()
	conn, err := net.Dial("tcp4", relay.Addr())
	require.NoError(t, err)
	defer conn.Close()

	start := time.Now()
	_, err = conn.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(conn, make([]byte, 1))
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(start), 40*time.Millisecond)

	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<17)
	written := make(chan error, 1)
	go func() {
		_, err := conn.Write(sent)
		if err == nil {
			err = conn.(*net.TCPConn).CloseWrite()
		}
		written <- err
	}()
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.NoError(t, <-written)
	require.True(t, bytes.Equal(sent, got))
}

func TestRelayCloseCutsConnections(t *testing.T) {
	relay, err := stage.StartRelay(echo(t), time.Millisecond)
	require.NoError(t, err)
	conn, err := net.Dial("tcp4", relay.Addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(conn, make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, relay.Close())
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err)
}
