package logins

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// account is an account on a server, and a way to log in to it.
type account struct {
	name       string // in the table
	user       string // several rows may have the same one
	identified string // empty if an earlier one of that user is meant
	password   string
	needsTLS   bool // REQUIRE SSL
	clear      bool // the password travels as it is
	compress   bool
	// before is what happens when the client has connected, if it is not nil.
	before  func(t *testing.T, s *servers.Server, a account)
	full    bool // caching_sha2_password must ask for the password itself
	refused bool // always
}

// longPassword is longer than a scramble, a nonce and an RSA block of 1024 bits.
var longPassword = strings.Repeat("0123456789", 20)

var accounts = map[servers.Kind][]account{
	servers.KindMariaDB: {
		{name: "mysql_native_password", user: "native", identified: "VIA mysql_native_password USING PASSWORD('short')", password: "short"},
		{name: "wrong password", user: "native", password: "wrong", refused: true},
		{name: "compressed", user: "native", password: "short", compress: true},
		{name: "empty password", user: "no_password", identified: "VIA mysql_native_password USING ''"},
		{name: "long password", user: "long_password", identified: "VIA mysql_native_password USING PASSWORD('" + longPassword + "')", password: longPassword},
		{name: "ed25519", user: "ed25519", identified: "VIA ed25519 USING PASSWORD('short')", password: "short"},
		{name: "ed25519, long password", user: "ed25519_long", identified: "VIA ed25519 USING PASSWORD('" + longPassword + "')", password: longPassword},
		{name: "ed25519 OR native, the first", user: "either", identified: "VIA ed25519 USING PASSWORD('one') OR mysql_native_password USING PASSWORD('two')", password: "one"},
		{name: "ed25519 OR native, the second", user: "either", password: "two"},
		{name: "unix_socket", user: "root_socket", identified: "VIA unix_socket AS 'root'", refused: true},
		{name: "unix_socket OR native", user: "socket_or_native", identified: "VIA unix_socket AS 'root' OR mysql_native_password USING PASSWORD('short')", password: "short"},
		{name: "PAM", user: "pam", identified: "VIA pam USING '" + servers.PAMService + "'", password: servers.PAMPassword, clear: true},
		{name: "native REQUIRE SSL", user: "native_ssl", identified: "VIA mysql_native_password USING PASSWORD('short') REQUIRE SSL", password: "short", needsTLS: true},
		{name: "ed25519 REQUIRE SSL", user: "ed25519_ssl", identified: "VIA ed25519 USING PASSWORD('short') REQUIRE SSL", password: "short", needsTLS: true},
	},
	servers.KindMySQL: {
		{name: "caching_sha2_password, full", user: "caching", identified: "WITH caching_sha2_password BY 'short'", password: "short", before: forget, full: true},
		{name: "caching_sha2_password, fast", user: "caching", password: "short", before: remember},
		{name: "wrong password", user: "caching", password: "wrong", refused: true},
		{name: "compressed", user: "caching", password: "short", before: remember, compress: true},
		{name: "empty password", user: "no_password", identified: "WITH caching_sha2_password BY ''"},
		{name: "long password, full", user: "long_password", identified: "WITH caching_sha2_password BY '" + longPassword + "'", password: longPassword, before: forget, full: true},
		{name: "long password, fast", user: "long_password", password: longPassword, before: remember},
		{name: "sha256_password", user: "sha256", identified: "WITH sha256_password BY 'short'", password: "short"},
		{name: "sha256_password, empty password", user: "sha256_empty", identified: "WITH sha256_password BY ''"},
		{name: "sha256_password, long password", user: "sha256_long", identified: "WITH sha256_password BY '" + longPassword + "'", password: longPassword},
		{name: "caching REQUIRE SSL, full", user: "caching_ssl", identified: "WITH caching_sha2_password BY 'short' REQUIRE SSL", password: "short", needsTLS: true, before: forget, full: true},
		{name: "caching REQUIRE SSL, fast", user: "caching_ssl", password: "short", needsTLS: true, before: remember},
	},
}

// forget empties the server's cache of passwords.
func forget(t *testing.T, s *servers.Server, _ account) {
	s.Exec(t, "FLUSH PRIVILEGES")
}

// remember has the server see the password.
func remember(t *testing.T, s *servers.Server, a account) {
	db, err := servers.OpenPool(s.DSN(a.user, a.password, "") + "&tls=skip-verify")
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.PingContext(t.Context()))
}
