package semantics

import (
	"os/user"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// TestS03SocketPeerAccounts: sluice's own uid vouches for nobody, and the service
// account is closed to clients.
func TestS03SocketPeerAccounts(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		serviceAccountIsClosed(s)
		noSocketPeers(s)
	})
}

// serviceAccountIsClosed tries the account with its password under every spelling
// that the server takes for it.
func serviceAccountIsClosed(s *stage.Stage) {
	s.Helper()
	current := func(c *rawclient.Client) string {
		reply, err := c.Do(c.Query([]byte("SELECT CURRENT_USER()")))
		require.NoError(s, err)
		return reply.String()
	}
	spellings := []string{"sluice_svc", "'sluice_svc'", "\"sluice_svc\"", "sluice_svc ", " sluice_svc", "SLUICE_SVC", "sluice_svc\x00x"}
	for _, name := range spellings {
		for _, charset := range []byte{0, 8, 32, 10} { // utf8mb4, latin1, armscii8, swe7
			c, err := rawclient.Dial(s.Sluice.Addr, rawclient.Options{User: name, Password: servers.ServicePassword, Charset: charset})
			if err != nil {
				if c != nil {
					_ = c.Close()
				}
				continue
			}
			require.NotContains(s, current(c), "sluice_svc", "login as %q", name)
			_ = c.Close()
		}
	}
	// A command whose reply has no end must not open a way past the checks.
	c, err := rawclient.Dial(s.Sluice.Addr, rawclient.Options{User: "app", Password: "app"})
	require.NoError(s, err)
	_, err = c.Do(rawclient.Simple(rawclient.ComBinlogDump, rawclient.OneReply, make([]byte, 10)...))
	require.NoError(s, err)
	if _, err := c.Do(c.ChangeUser("sluice_svc", servers.ServicePassword, "")); err == nil {
		reply, err := c.Do(c.Query([]byte("SELECT CURRENT_USER()")))
		require.NoError(s, err)
		require.NotContains(s, reply.String(), "sluice_svc", "COM_CHANGE_USER behind COM_BINLOG_DUMP")
	}
	_ = c.Close()
	for _, name := range spellings {
		for _, padding := range []int{0, 100, 20 << 10, 100 << 10, 1 << 20} {
			c, err := rawclient.Dial(s.Sluice.Addr, rawclient.Options{User: "app", Password: "app"})
			require.NoError(s, err)
			command := c.ChangeUser(name, servers.ServicePassword, "")
			command.Payload = append(command.Payload, make([]byte, padding)...)
			if _, err := c.Do(command); err == nil {
				reply, err := c.Do(c.Query([]byte("SELECT CURRENT_USER()")))
				if err == nil {
					require.NotContains(s, reply.String(), "sluice_svc", "COM_CHANGE_USER to %q with %d bytes more", name, padding)
				}
			}
			_ = c.Close()
		}
	}
	// Directly, the account works: the attempts above were not idle.
	c, err = rawclient.Dial(s.Server.Addr, rawclient.Options{User: "sluice_svc", Password: servers.ServicePassword})
	require.NoError(s, err)
	require.Contains(s, current(c), "sluice_svc")
	_ = c.Close()
	c, err = rawclient.Dial(s.Server.Addr, rawclient.Options{User: "app", Password: "app"})
	require.NoError(s, err)
	_, err = c.Do(c.ChangeUser("sluice_svc", servers.ServicePassword, ""))
	require.NoError(s, err)
	require.Contains(s, current(c), "sluice_svc")
	_ = c.Close()
}

// noSocketPeers reaches the backend by its socket, once without and once with an
// account that the server would open to sluice's uid.
func noSocketPeers(s *stage.Stage) {
	s.Helper()
	self, err := user.Current()
	require.NoError(s, err)
	plugin := "IDENTIFIED VIA unix_socket"
	if s.Server.Kind == servers.KindMySQL {
		plugin = "IDENTIFIED WITH auth_socket"
		db := s.Server.Open(s.T)
		_, err := db.Exec("INSTALL PLUGIN auth_socket SONAME 'auth_socket.so'")
		require.True(s, err == nil || strings.Contains(err.Error(), "already exists") || stage.Errno(err) == 1125, "%v", err)
	}
	peer := "'" + self.Username + "'@localhost"
	s.Server.Exec(s.T, "DROP USER IF EXISTS "+peer)
	svc := s.Service("SELECT ON mysql.*")
	sluice := servers.StartSluice(s.T, s.Server, "--backend", "mysql://"+svc+"@unix("+s.Server.Socket+")/")
	login := func() error {
		c, err := rawclient.Dial(sluice.Addr, rawclient.Options{User: self.Username, Plugin: "auth_socket"})
		if c != nil {
			_ = c.Close()
		}
		return err
	}
	ordinary := func() error {
		c, err := rawclient.Dial(sluice.Addr, rawclient.Options{User: "app", Password: "app"})
		if c != nil {
			_ = c.Close()
		}
		return err
	}
	require.NoError(s, ordinary(), "without such accounts the socket is a way")
	s.Server.Exec(s.T, "CREATE USER "+peer+" "+plugin, "GRANT ALL ON *.* TO "+peer)
	s.Cleanup(func() { s.Server.Exec(s.T, "DROP USER IF EXISTS "+peer) })
	direct, err := rawclient.Dial(s.Server.Socket, rawclient.Options{User: self.Username})
	require.NoError(s, err, "directly the uid vouches")
	_ = direct.Close()
	err = login()
	require.Error(s, err, "a TCP client got in as sluice's own uid")
}
