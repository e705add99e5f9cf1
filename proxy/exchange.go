package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-db/sluice/backend/wire"
)

// exchange is the authentication of a login or of a COM_CHANGE_USER, relayed up to OK
// or ERR (MySQL Internals "Authentication Phase"). Each side has sequence ids of its own:
// an SSLRequest takes one, and so does each step that sluice does for one side only.
type exchange struct {
	x       *session
	client  party
	backend party
	plugin  string // in force
	secret  byte   // what asks for an RSA key, while the next answer is a password; else 0
}

// party is one side of an exchange.
type party struct {
	*wire.Conn
	seq   byte // of the next packet
	loose bool // its sequence ids mean nothing: inside of compressed packets nobody checks them
}

func (p *party) read() ([]byte, error) {
	payload, seq, err := p.ReadPacket(loginLimit)
	if err == nil {
		p.seq = seq + 1
	}
	return payload, err
}

// errOutOfOrder says that a client's packet had another sequence id than the next.
var errOutOfOrder = errors.New("packets out of order")

// take reads a client's packet, which must be the next one: some clients give up a login
// in the middle and go on to their first command. The client is told as servers do.
func (p *party) take() ([]byte, error) {
	want := p.seq
	payload, err := p.read()
	if got := p.seq - 1; err == nil && got != want && !p.loose {
		p.seq = want
		p.writeErr(1156, "08S01", "sluice: Got packets out of order")
		return nil, fmt.Errorf("%w: %d, not %d", errOutOfOrder, got, want)
	}
	return payload, err
}

func (p *party) write(payload []byte) error {
	_, err := p.Write(wire.AppendPacket(nil, p.seq, payload))
	p.seq++
	return err
}

func (p *party) writeErr(code uint16, state, text string) {
	_ = p.WriteErr(p.seq, &wire.Error{Code: code, State: state, Message: text})
	p.seq++
}

func (x *session) newExchange() *exchange {
	return &exchange{x: x, client: party{Conn: x.client}, backend: party{Conn: x.backend.Conn}}
}

// Plugins that send a password as it is, or what is as good as one.
const (
	clearPassword = "mysql_clear_password"
	dialog        = "dialog"
	openID        = "authentication_openid_connect_client"
)

// Plugins that send a password as it is over a link that they take for secure, and
// encrypted over another one. For sha256_password a socket is none.
const (
	cachingSHA2 = "caching_sha2_password"
	sha256      = "sha256_password"
)

func takesClear(p *party, plugin string) bool {
	if strings.EqualFold(plugin, sha256) {
		return p.Encrypted()
	}
	return p.Secure()
}

func isClear(plugin string) bool {
	for _, clear := range []string{clearPassword, dialog, openID} {
		if strings.EqualFold(plugin, clear) { // as MariaDB compares them
			return true
		}
	}
	return false
}

// secure says whether a password in the clear may go all the way.
func (a *exchange) secure() bool { return a.client.Secure() && a.backend.Secure() }

// passable says whether the server may have a client's first response as it is.
func (a *exchange) passable(plugin string, response []byte) bool {
	switch {
	case isClear(plugin):
		return a.secure()
	case strings.EqualFold(plugin, sha256):
		return takesClear(&a.client, plugin) == takesClear(&a.backend, plugin) || isEmpty(response)
	}
	return true
}

// isEmpty says whether a response is that of an empty password.
func isEmpty(response []byte) bool {
	return len(response) == 0 || len(response) == 1 && response[0] == 0
}

// run relays from the server's first answer on.
func (a *exchange) run() error {
	for {
		p, err := a.backend.read()
		if err != nil {
			return fmt.Errorf("authentication: %w", err)
		}
		if len(p) == 0 {
			return fmt.Errorf("authentication: empty packet from the server")
		}
		if err := a.look(p); err != nil {
			return err
		}
		if err := a.client.write(p); err != nil {
			a.end()
			return err
		}
		switch {
		case p[0] == wire.IsOK:
			return nil
		case p[0] == wire.IsErr:
			a.x.log.Debug().Err(wire.ParseErr(p)).Msg("denied by the server")
			return errDenied
		case a.plugin == cachingSHA2 && len(p) == 2 && p[0] == wire.IsMore && p[1] == sha2FastOK:
			continue // the server goes on by itself
		}
		if err := a.passAnswer(); err != nil {
			return err
		}
	}
}

// look notes what a packet of the server begins.
func (a *exchange) look(p []byte) error {
	x := a.x
	switch {
	case p[0] == wire.IsOK:
		ok, err := wire.ParseOK(p)
		if err != nil {
			return err
		}
		x.status = ok.Status
	case p[0] == wire.IsEOF && len(p) > 1,
		p[0] == wire.IsNextFactor && x.backend.Caps.Base&wire.ClientMultiFactor != 0:
		a.plugin = cString(p[1:])
		x.salt = bytes.TrimRight(p[min(len(p), len(a.plugin)+2):], "\x00")
		a.secret = 0
		if a.plugin == sha256 {
			a.secret = sha256PublicKey
		}
		if isClear(a.plugin) && !a.secure() {
			return a.refuseClear()
		}
	case a.plugin == cachingSHA2 && len(p) == 2 && p[0] == wire.IsMore && p[1] == sha2FullAuth:
		a.secret = sha2PublicKey
	}
	return nil
}

// refuseClear refuses an account whose password travels in the clear.
func (a *exchange) refuseClear() error {
	link := "the link from sluice to the server"
	mend := "write tls=true into sluice's --backend"
	if !a.client.Secure() {
		link, mend = "the link to sluice", "log in by TLS"
	}
	return a.refuse(fmt.Sprintf("the server wants the password in the clear (%s), and %s is not encrypted: %s", a.plugin, link, mend))
}

// refuse ends the exchange on both sides.
func (a *exchange) refuse(why string) error {
	a.x.log.Debug().Msg("login refused: " + why)
	a.client.writeErr(1045, "28000", "sluice: Access denied: "+why)
	a.end()
	return errRefused
}

// passAnswer forwards the client's next packet, or what stands for it.
func (a *exchange) passAnswer() error {
	p, err := a.client.take()
	if err != nil {
		a.end()
		return fmt.Errorf("authentication: client: %w", err)
	}
	if a.secret != 0 {
		return a.passSecret(p)
	}
	return a.backend.write(p)
}

// endHandshake completes the backend's handshake in place of a client that broke
// it off, by a login that is denied.
func (x *session) endHandshake(a *exchange) { x.backend.Deny(a.backend.seq, wire.DeniedLogin(x.greet)) }

// end does the same in the middle of an exchange.
func (a *exchange) end() { a.backend.DenyAnswer(a.backend.seq, a.plugin) }

func cString(p []byte) string {
	if end := bytes.IndexByte(p, 0); end >= 0 {
		p = p[:end]
	}
	return string(p)
}
