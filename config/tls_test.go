package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTLSMistakes: what would silently not be used, or not work, is refused.
func TestTLSMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--backend", "db", "--tls-cert", "a"}, "tls.key: is missing beside tls.cert"},
		{[]string{"--backend", "db", "--tls-key", "a"}, "tls.cert: is missing beside tls.key"},
		{[]string{"--backend", "db", "--tls-verify-client", "require", "--tls-mode", "require"}, "tls.ca: is missing"},
		{[]string{"--backend", "db", "--tls-verify-client", "require", "--tls-ca", "a"}, "tls.mode: is on, so a client without TLS"},
		{[]string{"--backend", "db", "--tls-mode", "off", "--tls-ca", "a"}, "--tls-mode: is off"},
		{[]string{"--backend", "db", "--backend-tls-ca", "a"}, "--backend-tls-ca: is given, and the backend has no tls: write mysql://.../?tls=true"},
		{[]string{"--backend", "mysql://db/?tls=true", "--backend-tls-cert", "a"}, "backend.tls.key: is missing"},
		{[]string{"--backend", "mysql://u@unix(/s)/?tls=true"}, "backend.tls.server_name: is missing"},
	} {
		_, _, err := load(t, "", nil, c.args...)
		require.ErrorContains(t, err, c.want, "%q", c.args)
	}
	cfg := mustLoad(t, "backend:\n  url: mysql://u@db/?tls=true\n  tls:\n    ca: ca.pem\n    server_name: name\ntls:\n  mode: require\n  ca: clients.pem\n  verify_client: require\n", nil)
	require.Equal(t, BackendTLS{Mode: BackendTLSTrue, CA: "ca.pem", ServerName: "name"}, cfg.Backend.TLS)
	require.Equal(t, TLS{Mode: TLSRequire, CA: "clients.pem", VerifyClient: VerifyRequire}, cfg.TLS)
	require.Equal(t, "mysql://u@db:3306/?tls=true", cfg.Backend.String())
}
