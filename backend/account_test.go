package backend

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/wire"
)

func TestHostMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, host string
		want          bool
	}{
		{"%", "10.0.0.1", true},
		{"10.0.%", "10.0.0.1", true},
		{"10.0.%", "10.1.0.1", false},
		{"10.0.0._", "10.0.0.1", true},
		{"10.0.0._", "10.0.0.11", false},
		{"%.Example.org", "db.example.ORG", true},
		{"%.example.org", "example.org", false},
		{"localhost", "localhost", true},
		{"10.0.0.0/255.255.0.0", "10.0.7.7", true},
		{"10.0.0.0/255.255.0.0", "10.1.7.7", false},
		{"10.0.0.0/8", "10.1.7.7", true},
		{"10.0.0.0/8", "11.1.7.7", false},
		{"10.0.0.0/8", "localhost", false},
		{"", "localhost", false},
		{"%a%b%", "xaxbx", true},
		{"%a%b", "xaxbx", false},
	} {
		require.Equal(t, c.want, hostMatches(c.pattern, c.host), "%s %s", c.pattern, c.host)
	}
}

// TestObstacles: each kind of account against each kind of link to the server.
func TestObstacles(t *testing.T) {
	row := func(user, priv string) [][]byte { return [][]byte{[]byte(user), []byte("%"), []byte(priv)} }
	accounts, err := mariaAccounts(&wire.Result{Rows: [][][]byte{
		row("plain", `{"access":0,"plugin":"mysql_native_password","authentication_string":"*1"}`),
		row("two", `{"plugin":"mysql_native_password","auth_or":[{"plugin":"pam"},{}]}`),
		row("socket", `{"plugin":"unix_socket"}`),
		row("socket_or", `{"plugin":"mysql_native_password","auth_or":[{},{"plugin":"unix_socket"}]}`),
		row("socket_or_pam", `{"plugin":"unix_socket","auth_or":[{},{"plugin":"pam"}]}`),
		row("pam", `{"plugin":"pam"}`),
		row("ssl", `{"plugin":"ed25519","ssl_type":1}`),
		row("x509", `{"plugin":"ed25519","ssl_type":2}`),
		row("gssapi", `{"plugin":"gssapi"}`),
		row("role", `{"is_role":true}`),
		row("locked", `{"plugin":"pam","account_locked":true}`),
	}}, nil)
	require.NoError(t, err)
	require.Len(t, accounts, 9)
	local := []string{"127.0.0.1"}
	for name, c := range map[string]struct {
		approach
		want map[string]obstacle
	}{
		"plain": {approach{hosts: local}, map[string]obstacle{
			"socket": peer, "socket_or_pam": clearText, "pam": clearText, "ssl": wantsTLS, "x509": wantsX509, "gssapi": untried}},
		"TLS": {approach{hosts: local, encrypted: true}, map[string]obstacle{
			"socket": peer, "socket_or_pam": clearOnly, "pam": clearOnly, "x509": wantsX509, "gssapi": untried}},
		"certified": {approach{hosts: local, encrypted: true, certified: true}, map[string]obstacle{
			"socket": peer, "socket_or_pam": clearOnly, "pam": clearOnly, "x509": ownX509, "gssapi": untried}},
		"socket": {approach{hosts: local, socket: true}, map[string]obstacle{
			"socket": peer, "socket_or_pam": clearOnly, "pam": clearOnly, "ssl": wantsTLS, "x509": wantsX509, "gssapi": untried}},
	} {
		got := map[string]obstacle{}
		for _, a := range accounts {
			if o, found := c.obstacleOf(a); found {
				got[a.user] = o
			}
		}
		require.Equal(t, c.want, got, name)
	}
}
