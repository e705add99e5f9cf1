package logins

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// way is how a client gets to the server.
type way struct {
	tls     bool // of the client's link
	sluice  bool // directly if not
	backend bool // TLS from sluice to the server
}

var ways = []way{
	{}, {tls: true},
	{sluice: true}, {sluice: true, backend: true}, {tls: true, sluice: true}, {tls: true, sluice: true, backend: true},
}

func (w way) String() string {
	word := map[bool]string{true: "TLS", false: "plain"}
	if w.sluice {
		return word[w.tls] + ">" + word[w.backend]
	}
	return word[w.tls]
}

// direct is the way that a way through sluice is measured by.
func (w way) direct() way { return way{tls: w.tls} }

// matrix holds what became of each login.
type matrix struct {
	kind  servers.Kind
	cells map[cell]answer
}

type cell struct {
	client, account string
	way             way
}

// stage is a server with TLS and a sluice in front of it by a plain link, and one by TLS.
type stage struct {
	server *servers.Server
	ca     string
	addrs  map[way]string
}

func newStage(t *testing.T, kind servers.Kind) *stage {
	t.Helper()
	authority := servers.NewAuthority(t)
	options := authority.ServerOptions(t)
	if kind == servers.KindMariaDB {
		options = append(options, servers.MariaDBPlugins(t, "auth_ed25519", "auth_pam_v1")...)
	}
	s := &stage{server: servers.Fresh(t, kind, options...), ca: authority.CA, addrs: map[way]string{}}
	cert, key := authority.Issue(t, "sluice", servers.Certificate{})
	plain := servers.StartSluice(t, s.server, "--tls-cert", cert, "--tls-key", key)
	encrypted := servers.StartSluice(t, s.server, "--tls-cert", cert, "--tls-key", key,
		"--backend", s.server.BackendURL()+"?tls=skip-verify")
	for _, w := range ways {
		switch {
		case !w.sluice:
			s.addrs[w] = s.server.Addr
		case w.backend:
			s.addrs[w] = encrypted.Addr
		default:
			s.addrs[w] = plain.Addr
		}
	}
	for _, a := range accounts[kind] {
		if a.identified != "" {
			s.server.Exec(t, fmt.Sprintf("CREATE USER %s@'%%' IDENTIFIED %s", a.user, a.identified))
		}
	}
	return s
}

// attempt has a client log in and holds what it says against what the tap saw.
func (s *stage) attempt(t *testing.T, c client, do func(login) answer, a account, w way) answer {
	t.Helper()
	var before func()
	if a.before != nil {
		before = func() { a.before(t, s.server, a) }
	}
	tap := newTap(t, s.addrs[w], before)
	got := do(login{addr: tap.addr, user: a.user, password: a.password, tls: w.tls, compress: a.compress})
	seen := tap.end()
	require.True(t, seen.connected, "no greeting: %s", got)
	got.text = scrub(got.text, tap.addr)
	if !got.ok {
		return got
	}
	require.Equal(t, a.user+"@%", got.user)
	require.Equal(t, fmt.Sprint(seen.thread), got.thread, "the id of the greeting is the server's")
	require.Equal(t, w.tls, seen.encrypted)
	if !w.tls {
		require.Equal(t, a.compress, seen.compressed)
		require.Equal(t, a.full, seen.full, "caching_sha2_password asks for the password")
	}
	return got
}

var connection = regexp.MustCompile(`\bconn[:=] ?-?\d+|no: \d+`)

// scrub takes from an error's text what is another one at each login.
func scrub(text, addr string) string {
	_, port, _ := strings.Cut(addr, ":")
	return connection.ReplaceAllString(strings.ReplaceAll(text, port, "PORT"), "conn=N")
}

// run fills the lines of one client.
func (m *matrix) run(t *testing.T, s *stage, c client) {
	do := c.start(t, s.ca)
	for _, a := range accounts[m.kind] {
		if a.compress && !c.compresses {
			continue
		}
		for _, w := range ways {
			got := s.attempt(t, c, do, a, w)
			m.cells[cell{c.name, a.name, w}] = got
			if !w.sluice {
				continue
			}
			direct := m.cells[cell{c.name, a.name, w.direct()}]
			if got.ok != direct.ok || got.code != direct.code || got.text != direct.text {
				if differs(a, w, direct, got) == "" {
					t.Errorf("%s, %s, %s\ndirectly        %s\nthrough sluice  %s", c.name, a.name, w, direct, got)
				}
			}
		}
	}
}
