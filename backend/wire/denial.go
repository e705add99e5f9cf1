package wire

import (
	"encoding/binary"
	"slices"
	"time"
)

// A server counts a handshake that is not completed against the client's host
// (max_connect_errors) and in the end locks the host out. sluice stands for many clients
// there: where one breaks off, or may not go on, it completes the handshake by a login that
// is denied.

// nobody is a name that no account has.
const nobody = "sluice-broken-handshake\x00"

// DeniedLogin is the payload of a login that any server refuses.
func DeniedLogin(g *Greeting) []byte {
	p := make([]byte, requestLen, 3*requestLen)
	binary.LittleEndian.PutUint32(p, (ClientProtocol41|ClientSecureConn|ClientPluginAuth|ClientMySQL)&(g.Base|ClientMySQL))
	binary.LittleEndian.PutUint32(p[4:], MaxChunk)
	p[8] = g.Charset
	p = append(append(p, nobody...), 0)
	return append(append(p, g.Plugin...), 0)
}

// Denied is the same with the flags of l: after an SSLRequest, which has told them already,
// a server reads a login by them.
func (l *Login) Denied(g *Greeting) []byte {
	p := append(append(slices.Clone(l.raw[:requestLen]), nobody...), 0)
	if l.Base&ClientConnectWithDB != 0 {
		p = append(p, 0)
	}
	if l.Base&ClientPluginAuth != 0 {
		p = append(append(p, g.Plugin...), 0)
	}
	if l.Base&ClientConnectAttrs != 0 {
		p = append(p, 0)
	}
	return p
}

// Limits of a denial.
const (
	denialTime   = 5 * time.Second
	denialTries  = 8
	denialPacket = 1 << 20
)

// Deny sends a login that is denied and waits for the server's word.
func (c *Conn) Deny(seq byte, login []byte) {
	_ = c.SetDeadline(time.Now().Add(denialTime))
	if _, err := c.Write(AppendPacket(nil, seq, login)); err == nil {
		c.awaitDenial("")
	}
}

// DenyAnswer does the same in the middle of an exchange, in place of the answer that a
// plugin waits for.
func (c *Conn) DenyAnswer(seq byte, plugin string) {
	_ = c.SetDeadline(time.Now().Add(denialTime))
	if _, err := c.Write(AppendPacket(nil, seq, wrongAnswer(plugin))); err == nil {
		c.awaitDenial(plugin)
	}
}

func (c *Conn) awaitDenial(plugin string) {
	for range denialTries {
		p, seq, err := c.ReadPacket(denialPacket)
		if err != nil || len(p) == 0 || p[0] == IsErr || p[0] == IsOK {
			return
		}
		if p[0] == IsEOF && len(p) > 1 {
			f := fields{raw: p, at: 1}
			plugin = f.text()
		}
		if _, err := c.Write(AppendPacket(nil, seq+1, wrongAnswer(plugin))); err != nil {
			return
		}
	}
}

// wrongAnswer has the length of a right one, where a server takes another length for a
// broken handshake.
func wrongAnswer(plugin string) []byte {
	switch plugin {
	case "mysql_native_password":
		return make([]byte, 20)
	case "client_ed25519":
		return make([]byte, 64)
	}
	return []byte{0}
}
