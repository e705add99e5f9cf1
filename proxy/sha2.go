package proxy

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // #nosec G505: OAEP with SHA-1 is what the protocol prescribes
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-db/sluice/backend/wire"
)

// caching_sha2_password's full authentication (MySQL manual 8.4.1.2; Internals
// "Caching_sha2_password information"): over a link that counts as secure (TLS,
// a socket) the client sends its password in the clear, over another one
// encrypted with the server's RSA key. Where the two sides of sluice differ,
// sluice does the step that the other side expects. The password is held no
// longer than that.
const (
	sha2FastOK    = 0x03
	sha2FullAuth  = 0x04
	sha2PublicKey = 0x02
)

// sha2Key is sluice's own key towards plain clients, made when first needed.
var sha2Key = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func (x *session) backendSecure() bool { return x.server.opts.Backend.Network == "unix" }

// sha2Full relays the server's request for full authentication and the client's
// answer: the request for a key, or the password in the clear. Some clients give
// the latter on a plain link too, when they had hoped for TLS. over is false when
// the exchange goes on packet by packet.
func (x *session) sha2Full(request []byte, seq byte) (over bool, err error) {
	if _, err := x.client.Write(wire.AppendPacket(nil, seq, request)); err != nil {
		x.endAuthentication(seq + 1)
		return true, err
	}
	p, got, err := x.client.ReadPacket(loginLimit)
	if err != nil {
		x.endAuthentication(seq + 1)
		return true, err
	}
	wantsKey := len(p) == 1 && p[0] == sha2PublicKey
	switch {
	case wantsKey && x.backendSecure():
		if p, got, err = x.sha2Decrypt(got + 1); err != nil {
			x.endAuthentication(seq + 1)
			return true, err
		}
		if err := x.forwardSecret(seq+1, p); err != nil {
			return true, err
		}
	case !wantsKey && !x.backendSecure():
		if err := x.sha2Encrypt(seq+1, p); err != nil {
			return true, err
		}
	default:
		_, err := x.backend.Write(wire.AppendPacket(nil, seq+1, p))
		return false, err
	}
	return true, x.finishSha2(got + 1)
}

// sha2Decrypt gives the client sluice's own RSA key and reads its password.
func (x *session) sha2Decrypt(seq byte) (password []byte, got byte, err error) {
	key, err := sha2Key()
	if err != nil {
		return nil, 0, err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, 0, err
	}
	public := append([]byte{wire.IsMore}, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	if _, err := x.client.Write(wire.AppendPacket(nil, seq, public)); err != nil {
		return nil, 0, err
	}
	secret, got, err := x.client.ReadPacket(loginLimit)
	if err != nil {
		return nil, 0, err
	}
	if password, err = rsa.DecryptOAEP(sha1.New(), nil, key, secret, nil); err != nil {
		return nil, 0, fmt.Errorf("decrypt the client's password: %w", err)
	}
	scramble(password, x.salt)
	return password, got, nil
}

// sha2Encrypt sends a password that came in the clear, encrypted with the
// backend's RSA key.
func (x *session) sha2Encrypt(seq byte, password []byte) error {
	if _, err := x.backend.Write(wire.AppendPacket(nil, seq, []byte{sha2PublicKey})); err != nil {
		return err
	}
	p, seq, err := x.backend.ReadPacket(loginLimit)
	if err != nil {
		return err
	}
	key, err := parsePublicKey(p)
	if err != nil {
		return err
	}
	scramble(password, x.salt)
	secret, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, key, password, nil)
	clear(password)
	if err != nil {
		return fmt.Errorf("encrypt for the backend: %w", err)
	}
	return x.forwardSecret(seq+1, secret)
}

func (x *session) forwardSecret(seq byte, secret []byte) error {
	_, err := x.backend.Write(wire.AppendPacket(nil, seq, secret))
	clear(secret)
	return err
}

// finishSha2 passes the server's verdict on under the client's own sequence id.
func (x *session) finishSha2(seq byte) error {
	p, _, err := x.backend.ReadPacket(loginLimit)
	if err != nil {
		return err
	}
	if len(p) == 0 {
		return errors.New("authentication: empty packet from the server")
	}
	if _, err := x.client.Write(wire.AppendPacket(nil, seq, p)); err != nil {
		return err
	}
	if p[0] != wire.IsOK {
		return errDenied
	}
	ok, err := wire.ParseOK(p)
	x.status = ok.Status
	return err
}

func parsePublicKey(p []byte) (*rsa.PublicKey, error) {
	if len(p) < 1 || p[0] != wire.IsMore {
		return nil, errors.New("the backend did not give its RSA key")
	}
	block, _ := pem.Decode(p[1:])
	if block == nil {
		return nil, errors.New("the backend's RSA key is not PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the backend's RSA key: %w", err)
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("the backend's key is a %T, not RSA", key)
	}
	return public, nil
}

// scramble combines a password with the greeting's salt, as both sides do around RSA.
func scramble(p, salt []byte) {
	if len(salt) == 0 {
		return
	}
	for i := range p {
		p[i] ^= salt[i%len(salt)]
	}
}
