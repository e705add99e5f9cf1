package compat

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// authAccount is an account of the login matrix and a client's way to log in to it.
type authAccount struct {
	name, identified string
	password         string
	plugin           string // that the client begins with; empty for the server's default
	clear            bool   // its password travels as it is: over secure links only
	lastly           bool   // only if another one was wrong
	tooLong          bool   // for RSA
}

func long(n int) string { return strings.Repeat("0123456789 äöü ", n)[:n] }

var authAccounts = map[servers.Kind][]authAccount{
	servers.KindMySQL: {
		{name: "caching_empty", identified: "WITH caching_sha2_password BY ''"},
		{name: "caching", identified: "WITH caching_sha2_password BY 'short'", password: "short"},
		{name: "caching_long", identified: "WITH caching_sha2_password BY '" + long(200) + "'", password: long(200)},
		{name: "caching_switched", identified: "WITH caching_sha2_password BY 'short'", password: "short", plugin: rawclient.NativePassword},
		{name: "caching_too_long", identified: "WITH caching_sha2_password BY '" + long(250) + "'", password: long(250), tooLong: true},
		{name: "sha256_empty", identified: "WITH sha256_password BY ''"},
		{name: "sha256", identified: "WITH sha256_password BY 'short'", password: "short"},
		{name: "sha256_long", identified: "WITH sha256_password BY '" + long(200) + "'", password: long(200)},
		{name: "sha256_default", identified: "WITH sha256_password BY 'short'", password: "short", plugin: rawclient.SHA256},
		{name: "sha256_default_empty", identified: "WITH sha256_password BY ''", plugin: rawclient.SHA256},
		{name: "sha256_default_long", identified: "WITH sha256_password BY '" + long(200) + "'", password: long(200), plugin: rawclient.SHA256},
		{name: "sha256_too_long", identified: "WITH sha256_password BY '" + long(250) + "'", password: long(250), tooLong: true},
		{name: "from_sha256", identified: "WITH caching_sha2_password BY 'short'", password: "short", plugin: rawclient.SHA256},
		{name: "from_clear", identified: "WITH caching_sha2_password BY 'short'", password: "short", plugin: rawclient.ClearPassword},
	},
	servers.KindMariaDB: {
		{name: "native_empty", identified: "VIA mysql_native_password USING ''"},
		{name: "native", identified: "VIA mysql_native_password USING PASSWORD('short')", password: "short"},
		{name: "native_long", identified: "VIA mysql_native_password USING PASSWORD('" + long(300) + "')", password: long(300)},
		{name: "native_switched", identified: "VIA mysql_native_password USING PASSWORD('short')", password: "short", plugin: rawclient.CachingSHA2},
		{name: "ed25519", identified: "VIA ed25519 USING PASSWORD('short')", password: "short"},
		{name: "ed25519_long", identified: "VIA ed25519 USING PASSWORD('" + long(300) + "')", password: long(300)},
		{name: "first_of_two", identified: "VIA ed25519 USING PASSWORD('first') OR mysql_native_password USING PASSWORD('second')", password: "first"},
		{name: "second_of_two", identified: "VIA ed25519 USING PASSWORD('first') OR mysql_native_password USING PASSWORD('second')", password: "second"},
		{name: "socket_or_native", identified: "VIA unix_socket OR mysql_native_password USING PASSWORD('short')", password: "short"},
		{name: "pam", identified: "VIA pam USING '" + servers.PAMService + "'", password: servers.PAMPassword, clear: true},
		{name: "pam_default", identified: "VIA pam USING '" + servers.PAMService + "'", password: servers.PAMPassword, plugin: rawclient.Dialog, clear: true},
		{name: "pam_or_native", identified: "VIA mysql_native_password USING PASSWORD('short') OR pam USING '" + servers.PAMService + "'", password: "short", lastly: true},
		{name: "from_clear", identified: "VIA mysql_native_password USING PASSWORD('short')", password: "short", plugin: rawclient.ClearPassword},
		{name: "from_sha256", identified: "VIA mysql_native_password USING PASSWORD('short')", password: "short", plugin: rawclient.SHA256},
	},
}

// authLink is how a client reaches a server.
type authLink struct {
	name   string
	secure bool
	tls    *tls.Config
	unix   bool
}

// authStage is one server with TLS, and a sluice in front of it by a plain and by a
// verified link.
type authStage struct {
	server  *servers.Server
	sluices map[string]*authSluice // by the link to the server
	links   []authLink
}

type authSluice struct {
	*servers.Sluice
	socket string
	secure bool
}

func newAuthStage(t *testing.T, kind servers.Kind, options ...string) *authStage {
	t.Helper()
	authority := servers.NewAuthority(t)
	options = append(options, authority.ServerOptions(t)...)
	if kind == servers.KindMariaDB {
		options = append(options, servers.MariaDBPlugins(t, "auth_ed25519", "auth_pam_v1")...)
	}
	s := &authStage{server: servers.Fresh(t, kind, options...), sluices: map[string]*authSluice{}}
	cert, key := authority.Issue(t, "sluice", servers.Certificate{})
	for name, args := range map[string][]string{
		"plain": {"--backend", s.server.BackendURL()},
		"TLS":   {"--backend", s.server.BackendURL() + "?tls=true", "--backend-tls-ca", authority.CA},
	} {
		socket := filepath.Join(s.server.Dir, name)
		sluice := servers.StartSluice(t, s.server, append(args, "--listen", "unix:"+socket, "--tls-cert", cert, "--tls-key", key)...)
		s.sluices[name] = &authSluice{Sluice: sluice, socket: socket, secure: name == "TLS"}
	}
	s.links = []authLink{
		{name: "plain"},
		{name: "TLS", secure: true, tls: &tls.Config{RootCAs: authority.Pool(), ServerName: "localhost"}},
		{name: "socket", secure: true, unix: true},
	}
	for _, a := range authAccounts[kind] {
		s.server.Exec(t, fmt.Sprintf("CREATE USER %s@'%%' IDENTIFIED %s", a.name, a.identified), fmt.Sprintf("GRANT ALL ON test.* TO %s@'%%'", a.name))
	}
	return s
}

// forget empties the password cache of caching_sha2_password.
func (s *authStage) forget(t *testing.T) {
	t.Helper()
	if s.server.Kind == servers.KindMySQL {
		s.server.Exec(t, "FLUSH PRIVILEGES")
	}
}

// attempt logs in, or changes the user of a session of app, and returns the packets.
func attempt(t *testing.T, addr string, link authLink, a authAccount, password string, change bool) []string {
	t.Helper()
	options := rawclient.Options{User: a.name, Password: password, Schema: "test", Plugin: a.plugin, TLS: link.tls}
	if change {
		options = rawclient.Options{User: "app", Password: "app", Schema: "test", TLS: link.tls}
	}
	c, err := rawclient.Dial(addr, options)
	if c == nil {
		return []string{err.Error()}
	}
	defer func() { _ = c.Close() }()
	got := c.Login
	if change {
		require.NoError(t, err)
		if a.plugin != "" {
			c.UsePlugin(a.plugin)
		}
		reply, err := c.Do(c.ChangeUser(a.name, password, "test"))
		if err != nil {
			return []string{err.Error()}
		}
		got = reply
	}
	if len(got) > 0 && strings.Contains(got[len(got)-1], " OK ") {
		reply, err := c.Do(c.Query([]byte("SELECT CURRENT_USER(), DATABASE()")))
		require.NoError(t, err)
		got = append(got, reply...)
	} else if change {
		// What becomes of the connection is part of the outcome.
		reply, err := c.Do(rawclient.Simple(rawclient.ComPing, rawclient.OneReply))
		require.NoError(t, err)
		got = append(got, "ping: "+reply.String())
	}
	return got
}

// hosts are what a server calls the client, which differs by link.
var hosts = regexp.MustCompile(`'@'[^']*'`)

// outcome is the last word of an exchange without what depends on the way.
func outcome(packets []string) string {
	var kept []string
	for _, p := range packets {
		_, text, _ := strings.Cut(p, " ")
		if strings.HasPrefix(text, "OK ") || strings.HasPrefix(text, "ERR ") || strings.HasPrefix(p, "ping: ") || strings.HasPrefix(text, "ROW") {
			kept = append(kept, hosts.ReplaceAllString(text, "'@'HOST'"))
		}
	}
	if len(kept) == 0 {
		return strings.Join(packets, "\n")
	}
	return strings.Join(kept, "\n")
}

// TestLoginMatrix logs in to each kind of account by each kind of link to sluice and from
// there to the server, directly and through sluice, with the right and with wrong
// passwords, at login and by COM_CHANGE_USER. Where both links are of one kind, each
// packet is the same; where they differ, the outcome is.
func TestLoginMatrix(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newAuthStage(t, kind)
			for _, a := range authAccounts[kind] {
				for _, link := range s.links {
					for name, sluice := range s.sluices {
						for _, change := range []bool{false, true} {
							t.Run(fmt.Sprintf("%s/%s-%s/change=%v", a.name, link.name, name, change), func(t *testing.T) {
								if kind == servers.KindMariaDB { // no cache of passwords, and seconds of waiting after wrong ones
									t.Parallel()
								}
								s.compare(t, a, link, sluice, change)
							})
						}
					}
				}
			}
		})
	}
}

// TestClearPassword holds F064: what asks for the password as it is gets it over two secure
// links, and is refused otherwise, whatever plugin the client begins with.
func TestClearPassword(t *testing.T) {
	t.Parallel()
	s := newAuthStage(t, servers.KindMariaDB, "--pam-use-cleartext-plugin=ON")
	for _, plugin := range []string{"", rawclient.ClearPassword} {
		a := authAccount{name: "pam", password: servers.PAMPassword, plugin: plugin, clear: true}
		for _, link := range s.links {
			for name, sluice := range s.sluices {
				for _, change := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s-%s/change=%v", plugin, link.name, name, change), func(t *testing.T) {
						t.Parallel()
						s.compare(t, a, link, sluice, change)
					})
				}
			}
		}
	}
}

func (s *authStage) compare(t *testing.T, a authAccount, link authLink, sluice *authSluice, change bool) {
	direct, proxied := s.server.Addr, sluice.Addr
	if link.unix {
		direct, proxied = s.server.Socket, sluice.socket
	}
	if a.tooLong && link.tls == nil {
		return // no client can send it without TLS
	}
	passwords := []string{a.password, "wrong"}
	if s.server.Kind == servers.KindMySQL {
		passwords = []string{a.password, a.password, "wrong", ""} // twice: the server's cache knows it then
	}
	s.forget(t)
	var want [][]string
	for _, p := range passwords {
		want = append(want, attempt(t, direct, link, a, p, change))
	}
	if !a.clear || link.secure {
		require.Contains(t, outcome(want[0]), "OK ", "directly, with the right password")
	}
	s.forget(t)
	for i, p := range passwords {
		got := attempt(t, proxied, link, a, p, change)
		switch {
		case (a.clear || a.lastly && p != a.password) && !(link.secure && sluice.secure):
			require.Contains(t, outcome(got), "ERR 1045 28000 \"sluice: Access denied: the server wants the password in the clear", "password %q", p)
		case a.tooLong && p == a.password && !sluice.secure && i == 0:
			require.Contains(t, outcome(got), "ERR 1045 28000 \"sluice: Access denied: the password is too long", "password %q", p)
			return
		case link.secure == sluice.secure && !link.unix:
			require.Equal(t, want[i], got, "password %q", p)
		default:
			require.Equal(t, outcome(want[i]), outcome(got), "password %q", p)
		}
	}
}
