package config

import (
	"errors"
	"fmt"
	"strings"
)

// TLS is what clients are offered.
type TLS struct {
	Mode         TLSMode
	Cert, Key    string // files; a certificate of sluice's own if both are empty
	CA           string // file with the CAs of clients' certificates
	VerifyClient VerifyClient
}

// TLSMode says whether clients may, or must, log in by TLS.
type TLSMode string

// The modes.
const (
	TLSOff     TLSMode = "off"
	TLSOn      TLSMode = "on"
	TLSRequire TLSMode = "require" // but for clients of a unix socket
)

// VerifyClient says what clients have to show.
type VerifyClient string

// What a client's certificate is worth.
const (
	VerifyOptional VerifyClient = "optional" // verified if there is one
	VerifyRequire  VerifyClient = "require"
)

// BackendTLS is how the server is reached.
type BackendTLS struct {
	Mode       BackendTLSMode // tls= in the backend's URL
	CA         string         // file; the system's CAs if empty
	Cert, Key  string         // files with sluice's own certificate
	ServerName string         // in the server's certificate; the backend's host if empty
}

// BackendTLSMode is a tls= of github.com/go-sql-driver/mysql.
type BackendTLSMode string

// The modes.
const (
	BackendTLSFalse      BackendTLSMode = ""            // plain
	BackendTLSTrue       BackendTLSMode = "true"        // the certificate is verified
	BackendTLSSkipVerify BackendTLSMode = "skip-verify" // TLS with whoever answers
	BackendTLSPreferred  BackendTLSMode = "preferred"   // the same if the server offers TLS, else plain
)

// On reports whether TLS is used, or tried.
func (t BackendTLS) On() bool { return t.Mode != BackendTLSFalse }

func parseBackendTLS(s string) (BackendTLSMode, error) {
	switch strings.ToLower(s) {
	case "", "false", "0":
		return BackendTLSFalse, nil
	case "true", "1":
		return BackendTLSTrue, nil
	case "skip-verify":
		return BackendTLSSkipVerify, nil
	case "preferred":
		return BackendTLSPreferred, nil
	}
	return "", errors.New("tls is none of true, skip-verify, preferred, false")
}

// checkTLS finds files that are half there, or would not be read.
func (l *loader) checkTLS(complain func(key, format string, args ...any)) {
	t, b := l.draft.TLS, l.draft.Backend
	pair := func(group, cert, key string) {
		switch {
		case cert != "" && key == "":
			complain(group+".key", "is missing beside %s.cert", group)
		case key != "" && cert == "":
			complain(group+".cert", "is missing beside %s.key", group)
		}
	}
	pair("tls", t.Cert, t.Key)
	pair("backend.tls", b.TLS.Cert, b.TLS.Key)
	if t.VerifyClient == VerifyRequire && t.CA == "" {
		complain("tls.ca", "is missing: tls.verify_client: require needs the CAs of the clients' certificates")
	}
	if t.VerifyClient == VerifyRequire && t.Mode != TLSRequire {
		complain("tls.mode", "is %s, so a client without TLS would need no certificate: tls.verify_client: require goes with tls.mode: require", t.Mode)
	}
	if t.CA != "" && t.Mode == TLSOff || t.Cert != "" && t.Mode == TLSOff {
		complain("tls.mode", "is off, and tls.cert or tls.ca is given")
	}
	if b.Network == "" {
		return
	}
	if !b.TLS.On() {
		for key, text := range map[string]string{"ca": b.TLS.CA, "cert": b.TLS.Cert, "server_name": b.TLS.ServerName} {
			if text != "" {
				complain("backend.tls."+key, "is given, and the backend has no tls: write %s", fmt.Sprintf("mysql://.../?tls=%s", BackendTLSTrue))
			}
		}
	}
	if b.Network == "unix" && b.TLS.Mode == BackendTLSTrue && b.TLS.ServerName == "" {
		complain("backend.tls.server_name", "is missing: the path of a socket is in no certificate")
	}
}
