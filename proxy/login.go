package proxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-db/sluice/backend/wire"
)

// loginLimit bounds the packets of a login: attributes and long passwords fit.
const loginLimit = 256 << 10

// errDenied says that the server refused a login. The client has been told.
var errDenied = errors.New("login denied")

// errRefused says that sluice refused a login. The client has been told.
var errRefused = errors.New("login refused")

// logIn relays the handshake (MySQL Internals "Connection Phase"). sluice stores
// no password and checks none: the server does.
func (x *session) logIn() error {
	if t := x.server.opts.LoginTimeout(); t > 0 {
		deadline := time.Now().Add(t)
		_ = x.client.SetDeadline(deadline)
		_ = x.backend.SetDeadline(deadline)
	}
	a := x.newExchange()
	if err := x.greeting(a); err != nil {
		return err
	}
	if err := x.answerGreeting(a); err != nil {
		return err
	}
	a.plugin = x.login.Plugin
	if err := a.run(); err != nil {
		return err
	}
	if x.compression.Algorithm != wire.Uncompressed {
		x.client.Wrap(wire.Compress(x.compression))
	}
	_ = x.backend.SetDeadline(time.Time{})
	return x.client.SetDeadline(time.Time{})
}

// greeting takes the server's first packet and passes it on, masked.
func (x *session) greeting(a *exchange) error {
	p, err := a.backend.read()
	if err != nil {
		x.refuse(notReached, "HY000", fmt.Sprintf("sluice: Lost connection to MySQL server at '%s' (no greeting)", x.server.opts.Backend))
		return fmt.Errorf("greeting: %w", err)
	}
	g, err := wire.ParseGreeting(p)
	var refused *wire.Error
	switch {
	case errors.As(err, &refused): // too many connections, host blocked: the server's own words
		if a.client.write(p) == nil {
			x.linger()
		}
		return err
	case err != nil:
		x.refuse(1043, "08S01", "sluice: "+err.Error())
		return fmt.Errorf("greeting: %w", err)
	}
	x.greet, x.salt = g, g.Salt
	if _, err := x.server.opts.BackendTLS.Wanted(g); err != nil {
		x.refuse(notReached, "HY000", fmt.Sprintf("sluice: Can't connect to MySQL server on '%s' (%s, and tls in sluice's --backend asks for it)", x.server.opts.Backend, err))
		x.endHandshake(a)
		return err
	}
	if err := a.client.write(g.Mask(x.server.opts.TLS != nil, x.server.opts.Compression)); err != nil {
		x.endHandshake(a)
		return err
	}
	return nil
}

// answerGreeting takes the client's login, by TLS if the client asks for it, and passes
// it on, masked, by TLS if the configuration asks for it.
func (x *session) answerGreeting(a *exchange) error {
	p, err := x.clientLogin(a)
	if err == nil {
		x.login, err = wire.ParseLogin(p)
	}
	if err != nil {
		if errors.Is(err, wire.ErrBadHandshake) || errors.Is(err, wire.ErrTooLarge) {
			a.client.writeErr(1043, "08S01", "sluice: Bad handshake")
		}
		x.endHandshake(a)
		return err
	}
	if x.server.opts.RequireTLS && !x.client.Secure() {
		a.client.writeErr(3159, "HY000", "sluice: Connections using insecure transport are prohibited (tls.mode: require): log in by TLS")
		x.endHandshake(a)
		return errRefused
	}
	var refused *wire.Error
	if x.compression, refused = x.login.Compression(x.server.opts.Compression); refused != nil {
		a.client.writeErr(refused.Code, refused.State, "sluice: "+refused.Message+": see protocol_compression_algorithms")
		x.endHandshake(a)
		return errRefused
	}
	if x.isServiceUser(x.login.User) {
		x.denyServiceUser(a.client.seq)
		x.endHandshake(a)
		return errRefused
	}
	secured, err := x.server.opts.BackendTLS.Wanted(x.greet)
	if err != nil {
		return err
	}
	login := x.login.Mask(x.greet, secured)
	x.backend.Caps = wire.Caps{Base: x.login.Base & x.greet.Base, Maria: x.login.Maria & x.greet.Maria}
	if x.login.Base&wire.ClientMySQL != 0 {
		x.backend.Caps.Maria = 0
	}
	if secured {
		if err := x.secureBackend(a, login); err != nil {
			return err
		}
	}
	if !a.passable(x.login.Plugin, x.login.Response) {
		login = x.login.Withheld()
	}
	return a.backend.write(login)
}

// clientLogin reads the packets of the client up to its login.
func (x *session) clientLogin(a *exchange) ([]byte, error) {
	p, err := a.client.take()
	if err != nil || x.server.opts.TLS == nil || !wire.IsSSLRequest(p) {
		return p, err
	}
	if err := x.client.AcceptTLS(x.server.opts.TLS); err != nil {
		return nil, fmt.Errorf("TLS with the client: %w", err)
	}
	return a.client.take()
}

// secureBackend begins TLS with the server, before the login that is given.
func (x *session) secureBackend(a *exchange, login []byte) error {
	err := x.backend.StartTLS(x.server.opts.BackendTLS, wire.SSLRequest(login))
	a.backend.seq++
	if err == nil {
		return nil
	}
	x.log.Warn().Err(err).Msg("TLS with the backend")
	a.client.writeErr(notReached, "HY000", fmt.Sprintf("sluice: Can't connect to MySQL server on '%s' (TLS: %s)", x.server.opts.Backend, err))
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		x.backend.Deny(a.backend.seq, x.login.Denied(x.greet))
	}
	x.linger()
	return fmt.Errorf("TLS with the backend: %w", err)
}

// isServiceUser says whether the server could take a name for the service account. It
// takes off a pair of quotes, clips what is too long (32 characters on MySQL), and
// converts from the client's character set, in some of which other bytes stand for the
// same ASCII characters.
func (x *session) isServiceUser(user string) bool {
	const clipped = 32
	name := x.server.opts.ServiceUser
	if name == "" {
		return false
	}
	if n := len(user); n > 1 && user[0] == '\'' && user[n-1] == '\'' {
		user = user[1 : n-1]
	}
	if len(name) >= clipped && len(user) > len(name) {
		user = user[:len(name)]
	}
	if len(user) != len(name) {
		return false
	}
	for i := range len(name) {
		if user[i] != name[i] && user[i] < 0x80 {
			return false
		}
	}
	return true
}

func (x *session) denyServiceUser(seq byte) {
	_ = x.client.WriteErr(seq, &wire.Error{Code: 1045, State: "28000",
		Message: "sluice: Access denied: sluice's service account cannot be used through sluice"})
	x.linger()
}
