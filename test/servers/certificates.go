package servers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a CA of a test's own, with the files that its certificates are in.
type Authority struct {
	CA string // file with the CA's certificate

	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Certificate says what is issued. The zero value is good for localhost and 127.0.0.1, now.
type Certificate struct {
	Name    string // a DNS name in place of localhost and 127.0.0.1
	Expired bool
}

// NewAuthority makes a CA; its files are removed at the test's end.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{dir: t.TempDir()}
	a.CA = filepath.Join(a.dir, "ca.pem")
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	a.key = newKey(t)
	a.cert = template
	a.cert = a.sign(t, template, a.key, "ca")
	return a
}

// Issue makes a certificate and returns its files.
func (a *Authority) Issue(t testing.TB, name string, c Certificate) (cert, key string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if c.Name != "" {
		template.DNSNames, template.IPAddresses = []string{c.Name}, nil
	}
	if c.Expired {
		template.NotAfter = time.Now().Add(-time.Hour)
	}
	a.sign(t, template, newKey(t), name)
	return filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key")
}

// Pair is what Issue makes, for a client in this process.
func (a *Authority) Pair(t testing.TB, name string, c Certificate) tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(a.Issue(t, name, c))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// Pool holds the CA.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// Pool holds the certificate in a file.
func Pool(t testing.TB, path string) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		t.Fatalf("%s holds no certificate", path)
	}
	return pool
}

// ServerOptions make a server offer TLS, with a certificate for localhost.
func (a *Authority) ServerOptions(t testing.TB) []string {
	t.Helper()
	cert, key := a.Issue(t, "server", Certificate{})
	return []string{"--ssl-ca=" + a.CA, "--ssl-cert=" + cert, "--ssl-key=" + key}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *Authority) sign(t testing.TB, template *x509.Certificate, key *ecdsa.PrivateKey, name string) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(a.dir, name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(filepath.Join(a.dir, name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
