package fault

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// startFake starts a server that lets everybody in and answers each command with OK and,
// as affected rows, how many there were in the session: for crowds of clients, where a real
// server would be the limit.
func startFake(t *testing.T) *servers.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var sessions sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]struct{}{}
	sessions.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = struct{}{}
			mu.Unlock()
			sessions.Go(func() {
				answer(conn)
				_ = conn.Close()
				mu.Lock()
				delete(open, conn)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		sessions.Wait()
	})
	return &servers.Server{Addr: l.Addr().String()}
}

// frontFake starts sluice before a fake server, which has no service account.
func frontFake(t *testing.T, args ...string) *servers.Sluice {
	t.Helper()
	fake := startFake(t)
	return servers.StartSluice(t, fake, append([]string{"--backend", fake.Addr}, args...)...)
}

// answer is one session of a fake server.
func answer(conn net.Conn) {
	if _, err := conn.Write(fakeGreeting); err != nil {
		return
	}
	for n := byte(0); ; n = (n + 1) % 251 {
		seq, first, err := skipPacket(conn)
		if err != nil || first == rawclient.ComQuit && n > 0 {
			return
		}
		if _, err := conn.Write([]byte{7, 0, 0, seq + 1, 0, n, 0, 2, 0, 0, 0}); err != nil { // OK, autocommit
			return
		}
	}
}

// fakeGreeting is HandshakeV10 with the flags of a server of 2010 and plug-ins.
var fakeGreeting = func() []byte {
	const flags = 0x0008_a2bf &^ 0x20 // all but compression, up to plug-ins
	p := append([]byte{0, 0, 0, 0, 10}, "8.0.0-fake\x00\x01\x00\x00\x00abcdefgh\x00"...)
	p = binary.LittleEndian.AppendUint16(p, flags&0xffff)
	p = append(p, 45, 2, 0)
	p = binary.LittleEndian.AppendUint16(p, flags>>16)
	p = append(append(p, 21), make([]byte, 10)...)
	p = append(p, "abcdefghijkl\x00mysql_native_password\x00"...)
	p[0] = byte(len(p) - 4)
	return p
}()

// skipPacket reads a packet, which is not empty, and keeps its sequence id and its first
// byte.
func skipPacket(conn net.Conn) (seq, first byte, err error) {
	var head [5]byte
	if _, err = io.ReadFull(conn, head[:]); err != nil {
		return 0, 0, err
	}
	rest := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
	_, err = io.CopyN(io.Discard, conn, rest-1)
	return head[3], head[4], err
}
