package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The files of sluice's own certificate in the data directory.
const (
	ownCertFile = "server-cert.pem"
	ownKeyFile  = "server-key.pem"
)

// ownCertificate is the self-signed certificate that clients see if none is configured. It
// is made once and kept in dir, so that a client that has pinned it knows it again; one
// that has expired is made anew. Without a dir it lasts as long as the process.
func ownCertificate(dir string) (tls.Certificate, error) {
	if dir == "" {
		cert, key, err := selfSigned()
		if err != nil {
			return tls.Certificate{}, err
		}
		return tls.X509KeyPair(cert, key)
	}
	pair, kept, err := keptCertificate(dir)
	if kept || err != nil {
		return pair, err
	}
	cert, key, err := selfSigned()
	if err == nil {
		// The certificate comes last: where it is, the key is.
		err = errors.Join(replaceFile(filepath.Join(dir, ownKeyFile), key, 0o600), replaceFile(filepath.Join(dir, ownCertFile), cert, 0o644))
	}
	if err != nil {
		return pair, fmt.Errorf("sluice's own certificate: %w", err)
	}
	return tls.X509KeyPair(cert, key)
}

// trialCertificate is what ownCertificate would come to, without a change to dir.
func trialCertificate(dir string) (tls.Certificate, error) {
	if dir != "" {
		if pair, kept, err := keptCertificate(dir); kept || err != nil {
			return pair, err
		}
	}
	return ownCertificate("")
}

// keptCertificate reads the certificate that dir keeps; kept is false if there is none, or
// one that has expired.
func keptCertificate(dir string) (pair tls.Certificate, kept bool, err error) {
	certPath, keyPath := filepath.Join(dir, ownCertFile), filepath.Join(dir, ownKeyFile)
	pair, err = tls.LoadX509KeyPair(certPath, keyPath)
	switch {
	case err == nil:
		return pair, time.Now().Before(pair.Leaf.NotAfter), nil
	case errors.Is(err, os.ErrNotExist):
		return pair, false, nil
	}
	return pair, false, fmt.Errorf("sluice's own certificate: %w; remove %s and %s to have it made anew", err, certPath, keyPath)
}

// selfSigned makes a certificate and its key, in PEM form, for this host.
func selfSigned() (cert, key []byte, err error) {
	const years = 10
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "sluice"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(years, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true, // so that a client may name it as its CA
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if host, err := os.Hostname(); err == nil {
		c.DNSNames = append(c.DNSNames, host)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}

// replaceFile writes a file beside the one that it then takes the place of.
func replaceFile(path string, text []byte, mode os.FileMode) error {
	tmp := path + ".new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(tmp, text, mode); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
