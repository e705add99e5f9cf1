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

// The password step of sha256_password, and of caching_sha2_password when its server has
// to see the password (MySQL manual 8.4.1.2, 8.4.1.3; Internals "Caching_sha2_password
// information"): over a link that counts as secure (TLS, a socket) the client sends it in
// the clear, over another one encrypted with the server's RSA key. Where the two sides of
// sluice differ, sluice does the step that the other side expects. The password is held
// no longer than that.
const (
	sha2FastOK      = 0x03
	sha2FullAuth    = 0x04
	sha2PublicKey   = 0x02
	sha256PublicKey = 0x01
)

// rsaKey is sluice's own key towards plain clients, made when first needed.
var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// passSecret passes the client's answer on that is a request for a key, or a password. An
// encrypted password follows a key, or comes at once from a client that has the key in a file.
func (a *exchange) passSecret(p []byte) error {
	request := a.secret
	a.secret = 0
	wantsKey := len(p) == 1 && p[0] == request
	isClear := takesClear(&a.client, a.plugin) || looksClear(p)
	wantsClear := takesClear(&a.backend, a.plugin)
	switch {
	case isEmpty(p), wantsKey && !wantsClear:
		return a.backend.write(p)
	case wantsKey:
		return a.decrypt()
	case wantsClear && !isClear:
		return a.refuse("the password came encrypted with the server's RSA key, and sluice, which speaks to the server by TLS, has another one: " +
			"let the client ask for the key (get-server-public-key), or log in by TLS")
	case wantsClear || !isClear:
		return a.forwardSecret(p)
	}
	return a.encrypt(request, p)
}

// looksClear says whether an answer over a plain link is a password in the clear all the
// same: some clients that had hoped for TLS send it. It ends in a zero, and an encrypted
// one has the length of an RSA modulus.
func looksClear(p []byte) bool {
	const modulus = 64 // bytes; its length is a multiple
	return len(p) > 1 && p[len(p)-1] == 0 && len(p)%modulus != 0
}

// decrypt gives the client sluice's own RSA key and passes its password on.
func (a *exchange) decrypt() error {
	password, err := a.decrypted()
	if err != nil {
		a.end()
		return err
	}
	return a.forwardSecret(password)
}

func (a *exchange) decrypted() ([]byte, error) {
	key, err := rsaKey()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	public := append([]byte{wire.IsMore}, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	if err := a.client.write(public); err != nil {
		return nil, err
	}
	secret, err := a.client.take()
	if err != nil {
		return nil, err
	}
	password, err := rsa.DecryptOAEP(sha1.New(), nil, key, secret, nil)
	if err != nil {
		return nil, fmt.Errorf("decrypt the client's password: %w", err)
	}
	scramble(password, a.x.salt)
	return password, nil
}

// encrypt sends a password that came in the clear, encrypted with the backend's RSA key.
// As with a client that asks for the key, nothing says whose key it is.
func (a *exchange) encrypt(request byte, password []byte) error {
	defer clear(password)
	if err := a.backend.write([]byte{request}); err != nil {
		return err
	}
	p, err := a.backend.read()
	if err != nil {
		return err
	}
	key, err := parsePublicKey(p)
	if err != nil {
		a.client.writeErr(1045, "28000", "sluice: Access denied: "+err.Error()+"; write tls=true into sluice's --backend")
		if p[0] != wire.IsErr {
			a.end()
		}
		return errRefused
	}
	scramble(password, a.x.salt)
	secret, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, key, password, nil)
	if errors.Is(err, rsa.ErrMessageTooLong) {
		return a.refuse("the password is too long for the server's RSA key, and the link from sluice to the server is not encrypted: write tls=true into sluice's --backend")
	}
	if err != nil {
		return fmt.Errorf("encrypt for the backend: %w", err)
	}
	return a.forwardSecret(secret)
}

func (a *exchange) forwardSecret(secret []byte) error {
	err := a.backend.write(secret)
	clear(secret)
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
