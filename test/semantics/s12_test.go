package semantics

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// TestS12LostCheckpoints: a server that does not have what sluice recorded there (its
// data was restored, its checkpoint table emptied or dropped) is refused with what to
// do, and not loaded as if nothing had happened; what the user then decides is done.
func TestS12LostCheckpoints(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, servers.Fresh(t, kind))
			s.sluice = servers.StartSluice(t, s.server, heldBack...)
			s.root("CREATE TABLE a (x INT PRIMARY KEY)")
			loader := s.through("app")
			loader.warm("INSERT INTO a VALUES (%d)")
			loader.close()
			s.flush()
			rows := s.count("a")
			for _, lose := range []string{"DELETE FROM sluice.applied", "DROP TABLE sluice.applied"} {
				s.sluice.Stop(t)
				s.server.Exec(t, lose)
				status, output := servers.RunSluice(t, "check", "--backend", s.server.BackendURL(), "--data-dir", s.sluice.DataDir, "--listen", "127.0.0.1:0")
				require.Equal(t, 1, status, output)
				require.Contains(t, output, "not the server, or not its data", lose)
				s.sluice.Begin(t)
				require.Eventually(t, func() bool { return !running(s.sluice.PID) }, 20*time.Second, 20*time.Millisecond, lose)
				require.Contains(t, s.sluice.Log(5), "not the server, or not its data, that sluice loaded before", lose)
				require.NoError(t, os.Remove(filepath.Join(s.sluice.DataDir, "server")), lose)
				for range 2 { // the decision holds
					s.sluice.Kill9(t)
					s.sluice.Restart(t)
				}
				require.Equal(t, rows, s.count("a"), lose)
			}
			status, output := servers.RunSluice(t, "check", "--backend", s.server.BackendURL(), "--data-dir", s.sluice.DataDir, "--listen", "127.0.0.1:0")
			require.Equal(t, 1, status, output)
			require.Contains(t, output, "in use by another sluice process")
			loader = s.through("app")
			loader.warm("INSERT INTO a VALUES (1000 + %d)")
			s.flush()
			require.Greater(t, s.count("a"), rows)
		})
	}
}

// running says whether a child process still runs: one that has ended is a zombie
// until it is waited for.
func running(pid int) bool {
	_, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return err == nil
}
