package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/sluice-db/sluice/backend/wire"
)

// link is what go-mysql's login sees of a connection to the server: a plain one, packet by
// packet, with TLS begun between greeting and login if that is asked for. So a server that
// offers none, or shows a certificate that is not good, gets a login that it denies in
// place of a handshake that is broken off, which it would count against sluice's host.
type link struct {
	net.Conn // the socket
	wire     *wire.Conn
	tls      *wire.TLS
	greeting *wire.Greeting
	secured  bool // by TLS, from the login on
	shift    byte // what the SSLRequest has added to sequence ids
	rest     []byte
	failed   error // of TLS; go-mysql turns it into words
}

// packetLimit bounds the packets of a login.
const packetLimit = 1 << 20

// ErrTLS says that the server's TLS is not what the configuration asks for.
var ErrTLS = errors.New("TLS to the server")

// dialLink connects and reads the server's greeting.
func dialLink(ctx context.Context, a Account) (*link, error) {
	d := &net.Dialer{Timeout: a.Timeout}
	socket, err := d.DialContext(ctx, a.Network, a.Addr)
	if err != nil {
		return nil, err
	}
	if a.Timeout > 0 {
		// Until prepare is through: a server that stands still must not hold up the end.
		_ = socket.SetDeadline(time.Now().Add(4 * a.Timeout))
	}
	l, err := openLink(socket, a.TLS)
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	return l, nil
}

// openLink reads the server's greeting.
func openLink(c net.Conn, t *wire.TLS) (*link, error) {
	l := &link{Conn: c, wire: wire.NewConn(c), tls: t}
	payload, seq, err := l.wire.ReadPacket(packetLimit)
	if err != nil {
		return nil, fmt.Errorf("no greeting of a MySQL server came: %w", err)
	}
	l.rest = wire.AppendPacket(nil, seq, payload)
	if l.greeting, err = wire.ParseGreeting(payload); err != nil {
		return nil, err
	}
	if l.secured, err = t.Wanted(l.greeting); err != nil {
		return nil, l.deny(wire.DeniedLogin(l.greeting), err)
	}
	return l, nil
}

// secure says whether a password may be sent as it is.
func (l *link) secure() bool { return l.secured || l.wire.Secure() }

// Read gives the packets of the server.
func (l *link) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		payload, seq, err := l.wire.ReadPacket(packetLimit)
		if err != nil {
			return 0, err
		}
		l.rest = wire.AppendPacket(nil, seq-l.shift, payload)
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Write takes one packet, header included. The first one is the login.
func (l *link) Write(p []byte) (int, error) {
	const header = 4
	out := append([]byte(nil), p...)
	if err := l.secureFor(out[header:]); err != nil {
		return 0, err
	}
	out[header-1] += l.shift
	if _, err := l.wire.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// secureFor begins TLS, if it is wanted and not there, before the login with this payload.
func (l *link) secureFor(payload []byte) error {
	if !l.secured || l.shift > 0 {
		return nil
	}
	login, err := wire.ParseLogin(payload)
	if err != nil {
		return err
	}
	err = l.wire.StartTLS(l.tls, wire.SSLRequest(login.Mask(l.greeting, true)))
	l.shift = 1
	if err != nil {
		l.failed = l.deny(login.Denied(l.greeting), err)
	}
	return l.failed
}

// leave ends the server's handshake without an account, by TLS and a login that is denied.
func (l *link) leave() error {
	login := wire.DeniedLogin(l.greeting)
	if err := l.secureFor(login); err != nil {
		return err
	}
	l.wire.Deny(1+l.shift, login)
	return nil
}

// deny ends the server's handshake by a login that is denied, and returns the reason.
func (l *link) deny(login []byte, why error) error {
	l.wire.Deny(1+l.shift, login)
	return fmt.Errorf("%w: %w", ErrTLS, why)
}
