package proxy

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/wire"
)

// tape is a connection whose peer has said everything already.
type tape struct {
	net.Conn
	in bytes.Reader
}

func play(b []byte) *tape {
	t := &tape{}
	t.in.Reset(b)
	return t
}

func (t *tape) Read(p []byte) (int, error)       { return t.in.Read(p) }
func (t *tape) Write(p []byte) (int, error)      { return len(p), nil }
func (t *tape) SetDeadline(time.Time) error      { return nil }
func (t *tape) SetReadDeadline(time.Time) error  { return nil }
func (t *tape) SetWriteDeadline(time.Time) error { return nil }
func (t *tape) LocalAddr() net.Addr              { return &net.TCPAddr{} }

// sequence frames payloads with sequence ids from first on, two apart.
func sequence(first byte, payloads ...string) (out []byte) {
	for i, p := range payloads {
		out = wire.AppendPacket(out, first+2*byte(i), []byte(p))
	}
	return out
}

func fuzzGreeting(plugin string) string {
	flags := wire.ClientMySQL | wire.ClientProtocol41 | wire.ClientSecureConn | wire.ClientPluginAuth | wire.ClientTransactions
	p := append([]byte{10}, "8.0.36\x00\x01\x00\x00\x0012345678\x00"...)
	p = binary.LittleEndian.AppendUint16(p, uint16(flags&0xffff))
	p = append(p, 45, 2, 0)
	p = binary.LittleEndian.AppendUint16(p, uint16(flags>>16))
	p = append(append(p, 21), make([]byte, 10)...)
	return string(p) + "123456789012\x00" + plugin + "\x00"
}

func fuzzLogin(plugin string, more uint32) string {
	flags := wire.ClientMySQL | wire.ClientProtocol41 | wire.ClientSecureConn | wire.ClientPluginAuth | more
	p := binary.LittleEndian.AppendUint32(nil, flags)
	p = append(p, 0, 0, 0, 1, 45)
	p = append(p, make([]byte, 23)...)
	return string(p) + "app\x00\x14" + string(make([]byte, 20)) + plugin + "\x00"
}

// FuzzLogIn: whatever a server and a client send in a login, and in a COM_CHANGE_USER after
// it, nothing panics and it comes to an end.
func FuzzLogIn(f *testing.F) {
	const ok, native = "\x00\x00\x00\x02\x00\x00\x00", "mysql_native_password"
	for _, plugin := range []string{native, cachingSHA2, sha256, clearPassword, dialog, "client_ed25519"} {
		greeting, login := fuzzGreeting(plugin), fuzzLogin(plugin, 0)
		change := append(sequence(0, "\x11app\x00\x00db\x00\x2d\x00"+plugin+"\x00"), sequence(2, "answer", "\x02")...)
		for _, answers := range [][]string{
			{ok},
			{"\xff\x15\x04#28000Access denied"},
			{"\xfe" + plugin + "\x0012345678901234567890\x00", ok},
			{"\xfe", ok},
			{"\x01\x03", ok},
			{"\x01\x04", "\x01-----BEGIN PUBLIC KEY-----", ok},
			{"\x02" + plugin + "\x00salt\x00", ok},
		} {
			server := append(sequence(0, greeting), sequence(2, answers...)...)
			server = append(server, sequence(1, answers...)...)
			client := append(sequence(1, login), sequence(3, "answer", "\x02", "password\x00")...)
			f.Add(server, append(client, change...), false)
		}
	}
	f.Add(sequence(0, fuzzGreeting(native), ok), sequence(1, fuzzLogin(native, wire.ClientSSL)[:32], "\x16\x03\x01"), true)
	f.Add(sequence(0, "\xff\x10\x04Too many connections"), []byte{}, false)
	offered := &tls.Config{Certificates: []tls.Certificate{ownPair(f)}}
	f.Fuzz(func(_ *testing.T, server, client []byte, isTLS bool) {
		s := &Server{log: zerolog.Nop(), opts: Options{
			LoginTimeout: func() time.Duration { return 0 }, ServiceUser: "sluice_svc", Compression: wire.Zlib | wire.Zstd | wire.Uncompressed,
		}}
		if isTLS {
			s.opts.TLS = offered
		}
		x := newSession(s, play(client), 0)
		x.backend = &wire.Session{Conn: wire.NewConn(play(server))}
		if x.logIn() != nil {
			return
		}
		if raw, whole, err := x.client.Packet(); err == nil && len(raw) > 4 && raw[4] == wire.ComChangeUser {
			_, _ = x.command(raw, whole)
		}
	})
}

func ownPair(tb testing.TB) tls.Certificate {
	tb.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(tb, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(tb, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}
