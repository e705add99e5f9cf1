package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
)

// TLS says how a link to a server is secured. A nil TLS leaves it plain.
type TLS struct {
	Config   *tls.Config // roots, own certificate, the server's name
	Verify   bool        // the server's certificate must be good for that name
	Optional bool        // a server that offers no TLS is spoken to in the clear
}

// ErrNoTLS says that a server does not offer the TLS that is asked of it.
var ErrNoTLS = errors.New("the server offers no TLS")

// Wanted says whether TLS is to follow a server's greeting.
func (t *TLS) Wanted(g *Greeting) (bool, error) {
	if t == nil || t.Optional && !g.TLS {
		return false, nil
	}
	if !g.TLS {
		return false, ErrNoTLS
	}
	return true, nil
}

// Verification checks the certificate of a server after the handshake and not in it:
// a handshake that the client ends counts against its host (max_connect_errors), a
// login that is denied does not.
func (t *TLS) verification(s tls.ConnectionState) error {
	if !t.Verify {
		return nil
	}
	if len(s.PeerCertificates) == 0 {
		return errors.New("the server has shown no certificate")
	}
	o := x509.VerifyOptions{Roots: t.Config.RootCAs, DNSName: t.Config.ServerName, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		o.Intermediates.AddCert(c)
	}
	if _, err := s.PeerCertificates[0].Verify(o); err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
	}
	return nil
}

// StartTLS is the client's step (MySQL Internals "SSLRequest"): request is the packet,
// with sequence id 1, after which TLS begins. A *tls.CertificateVerificationError leaves a
// working link to a server that is not to be trusted.
func (c *Conn) StartTLS(t *TLS, request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	config := t.Config.Clone()
	config.InsecureSkipVerify = true // #nosec G402: see verification
	if err := c.handshake(func(below net.Conn) *tls.Conn { return tls.Client(below, config) }); err != nil {
		return err
	}
	return t.verification(c.tls.ConnectionState())
}

// AcceptTLS is the server's step, after an SSLRequest has been read.
func (c *Conn) AcceptTLS(config *tls.Config) error {
	return c.handshake(func(below net.Conn) *tls.Conn { return tls.Server(below, config) })
}

func (c *Conn) handshake(side func(net.Conn) *tls.Conn) error {
	c.Wrap(func(below net.Conn) net.Conn {
		c.tls = side(below)
		return c.tls
	})
	return c.tls.Handshake()
}

// Encrypted says whether the link has TLS.
func (c *Conn) Encrypted() bool { return c.tls != nil }

// Secure says whether what is sent can be read or changed by nobody on the way: by TLS,
// or because both ends are on one machine. Passwords may be sent in the clear then.
func (c *Conn) Secure() bool {
	return c.Encrypted() || c.socket.LocalAddr().Network() == "unix"
}

// CloseWrite ends the sending direction; the peer's end of file is an orderly one.
func (c *Conn) CloseWrite() error {
	if c.tls != nil {
		_ = c.tls.CloseWrite()
	}
	if s, ok := c.socket.(interface{ CloseWrite() error }); ok {
		return s.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Shutdown closes all layers, so that the peer's end of file is an orderly one.
func (c *Conn) Shutdown() error { return c.Conn.Close() }
