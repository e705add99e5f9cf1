package compat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestFullAuthentication logs in with an account that the server's password
// cache does not know, without TLS: the password travels under the server's
// RSA key. Once known, the login is the fast one.
func TestFullAuthentication(t *testing.T) {
	t.Parallel()
	server := servers.MySQL(t)
	sluice := servers.SharedSluice(t, servers.KindMySQL)
	server.Exec(t, "DROP USER IF EXISTS newcomer@'%'",
		"CREATE USER newcomer@'%' IDENTIFIED WITH caching_sha2_password BY 'a rather long pass phrase, longer than a nonce'",
		"GRANT ALL ON test.* TO newcomer@'%'")
	t.Cleanup(func() { server.Exec(t, "DROP USER newcomer@'%'") })
	login := func(addr, password string) []string {
		c, err := rawclient.Dial(addr, rawclient.Options{User: "newcomer", Password: password, Schema: "test"})
		if c == nil {
			t.Fatal(err)
		}
		require.NoError(t, c.Close())
		return c.Login
	}
	const right = "a rather long pass phrase, longer than a nonce"
	forget := func() { server.Exec(t, "ALTER USER newcomer@'%' IDENTIFIED BY '"+right+"'") }

	for _, password := range []string{"wrong", "", right, right, "wrong", right} {
		direct := login(server.Addr, password)
		if password == right {
			require.Contains(t, direct[len(direct)-1], " OK ")
		}
	}
	for _, round := range []struct{ password, want string }{
		{"wrong", "PUBLIC KEY"},
		{right, "PUBLIC KEY"},
		{right, "FAST AUTH OK"},
		{"wrong", "PUBLIC KEY"},
		{"", "ERR 1045"},
		{right, "FAST AUTH OK"},
	} {
		if round.password == right && round.want == "PUBLIC KEY" {
			forget()
		}
		direct := login(server.Addr, round.password)
		if round.password == right && round.want == "PUBLIC KEY" {
			forget()
		}
		proxied := login(sluice.Addr, round.password)
		require.Equal(t, direct, proxied)
		if !strings.Contains(strings.Join(proxied, "\n"), round.want) && round.password != "wrong" {
			t.Errorf("password %q: %q, want %s", round.password, proxied, round.want)
		}
	}
}

// TestServiceAccountIsClosed holds S03: nobody logs in through sluice as the
// service account, even with its password.
func TestServiceAccountIsClosed(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		options := rawclient.Options{User: "sluice_svc", Password: servers.ServicePassword}
		direct, err := rawclient.Dial(server.Addr, options)
		require.NoError(t, err)
		require.NoError(t, direct.Close())
		proxied, err := rawclient.Dial(sluice.Addr, options)
		require.ErrorIs(t, err, rawclient.ErrRefused)
		require.NoError(t, proxied.Close())
	})
}

// TestKill holds that the thread id in the greeting is the backend's: KILL of
// it ends the session, and the client sees what a direct one sees.
func TestKill(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		killed := func(addr, kill, query string) rawclient.Reply {
			c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: "test"})
			require.NoError(t, err)
			defer func() { _ = c.Close() }()
			command := c.Query([]byte(query))
			require.NoError(t, c.Send(command))
			killThread(t, server, kill, c.Greeting.ThreadID)
			reply, err := c.Receive(command)
			require.NoError(t, err)
			after, err := c.Do(c.Query([]byte("SELECT 1")))
			require.NoError(t, err)
			return append(reply, after...)
		}
		for _, kill := range []string{"KILL", "KILL QUERY"} {
			const query = "SELECT * FROM information_schema.schemata WHERE SLEEP(30) = 0"
			direct := killed(server.Addr, kill, query)
			require.Equal(t, direct, killed(sluice.Addr, kill, query), kill)
		}
	})
}

// killThread kills once the thread is seen to run its query.
func killThread(t *testing.T, server *servers.Server, kill string, id uint32) {
	t.Helper()
	db := server.Open(t)
	require.Eventually(t, func() bool {
		var running int
		err := db.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE id=? AND state LIKE 'User sleep'", id).Scan(&running)
		return err == nil && running == 1
	}, rawclient.Deadline, 20*time.Millisecond)
	_, err := db.Exec(fmt.Sprintf("%s %d", kill, id))
	require.NoError(t, err)
}
