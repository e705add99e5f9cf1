package logins

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// tap forwards one connection to a server and looks at its first packets.
type tap struct {
	addr string

	listener net.Listener
	done     chan struct{}
	upward   recorder
	downward recorder
}

// kept is how much a tap keeps of each direction: a login.
const kept = 8 << 10

// newTap listens; before is called when the client has connected, if it is not nil.
func newTap(t *testing.T, server string, before func()) *tap {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{addr: listener.Addr().String(), listener: listener, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		client, err := listener.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		if before != nil {
			before()
		}
		up, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer up.Close()
		var both sync.WaitGroup
		both.Go(func() { forward(up, io.TeeReader(client, &p.upward)) })
		both.Go(func() { forward(client, io.TeeReader(up, &p.downward)) })
		both.Wait()
	}()
	return p
}

// forward copies to the end and passes the end on.
func forward(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from)
	_ = to.(*net.TCPConn).CloseWrite()
}

// recorder keeps the beginning of what is written to it.
type recorder struct{ bytes.Buffer }

func (r *recorder) Write(p []byte) (int, error) {
	_, _ = r.Buffer.Write(p[:min(len(p), kept-r.Len())])
	return len(p), nil
}

// link is what a tap has seen.
type link struct {
	connected  bool
	thread     uint32 // of the greeting
	encrypted  bool
	compressed bool // as far as it can be seen: not by TLS
	full       bool // caching_sha2_password asked for the password itself, as far as it can be seen
}

// end waits until the connection is closed on both sides and tells what was seen.
func (p *tap) end() link {
	_ = p.listener.Close()
	<-p.done
	greeting, login := p.downward.Bytes(), p.upward.Bytes()
	const header = 4
	var l link
	if len(greeting) < header+2 || greeting[header] != 10 {
		return l
	}
	l.connected = true
	if version := bytes.IndexByte(greeting[header+1:], 0); version >= 0 && len(greeting) >= header+version+6 {
		l.thread = binary.LittleEndian.Uint32(greeting[header+version+2:])
	}
	if len(login) < header+4 {
		return l
	}
	const compress, tls, zstd = 1 << 5, 1 << 11, 1 << 26
	caps := binary.LittleEndian.Uint32(login[header:])
	const request = header + 32 // the length of an SSLRequest
	l.encrypted = caps&tls != 0 && len(login) > request && login[request] == 0x16
	l.compressed = caps&(compress|zstd) != 0
	for seq := byte(2); seq < 8; seq++ {
		l.full = l.full || bytes.Contains(greeting, []byte{2, 0, 0, seq, 1, 4})
	}
	return l
}
