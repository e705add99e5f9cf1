package compat

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// loginAs logs in and returns the packets of it, or the error that broke it off.
func loginAs(t *testing.T, addr string, o rawclient.Options) (packets []string, err error) {
	t.Helper()
	c, err := rawclient.Dial(addr, o)
	if c == nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	if err != nil {
		return c.Login, nil
	}
	// With TLS 1.3 a client learns only now that its certificate was refused.
	reply, err := c.Do(rawclient.Simple(rawclient.ComPing, rawclient.OneReply))
	if err != nil {
		return nil, err
	}
	return append(c.Login, reply...), nil
}

var app = rawclient.Options{User: "app", Password: "app", Schema: "test"}

func withTLS(o rawclient.Options, c *tls.Config) rawclient.Options {
	o.TLS = c
	return o
}

// TestTLSToClients holds what tls.mode and the certificates of either side mean.
func TestTLSToClients(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		authority, other := servers.NewAuthority(t), servers.NewAuthority(t)
		cert, key := authority.Issue(t, "sluice", servers.Certificate{})
		trusting := func(pairs ...tls.Certificate) *tls.Config {
			return &tls.Config{RootCAs: authority.Pool(), ServerName: "localhost", Certificates: pairs}
		}
		socket := filepath.Join(t.TempDir(), "s")
		start := func(args ...string) *servers.Sluice {
			return servers.StartSluice(t, server, append(args, "--listen", "unix:"+socket, "--tls-cert", cert, "--tls-key", key)...)
		}
		ok := func(addr string, o rawclient.Options) {
			t.Helper()
			packets, err := loginAs(t, addr, o)
			require.NoError(t, err)
			require.Contains(t, packets[len(packets)-1], " OK ")
		}

		required := start("--tls-mode", "require")
		packets, err := loginAs(t, required.Addr, app)
		require.NoError(t, err)
		require.Len(t, packets, 1)
		require.Contains(t, packets[0], "2 ERR 3159 HY000 \"sluice: Connections using insecure transport are prohibited")
		ok(required.Addr, withTLS(app, trusting()))
		ok(socket, app)
		ok(socket, withTLS(app, trusting()))
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			c := trusting()
			c.MinVersion, c.MaxVersion = version, version
			ok(required.Addr, withTLS(app, c))
		}
		old := trusting()
		old.MinVersion, old.MaxVersion = tls.VersionTLS11, tls.VersionTLS11
		_, err = loginAs(t, required.Addr, withTLS(app, old))
		require.ErrorContains(t, err, "protocol version")
		required.Stop(t)

		off := servers.StartSluice(t, server, "--tls-mode", "off")
		c, err := rawclient.Dial(off.Addr, app)
		require.NoError(t, err)
		require.Zero(t, c.Greeting.Caps&rawclient.SSL)
		require.NoError(t, c.Close())

		good := authority.Pair(t, "client", servers.Certificate{})
		stranger := other.Pair(t, "client", servers.Certificate{})
		expired := authority.Pair(t, "expired", servers.Certificate{Expired: true})
		optional := start("--tls-ca", authority.CA)
		ok(optional.Addr, app)
		ok(optional.Addr, withTLS(app, trusting()))
		ok(optional.Addr, withTLS(app, trusting(good)))
		optional.Stop(t)
		wanted := start("--tls-ca", authority.CA, "--tls-verify-client", "require", "--tls-mode", "require")
		ok(wanted.Addr, withTLS(app, trusting(good)))
		show := func(pair tls.Certificate) *tls.Config { // also to a server whose CAs do not have it
			c := trusting()
			c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
			return c
		}
		for name, c := range map[string]*tls.Config{"none": trusting(), "another CA's": show(stranger), "an expired one": show(expired)} {
			_, err = loginAs(t, wanted.Addr, withTLS(app, c))
			require.Error(t, err, "a client's certificate: %s", name)
		}
		ok(wanted.Addr, withTLS(app, trusting(good)))
	})
}

// TestOwnCertificate: without a configured one, sluice makes one and keeps it.
func TestOwnCertificate(t *testing.T) {
	t.Parallel()
	server := servers.MariaDB(t)
	sluice := servers.StartSluice(t, server)
	path := filepath.Join(sluice.DataDir, "server-cert.pem")
	pem, err := os.ReadFile(path)
	require.NoError(t, err)
	key, err := os.Stat(filepath.Join(sluice.DataDir, "server-key.pem"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), key.Mode().Perm())
	roots := servers.Pool(t, path)
	for _, name := range []string{"localhost", "127.0.0.1"} {
		packets, err := loginAs(t, sluice.Addr, withTLS(app, &tls.Config{RootCAs: roots, ServerName: name}))
		require.NoError(t, err)
		require.Contains(t, packets[0], " OK ")
	}
	sluice.Restart(t)
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, pem, again)
	_, err = loginAs(t, sluice.Addr, withTLS(app, &tls.Config{RootCAs: roots, ServerName: "localhost"}))
	require.NoError(t, err)

	relay := servers.StartSluice(t, server, "--backend", server.Addr)
	_, err = loginAs(t, relay.Addr, withTLS(app, &tls.Config{InsecureSkipVerify: true}))
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(relay.DataDir, "server-key.pem"), "without a service account nothing is written")
}

// TestTLSToTheServer holds what tls= in the backend's URL means, for sessions, for the
// service account and for check.
func TestTLSToTheServer(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			authority, other := servers.NewAuthority(t), servers.NewAuthority(t)
			server := servers.Fresh(t, kind, authority.ServerOptions(t)...)
			server.Exec(t, "CREATE USER ssl_user@'%' IDENTIFIED BY 'p' REQUIRE SSL", "CREATE USER x509@'%' IDENTIFIED BY 'p' REQUIRE X509",
				"ALTER USER sluice_svc@'%' REQUIRE SSL")
			withoutTLS := map[servers.Kind][]string{servers.KindMySQL: {"--tls-version="}, servers.KindMariaDB: {"--skip-ssl"}}[kind]
			bare := servers.Fresh(t, kind, withoutTLS...)

			secret := func(user string) rawclient.Options { return rawclient.Options{User: user, Password: "p"} }
			last := func(addr string, o rawclient.Options) string {
				t.Helper()
				packets, err := loginAs(t, addr, o)
				require.NoError(t, err)
				return packets[len(packets)-1]
			}
			ca := []string{"--backend-tls-ca", authority.CA}
			cert, key := authority.Issue(t, "client", servers.Certificate{})
			check := func(url string, args ...string) (int, string) {
				return servers.RunSluice(t, append([]string{"check", "--backend", url, "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0"}, args...)...)
			}
			url := server.BackendURL()

			verified := servers.StartSluice(t, server, append(ca, "--backend", url+"?tls=true")...)
			require.Contains(t, last(verified.Addr, app), " OK ")
			require.Contains(t, last(verified.Addr, secret("ssl_user")), " OK ")
			require.Contains(t, last(verified.Addr, secret("x509")), " ERR 1045 ")
			status, output := check(url+"?tls=true", ca...)
			require.Equal(t, 0, status, output)
			certified := servers.StartSluice(t, server, append(ca, "--backend", url+"?tls=true", "--backend-tls-cert", cert, "--backend-tls-key", key)...)
			require.Contains(t, last(certified.Addr, secret("x509")), " OK ")
			for _, mode := range []string{"skip-verify", "preferred"} {
				loose := servers.StartSluice(t, server, "--backend", url+"?tls="+mode)
				require.Contains(t, last(loose.Addr, secret("ssl_user")), " OK ", mode)
				status, output := check(url + "?tls=" + mode)
				require.Equal(t, 0, status, output)
			}

			// A server that is not the one, for sessions without a service account.
			relay := func(s *servers.Server, mode string, args ...string) string {
				t.Helper()
				sluice := servers.StartSluice(t, s, append(args, "--backend", "mysql://"+s.Addr+"/?tls="+mode)...)
				return last(sluice.Addr, app)
			}
			require.Contains(t, relay(server, "true"), `ERR 1429 HY000 "sluice: Can't connect to MySQL server on '`+server.Addr+`' (TLS: tls: failed to verify certificate: x509: certificate signed by unknown authority`)
			require.Contains(t, relay(server, "true", "--backend-tls-ca", other.CA), "certificate signed by unknown authority")
			require.Contains(t, relay(server, "true", "--backend-tls-ca", authority.CA, "--backend-tls-server-name", "db.example"), "certificate is valid for localhost, not db.example")
			require.Contains(t, relay(server, "true", "--backend-tls-ca", authority.CA, "--backend-tls-server-name", "localhost"), " OK ")
			require.Contains(t, relay(bare, "true"), "(the server offers no TLS, and tls in sluice's --backend asks for it)")
			require.Contains(t, relay(bare, "skip-verify"), "the server offers no TLS")
			require.Contains(t, relay(bare, "preferred"), " OK ")

			// The same for the service account: serve refuses, and check says so.
			for _, c := range []struct {
				url  string
				args []string
				want string
			}{
				{url + "?tls=true", nil, "certificate signed by unknown authority"},
				{url + "?tls=true", []string{"--backend-tls-ca", authority.CA, "--backend-tls-server-name", "db.example"}, "not db.example"},
				{bare.BackendURL() + "?tls=true", nil, "the server offers no TLS"},
				{url + "?tls=true", []string{"--backend-tls-ca", "/nowhere"}, "/nowhere"},
			} {
				status, output := check(c.url, c.args...)
				require.Equal(t, 1, status, output)
				require.Contains(t, output, c.want)
				status, output = servers.RunSluice(t, append([]string{"serve", "--backend", c.url, "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0"}, c.args...)...)
				require.Equal(t, 1, status, output)
				require.Contains(t, output, c.want)
			}
		})
	}
}

// TestCheckListsAccounts holds that check names the accounts that cannot log in through
// sluice, if it may see them.
func TestCheckListsAccounts(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			authority := servers.NewAuthority(t)
			options := authority.ServerOptions(t)
			see := "GRANT SELECT (User, Host, plugin, ssl_type, account_locked) ON mysql.user TO sluice_svc@'%'"
			if kind == servers.KindMariaDB {
				options = append(options, servers.MariaDBPlugins(t, "auth_ed25519", "auth_pam_v1")...)
				see = "GRANT SELECT ON mysql.global_priv TO sluice_svc@'%'"
			}
			server := servers.Fresh(t, kind, options...)
			server.Exec(t, "CREATE USER ssl_user@'%' IDENTIFIED BY 'p' REQUIRE SSL", "CREATE USER x509@'%' IDENTIFIED BY 'p' REQUIRE X509",
				"CREATE USER elsewhere@'10.1.%' IDENTIFIED BY 'p'", "CREATE USER locked@'10.1.%' IDENTIFIED BY 'p' ACCOUNT LOCK")
			if kind == servers.KindMariaDB {
				server.Exec(t, "CREATE USER peer@'%' IDENTIFIED VIA unix_socket", "CREATE USER pam@'%' IDENTIFIED VIA pam USING '"+servers.PAMService+"'",
					"CREATE USER either@'%' IDENTIFIED VIA unix_socket OR mysql_native_password USING PASSWORD('p')", "CREATE ROLE a_role")
			}
			cert, key := authority.Issue(t, "client", servers.Certificate{})
			check := func(url string, args ...string) string {
				_, output := servers.RunSluice(t, append([]string{"check", "--backend", url, "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0"}, args...)...)
				return output
			}
			require.Contains(t, check(server.BackendURL()), "the service account may not read mysql.")
			server.Exec(t, see)
			plain := check(server.BackendURL())
			secured := check(server.BackendURL()+"?tls=true", "--backend-tls-ca", authority.CA, "--backend-tls-cert", cert, "--backend-tls-key", key)
			require.Regexp(t, `lacking  server: accounts .*'elsewhere'@'10\.1\.%'.* cannot log in through sluice: they are bound to other hosts`, plain)
			require.Contains(t, plain, "accounts 'ssl_user'@'%' cannot log in through sluice: they REQUIRE SSL")
			require.Contains(t, plain, "accounts 'x509'@'%' cannot log in through sluice: they REQUIRE a certificate")
			require.NotContains(t, secured, "ssl_user")
			require.Contains(t, secured, "note     server: accounts 'x509'@'%' REQUIRE a certificate: the server sees sluice's")
			if kind == servers.KindMariaDB {
				require.Contains(t, plain, "accounts 'pam'@'%' cannot log in through sluice: they have passwords that travel in the clear")
				require.Contains(t, secured, "note     server: accounts 'pam'@'%' have passwords that travel in the clear")
				require.Contains(t, plain, "accounts 'peer'@'%' cannot log in through sluice: they are for users of the server's own machine")
			}
			for _, name := range []string{"'app'", "sluice_svc'@", "locked", "either", "a_role"} {
				require.NotContains(t, plain, name)
			}
		})
	}
}

// TestChangeUserThatFails holds F058: the error, what becomes of the connection, the rows
// that were acknowledged before, journaled or held, and the attributes of a change that
// succeeds.
func TestChangeUserThatFails(t *testing.T) {
	t.Parallel()
	const rows = 5
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.StartSluice(t, server, "--burst", "1")
		for name, password := range map[string]string{"fails": "wrong", "succeeds": "app"} {
			for _, held := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, held %t", name, held), func(t *testing.T) {
					direct := changeUserAfterRows(t, server, nil, rows, password, held)
					require.Equal(t, direct, changeUserAfterRows(t, server, sluice, rows, password, held))
				})
			}
		}
	})
}

// changeUserAfterRows inserts rows, in a transaction or not, changes the user with this
// password, and returns the replies and, in the end, what is stored.
func changeUserAfterRows(t *testing.T, server *servers.Server, sluice *servers.Sluice, rows int, password string, held bool) (seen []string) {
	t.Helper()
	const table = "test.f058"
	server.Exec(t, "DROP TABLE IF EXISTS "+table, "CREATE TABLE "+table+" (n INT PRIMARY KEY)")
	addr := server.Addr
	if sluice != nil {
		addr = sluice.Addr
	}
	db := server.Open(t)
	c, err := rawclient.Dial(addr, app)
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	do := func(command rawclient.Command) {
		reply, err := c.Do(command)
		require.NoError(t, err)
		seen = append(seen, reply...)
	}
	do(c.ChangeUser("app", "app", ""))
	if server.Kind == servers.KindMySQL {
		var attribute string
		require.NoError(t, db.QueryRow("SELECT ATTR_VALUE FROM performance_schema.session_connect_attrs WHERE ATTR_NAME = 'program_name' AND PROCESSLIST_ID = ?", c.Greeting.ThreadID).Scan(&attribute))
		require.Equal(t, "rawclient", attribute)
	}
	if held {
		do(c.Query([]byte("BEGIN")))
	}
	before := 0.0
	if sluice != nil {
		before = sluice.Metrics(t)[batchedMetric]
	}
	for n := range rows {
		do(c.Query(fmt.Appendf(nil, "INSERT INTO %s VALUES (%d)", table, n)))
	}
	if sluice != nil {
		require.GreaterOrEqual(t, sluice.Metrics(t)[batchedMetric]-before, float64(rows-1), "batched before the user is changed")
	}
	do(c.ChangeUser("app", password, "test"))
	do(rawclient.Simple(rawclient.ComPing, rawclient.OneReply))
	// Rows in a transaction are rolled back; the server may still be at it.
	want := rows
	if held {
		want = 0
	}
	require.Eventually(t, func() bool { return count(t, server, "SELECT COUNT(*) FROM "+table) == want }, time.Minute, 20*time.Millisecond)
	return append(seen, queryRows(t, db, "SELECT n FROM "+table+" ORDER BY n")...)
}
