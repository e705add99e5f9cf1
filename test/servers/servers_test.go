package servers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

// TestSharedServer checks what other tests build on: the accounts, their
// passwords and plug-ins, and that the shared server is started once.
func TestSharedServer(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, s *Server) {
		require.Same(t, s, Shared(t, s.Kind))
		s.Exec(t, "DROP TABLE IF EXISTS test.servers", "CREATE TABLE test.servers (a INT)")
		for _, login := range [][2]string{{"app", "app"}, {"sluice_svc", "svc"}, {"nopassword", ""}} {
			db := openDB(t, s.DSN(login[0], login[1], "test"))
			_, err := db.Exec("INSERT INTO servers VALUES (1)")
			require.NoError(t, err, "user %s", login[0])
		}
		_, err := openDB(t, s.DSN("sluice_svc", "svc", "sluice")).Exec("CREATE TABLE IF NOT EXISTS probe (a INT)")
		require.NoError(t, err)
		_, err = openDB(t, s.DSN("app", "wrong", "test")).Exec("DO 1")
		require.ErrorContains(t, err, "1045")
		var plugin string
		require.NoError(t, s.Open(t).QueryRow("SELECT plugin FROM mysql.user WHERE user='app'").Scan(&plugin))
		want := map[Kind]string{KindMariaDB: "mysql_native_password", KindMySQL: "caching_sha2_password"}
		require.Equal(t, want[s.Kind], plugin)
	})
}

// TestFreshServer checks options, a crash and a restart with the data kept.
func TestFreshServer(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := Fresh(t, kind, "--innodb-buffer-pool-size=16M", "--max-allowed-packet=2M")
			var packet, pool int
			require.NoError(t, s.Open(t).QueryRow(
				"SELECT @@max_allowed_packet, @@innodb_buffer_pool_size").Scan(&packet, &pool))
			require.Equal(t, 2<<20, packet)
			require.Equal(t, 16<<20, pool)
			s.Exec(t, "CREATE TABLE test.kept (a INT)", "INSERT INTO test.kept VALUES (42)")
			pid := s.PID
			s.Kill9(t)
			s.Restart(t)
			require.NotEqual(t, pid, s.PID)
			var kept int
			require.NoError(t, s.Open(t).QueryRow("SELECT a FROM test.kept").Scan(&kept))
			require.Equal(t, 42, kept)
		})
	}
}

// TestMissingServerFails holds the promise that a missing server is an error
// that names the installer, never a skip.
func TestMissingServerFails(t *testing.T) {
	t.Setenv(MySQLRootEnv, t.TempDir())
	started := time.Now()
	_, err := start(KindMySQL, nil)
	require.ErrorContains(t, err, ".ci/install")
	require.Less(t, time.Since(started), 5*time.Second)
}
