package rawclient

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Authentication plug-ins.
const (
	NativePassword = "mysql_native_password"
	CachingSHA2    = "caching_sha2_password"
	SHA256         = "sha256_password"
	Ed25519        = "client_ed25519"
	ClearPassword  = "mysql_clear_password"
	Dialog         = "dialog"
)

// Requests for the server's RSA key.
const (
	cachingKeyRequest = 2
	sha256KeyRequest  = 1
)

// startTLS sends the SSLRequest and begins TLS.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_ssl_request.html
func (c *Client) startTLS(o Options) error {
	c.Caps |= SSL
	if err := c.write(c.response(o)[:32]); err != nil {
		return err
	}
	layer := tls.Client(c.conn, o.TLS)
	if err := layer.Handshake(); err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	c.secure = true
	c.conn, c.reader = layer, bufio.NewReaderSize(layer, 64<<10)
	return nil
}

// UsePlugin sets the plug-in that ChangeUser begins with.
func (c *Client) UsePlugin(name string) { c.plugin = name }

// firstAnswer is what a plug-in sends first.
func (c *Client) firstAnswer() []byte {
	switch c.plugin {
	case SHA256:
		switch {
		case c.password == "":
			return []byte{0}
		case c.Caps&SSL == 0: // a socket is not enough
			return []byte{sha256KeyRequest}
		}
		return append([]byte(c.password), 0)
	case ClearPassword, Dialog:
		return append([]byte(c.password), 0)
	case Ed25519:
		answer, err := mysql.CalcEd25519Password(c.nonce, c.password)
		if err != nil { // the nonce of a greeting is another plug-in's
			return nil
		}
		return answer
	}
	return scramble(c.plugin, c.password, c.nonce)
}

// scramble answers the nonce for the password.
func scramble(plugin, password string, nonce []byte) []byte {
	if password == "" {
		return nil
	}
	switch plugin {
	case NativePassword:
		stage1 := sha1.Sum([]byte(password))
		stage2 := sha1.Sum(stage1[:])
		mix := sha1.Sum(append(slices.Clone(nonce), stage2[:]...))
		return xor(mix[:], stage1[:])
	case CachingSHA2:
		stage1 := sha256.Sum256([]byte(password))
		stage2 := sha256.Sum256(stage1[:])
		mix := sha256.Sum256(append(stage2[:], nonce...))
		return xor(stage1[:], mix[:])
	default:
		return []byte("no such plug-in here")
	}
}

func xor(a, b []byte) []byte {
	out := make([]byte, len(a))
	for i := range a {
		out[i] = a[i] ^ b[i%len(b)]
	}
	return out
}

// finishAuth goes through auth switches and extra data to the OK or ERR.
func (c *Client) finishAuth(log *[]string) error {
	for {
		seq, payload, err := c.read()
		if err != nil {
			return fmt.Errorf("authenticate: %w", err)
		}
		note := func(format string, args ...any) {
			*log = append(*log, fmt.Sprintf("%d ", seq)+fmt.Sprintf(format, args...))
		}
		if len(payload) == 0 {
			return errors.New("authenticate: empty packet")
		}
		switch {
		case payload[0] == 0x00:
			note("%s", c.describeOK(payload))
			return nil
		case payload[0] == 0xFF:
			note("%s", c.describeError(payload))
			return ErrRefused
		case payload[0] == 0xFE:
			in := &cursor{rest: payload[1:]}
			c.plugin = string(in.nulString())
			c.nonce = slices.Clone(in.rest)
			if len(c.nonce) == 21 { // a zero follows what is text
				c.nonce = c.nonce[:20]
			}
			note("AUTH SWITCH %s, nonce of %d", c.plugin, len(c.nonce))
			err = c.write(c.firstAnswer())
		case c.plugin == Dialog:
			note("QUESTION %q", payload)
			err = c.write(append([]byte(c.password), 0))
		case payload[0] == 0x01 && len(payload) == 2 && payload[1] == 3:
			note("FAST AUTH OK")
		case payload[0] == 0x01 && len(payload) == 2 && payload[1] == 4:
			note("FULL AUTH")
			if c.secure {
				err = c.write(append([]byte(c.password), 0))
			} else {
				err = c.write([]byte{cachingKeyRequest})
			}
		case payload[0] == 0x01:
			note("PUBLIC KEY")
			err = c.sendByRSA(payload[1:])
		default:
			return fmt.Errorf("authenticate: unknown packet %x", payload)
		}
		if err != nil {
			return err
		}
	}
}

func (c *Client) sendByRSA(key []byte) error {
	block, _ := pem.Decode(key)
	if block == nil {
		return fmt.Errorf("public key: not PEM: %q", key)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return fmt.Errorf("public key: %w", err)
	}
	public, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return fmt.Errorf("public key: %T", parsed)
	}
	plain := xor(append([]byte(c.password), 0), c.nonce)
	secret, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, public, plain, nil)
	if err != nil {
		return fmt.Errorf("encrypt password: %w", err)
	}
	return c.write(secret)
}
