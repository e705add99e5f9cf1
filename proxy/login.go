package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-db/sluice/backend/wire"
)

// loginLimit bounds the packets of a login: attributes and long passwords fit.
const loginLimit = 1 << 20

// errDenied says that the server, or sluice, refused a login. The client has been told.
var errDenied = errors.New("login denied")

// logIn relays the handshake (MySQL Internals "Connection Phase"). sluice stores
// no password and checks none: the server does.
func (x *session) logIn() error {
	if t := x.server.opts.LoginTimeout; t > 0 {
		deadline := time.Now().Add(t)
		_ = x.client.SetDeadline(deadline)
		_ = x.backend.SetDeadline(deadline)
	}
	if err := x.greeting(); err != nil {
		return err
	}
	if err := x.answerGreeting(); err != nil {
		return err
	}
	if err := x.authenticate(x.login.Plugin); err != nil {
		return err
	}
	_ = x.backend.SetDeadline(time.Time{})
	return x.client.SetDeadline(time.Time{})
}

// greeting takes the server's first packet and passes it on, masked.
func (x *session) greeting() error {
	p, _, err := x.backend.ReadPacket(loginLimit)
	if err != nil {
		x.refuse(notReached, "HY000", fmt.Sprintf("sluice: Lost connection to MySQL server at '%s' (no greeting)", x.server.opts.Backend))
		return fmt.Errorf("greeting: %w", err)
	}
	g, err := wire.ParseGreeting(p)
	var refused *wire.Error
	switch {
	case errors.As(err, &refused): // too many connections, host blocked: the server's own words
		if _, err := x.client.Write(wire.AppendPacket(nil, 0, p)); err == nil {
			x.linger()
		}
		return err
	case err != nil:
		x.refuse(1043, "08S01", "sluice: "+err.Error())
		return fmt.Errorf("greeting: %w", err)
	}
	x.greet, x.salt = g, g.Salt
	if _, err := x.client.Write(wire.AppendPacket(nil, 0, g.Mask())); err != nil {
		x.endHandshake()
		return err
	}
	return nil
}

// answerGreeting takes the client's login and passes it on, masked.
func (x *session) answerGreeting() error {
	p, seq, err := x.client.ReadPacket(loginLimit)
	if err == nil && seq != 1 {
		err = fmt.Errorf("%w: sequence id %d", wire.ErrBadHandshake, seq)
	}
	if err == nil {
		x.login, err = wire.ParseLogin(p)
	}
	if err != nil {
		if errors.Is(err, wire.ErrBadHandshake) || errors.Is(err, wire.ErrTooLarge) {
			_ = x.client.WriteErr(seq+1, &wire.Error{Code: 1043, State: "08S01", Message: "sluice: Bad handshake"})
		}
		x.endHandshake()
		return err
	}
	if x.isServiceUser(x.login.User) {
		x.denyServiceUser(seq + 1)
		x.endHandshake()
		return errDenied
	}
	login := x.login.Mask(x.greet)
	x.backend.Caps = wire.Caps{Base: x.login.Base & x.greet.Base, Maria: x.login.Maria & x.greet.Maria}
	if x.login.Base&wire.ClientMySQL != 0 {
		x.backend.Caps.Maria = 0
	}
	_, err = x.backend.Write(wire.AppendPacket(nil, 1, login))
	return err
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

// authenticate relays the exchange up to OK or ERR, for a login and for
// COM_CHANGE_USER alike.
func (x *session) authenticate(plugin string) error {
	for {
		p, seq, err := x.backend.ReadPacket(loginLimit)
		if err != nil {
			return fmt.Errorf("authentication: %w", err)
		}
		if len(p) == 0 {
			return fmt.Errorf("authentication: empty packet from the server")
		}
		if p[0] == wire.IsEOF && len(p) > 1 {
			plugin = cString(p[1:])
			x.salt = bytes.TrimRight(p[min(len(p), len(plugin)+2):], "\x00")
		}
		if p[0] == wire.IsMore && len(p) == 2 && p[1] == sha2FullAuth && plugin == "caching_sha2_password" {
			if over, err := x.sha2Full(p, seq); over || err != nil {
				return err
			}
			continue
		}
		if p[0] == wire.IsOK {
			ok, err := wire.ParseOK(p)
			if err != nil {
				return err
			}
			x.status = ok.Status
		}
		if _, err := x.client.Write(wire.AppendPacket(nil, seq, p)); err != nil {
			x.endAuthentication(seq + 1)
			return err
		}
		switch {
		case p[0] == wire.IsOK:
			return nil
		case p[0] == wire.IsErr:
			x.log.Debug().Err(wire.ParseErr(p)).Msg("denied by the server")
			return errDenied
		case p[0] == wire.IsMore && len(p) == 2 && p[1] == sha2FastOK:
			continue // the server goes on by itself
		}
		if err := x.passAnswer(seq + 1); err != nil {
			return err
		}
	}
}

// passAnswer forwards the client's next packet of the exchange.
func (x *session) passAnswer(seq byte) error {
	p, got, err := x.client.ReadPacket(loginLimit)
	if err != nil {
		x.endAuthentication(seq)
		return fmt.Errorf("authentication: client: %w", err)
	}
	_, err = x.backend.Write(wire.AppendPacket(nil, got, p))
	return err
}

// endHandshake completes the backend's handshake in place of a client that broke
// it off, by a login that is denied: the server would count an unfinished one
// against sluice's host (max_connect_errors) and in the end lock everyone out.
func (x *session) endHandshake() {
	if _, err := x.backend.Write(wire.AppendPacket(nil, 1, wire.DeniedLogin(x.greet))); err != nil {
		return
	}
	x.awaitDenial()
}

// endAuthentication does the same in the middle of an exchange.
func (x *session) endAuthentication(seq byte) {
	if _, err := x.backend.Write(wire.AppendPacket(nil, seq, []byte{0})); err != nil {
		return
	}
	x.awaitDenial()
}

func (x *session) awaitDenial() {
	const tries = 4
	_ = x.backend.SetDeadline(time.Now().Add(5 * time.Second))
	for range tries {
		p, seq, err := x.backend.ReadPacket(loginLimit)
		if err != nil || len(p) == 0 || p[0] == wire.IsErr || p[0] == wire.IsOK {
			return
		}
		if _, err := x.backend.Write(wire.AppendPacket(nil, seq+1, []byte{0})); err != nil {
			return
		}
	}
}

func cString(p []byte) string {
	for i, b := range p {
		if b == 0 {
			return string(p[:i])
		}
	}
	return string(p)
}
