package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/config"
)

// clientTLS is what clients are offered; nil for none. own gives the certificate of
// sluice's own, if none is configured.
func clientTLS(t config.TLS, own func() (tls.Certificate, error)) (*tls.Config, error) {
	if t.Mode == config.TLSOff {
		return nil, nil
	}
	var certificate tls.Certificate
	var err error
	if t.Cert != "" {
		certificate, err = loadPair("tls", t.Cert, t.Key)
	} else {
		certificate, err = own()
	}
	if err != nil {
		return nil, err
	}
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate},
		DynamicRecordSizingDisabled: true, // results, not web pages
	}
	if t.CA != "" {
		if c.ClientCAs, err = loadCA("tls.ca", t.CA); err != nil {
			return nil, err
		}
		c.ClientAuth = tls.VerifyClientCertIfGiven
		if t.VerifyClient == config.VerifyRequire {
			c.ClientAuth = tls.RequireAndVerifyClientCert
		}
	}
	return c, nil
}

// backendTLS is how the server is reached; nil for plain.
func backendTLS(b config.Backend) (*wire.TLS, error) {
	if !b.TLS.On() {
		return nil, nil
	}
	t := &wire.TLS{
		Config:   &tls.Config{MinVersion: tls.VersionTLS12, ServerName: b.TLS.ServerName, DynamicRecordSizingDisabled: true},
		Verify:   b.TLS.Mode == config.BackendTLSTrue,
		Optional: b.TLS.Mode == config.BackendTLSPreferred,
	}
	if t.Config.ServerName == "" && b.Network == "tcp" {
		host, _, err := net.SplitHostPort(b.Address)
		if err != nil {
			return nil, err
		}
		t.Config.ServerName = host
	}
	var err error
	if b.TLS.CA != "" {
		if t.Config.RootCAs, err = loadCA("backend.tls.ca", b.TLS.CA); err != nil {
			return nil, err
		}
	}
	if b.TLS.Cert != "" {
		pair, err := loadPair("backend.tls", b.TLS.Cert, b.TLS.Key)
		if err != nil {
			return nil, err
		}
		t.Config.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// outdated says which of the certificates that sluice is to show are not valid now: peers
// that look refuse them.
func outdated(cfg *config.Config, clients *tls.Config, server *wire.TLS) []string {
	var found []string
	look := func(setting, path string, c *tls.Config) {
		leaf := c.Certificates[0].Leaf
		if now := time.Now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
			found = append(found, fmt.Sprintf("%s: the certificate in %s is valid from %s to %s only", setting, path,
				leaf.NotBefore.Format(time.RFC3339), leaf.NotAfter.Format(time.RFC3339)))
		}
	}
	if clients != nil && cfg.TLS.Cert != "" {
		look("tls.cert", cfg.TLS.Cert, clients)
	}
	if server != nil && cfg.Backend.TLS.Cert != "" {
		look("backend.tls.cert", cfg.Backend.TLS.Cert, server.Config)
	}
	return found
}

func loadPair(group, cert, key string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return pair, fmt.Errorf("%s.cert and %s.key: %w", group, group, err)
	}
	return pair, nil
}

func loadCA(setting, path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: %w", setting, errors.New(path+" holds no certificate in PEM form"))
	}
	return pool, nil
}
