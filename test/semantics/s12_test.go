package semantics

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// TestS12LostCheckpoints: a server that does not have what sluice recorded there (its
// data was restored, its checkpoint table emptied or dropped) is refused with what to
// do, and not loaded as if nothing had happened; what the user then decides is done.
func TestS12LostCheckpoints(t *testing.T) {
	stage.EachFresh(t, func(s *stage.Stage) {
		s.Root("CREATE TABLE a (x INT PRIMARY KEY)")
		loader := s.Through("app")
		loader.Warm("INSERT INTO a VALUES (%d)")
		loader.Close()
		s.Flush()
		rows := s.Count("a")
		for _, lose := range []string{"DELETE FROM sluice.applied", "DROP TABLE sluice.applied"} {
			s.Sluice.Stop(s)
			s.Server.Exec(s.T, lose)
			status, output := servers.RunSluice(s.T, "check", "--backend", s.Server.BackendURL(), "--data-dir", s.Sluice.DataDir, "--listen", "127.0.0.1:0")
			require.Equal(s, 1, status, output)
			require.Contains(s, output, "not the server, or not its data", lose)
			s.Sluice.Begin(s)
			require.Eventually(s, func() bool { return !running(s.Sluice.PID) }, time.Minute, 20*time.Millisecond, lose)
			require.Contains(s, s.Sluice.Log(5), "not the server, or not its data, that sluice loaded before", lose)
			require.NoError(s, os.Remove(filepath.Join(s.Sluice.DataDir, "server")), lose)
			for range 2 { // the decision holds
				s.Sluice.Kill9(s)
				s.Sluice.Restart(s)
			}
			require.Equal(s, rows, s.Count("a"), lose)
		}
		status, output := servers.RunSluice(s.T, "check", "--backend", s.Server.BackendURL(), "--data-dir", s.Sluice.DataDir, "--listen", "127.0.0.1:0")
		require.Equal(s, 1, status, output)
		require.Contains(s, output, "in use by another sluice process")
		loader = s.Through("app")
		loader.Warm("INSERT INTO a VALUES (1000 + %d)")
		s.Flush()
		require.Greater(s, s.Count("a"), rows)
	})
}

// running says whether a child process still runs: one that has ended is a zombie
// until it is waited for.
func running(pid int) bool {
	_, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	return err == nil
}
