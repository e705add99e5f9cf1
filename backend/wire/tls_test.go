package wire

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// pipe is a connection over TCP.
func pipe(t *testing.T) (near, far *Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	b, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
	return NewConn(a), NewConn(b)
}

// TestStartTLS: a certificate that is not good is noticed when the handshake is over, so
// that the server has seen none break off.
func TestStartTLS(t *testing.T) {
	ours, other := servers.NewAuthority(t), servers.NewAuthority(t)
	verified := func(a *servers.Authority, name string) *TLS {
		return &TLS{Config: &tls.Config{RootCAs: a.Pool(), ServerName: name}, Verify: true}
	}
	good := servers.Certificate{}
	for _, c := range []struct {
		name string
		tls  *TLS
		has  servers.Certificate
		want string
	}{
		{"good", verified(ours, "localhost"), good, ""},
		{"good address", verified(ours, "127.0.0.1"), good, ""},
		{"another name", verified(ours, "db.example"), good, "certificate is valid for localhost, not db.example"},
		{"another CA", verified(other, "localhost"), good, "certificate signed by unknown authority"},
		{"system's CAs", &TLS{Config: &tls.Config{ServerName: "localhost"}, Verify: true}, good, "certificate"},
		{"expired", verified(ours, "localhost"), servers.Certificate{Expired: true}, "certificate has expired"},
		{"not verified", &TLS{Config: &tls.Config{}}, servers.Certificate{Expired: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			near, far := pipe(t)
			accepted := make(chan error, 1)
			go func() {
				p, _, err := far.ReadPacket(100)
				if err == nil && !IsSSLRequest(p) {
					err = ErrBadHandshake
				}
				if err == nil {
					err = far.AcceptTLS(&tls.Config{Certificates: []tls.Certificate{ours.Pair(t, "server", c.has)}})
				}
				if err == nil {
					p, _, err = far.ReadPacket(100)
				}
				if err == nil && string(p) != "login" {
					err = ErrBadHandshake
				}
				accepted <- err
			}()
			request := make([]byte, 40)
			request[0], request[1] = 0, 0x0a // CLIENT_PROTOCOL_41, CLIENT_SSL
			err := near.StartTLS(c.tls, SSLRequest(request))
			if c.want == "" {
				require.NoError(t, err)
			} else {
				var untrusted *tls.CertificateVerificationError
				require.ErrorAs(t, err, &untrusted)
				require.ErrorContains(t, err, c.want)
			}
			require.True(t, near.Secure())
			_, err = near.Write(AppendPacket(nil, 2, []byte("login")))
			require.NoError(t, err)
			require.NoError(t, <-accepted)
		})
	}
}

// TestShutdownIsOrderly: the other side of a link with TLS sees its end announced.
func TestShutdownIsOrderly(t *testing.T) {
	a := servers.NewAuthority(t)
	for name, end := range map[string]func(*Conn) error{"Shutdown": (*Conn).Shutdown, "CloseWrite": (*Conn).CloseWrite} {
		near, far := pipe(t)
		go func() {
			if _, _, err := far.ReadPacket(100); err == nil && far.AcceptTLS(&tls.Config{Certificates: []tls.Certificate{a.Pair(t, "server", servers.Certificate{})}}) == nil {
				_ = end(far)
			}
		}()
		require.NoError(t, near.StartTLS(&TLS{Config: &tls.Config{RootCAs: x509.NewCertPool()}}, SSLRequest(make([]byte, 32))))
		_, err := near.Peek(1)
		require.ErrorIs(t, err, io.EOF, name)
		require.NotErrorIs(t, err, io.ErrUnexpectedEOF, name)
	}
}

// TestWithheld: what is left out is the response alone.
func TestWithheld(t *testing.T) {
	const attributes = "\x04\x01a\x01b"
	login := make([]byte, 32)
	flags := ClientProtocol41 | ClientSecureConn | ClientPluginAuth | ClientAuthLenenc | ClientConnectWithDB | ClientConnectAttrs
	login[0], login[1], login[2], login[3] = byte(flags), byte(flags>>8), byte(flags>>16), byte(flags>>24)
	response := bytes.Repeat([]byte("secret"), 100)
	raw := append(append(bytes.Clone(login), "user\x00\xfc\x58\x02"...), response...)
	l, err := ParseLogin(append(raw, "db\x00sha256_password\x00"+attributes...))
	require.NoError(t, err)
	require.Equal(t, response, l.Response)
	again, err := ParseLogin(l.Withheld())
	require.NoError(t, err)
	require.Empty(t, again.Response)
	require.Equal(t, []string{"user", "db", noPlugin}, []string{again.User, again.Schema, again.Plugin})
	require.True(t, bytes.HasSuffix(l.Withheld(), []byte("\x00"+attributes)))

	command := "\x11user\x00\x07secret\x00db\x00\x2d\x00mysql_clear_password\x00" + attributes
	c := ParseChangeUser([]byte(command), Caps{Base: flags})
	require.Equal(t, []string{"user", "db", "mysql_clear_password", "secret\x00"}, []string{c.User, c.Schema, c.Plugin, string(c.Response)})
	require.Equal(t, "\x11user\x00\x00db\x00\x2d\x00"+noPlugin+"\x00"+attributes, string(c.Withheld()))
}

// FuzzChangeUser: whatever a client sends, nothing panics, and a response that is withheld
// is gone.
func FuzzChangeUser(f *testing.F) {
	f.Add([]byte("\x11user\x00\x06secretdb\x00\x2d\x00sha256_password\x00\x04\x01a\x01b"), uint32(ClientSecureConn|ClientPluginAuth))
	f.Add([]byte("\x11user\x00secret\x00db\x00"), uint32(0))
	f.Fuzz(func(t *testing.T, p []byte, flags uint32) {
		if len(p) == 0 {
			return
		}
		caps := Caps{Base: flags | ClientSecureConn}
		c := ParseChangeUser(bytes.Clone(p), caps)
		if again := ParseChangeUser(c.Withheld(), caps); len(again.Response) > 0 {
			t.Fatal("the response is still there")
		}
	})
}
