package semantics

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// TestS05WhatPrepareDoesNotCheck: rights that end in the middle of a burst end the
// batching of the rows that needed them.
func TestS05WhatPrepareDoesNotCheck(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		s.Root("CREATE TABLE t (a INT PRIMARY KEY, b INT)")
		revoked(s)
		roleSetToNone(s)
		changedUser(s)
		excessiveServiceAccount(s)
	})
}

const into = "INSERT INTO t (a, b) VALUES (%d, 1)"

// revoked: through sluice a REVOKE holds at once, past it from the next window on.
func revoked(s *stage.Stage) {
	s.Helper()
	m := s.User("m", "SELECT, INSERT ON "+s.Schema+".t") // a schema's grants hold until the next USE
	grant := "GRANT INSERT ON " + s.Schema + ".t TO " + m + "@'%'"
	revoke := "REVOKE INSERT ON " + s.Schema + ".t FROM " + m + "@'%'"
	admin := s.Through("root")
	for i, end := range []func(){
		func() { admin.Exec(revoke) },
		func() {
			s.Server.Exec(s.T, revoke)
			s.Flush()
		},
		func() {
			s.Server.Exec(s.T, revoke, "GRANT INSERT (b) ON "+s.Schema+".t TO "+m+"@'%'")
			s.Flush()
		},
	} {
		c := s.Through(m)
		c.Warm(into)
		c.Holds(fmt.Sprintf(into, i))
		end()
		for k := range 20 {
			_, err := c.Try(fmt.Sprintf(into, 1000+k))
			require.Contains(s, []uint16{1142, 1143}, stage.Errno(err), "insert %d after revocation %d: %v", k, i, err)
		}
		s.Flush()
		c.Close()
		s.Server.Exec(s.T, grant)
	}
	require.Zero(s, len(s.Stored("SELECT a FROM t WHERE a BETWEEN 1000 AND 1100")))
	require.Equal(s, []string{"0", "1", "2"}, s.Stored("SELECT a FROM t WHERE a < 1000"))
}

// roleSetToNone: a role is given up within one window.
func roleSetToNone(s *stage.Stage) {
	s.Helper()
	m := s.User("n", "SELECT ON "+s.Schema+".*")
	role := "role_" + m
	s.Server.Exec(s.T, "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role, "GRANT INSERT ON "+s.Schema+".* TO "+role, "GRANT "+role+" TO "+m+"@'%'")
	s.Cleanup(func() { s.Server.Exec(s.T, "DROP ROLE "+role) })
	for i, drop := range []string{"SET ROLE NONE", "/*!50000 SET ROLE NONE */", "SELECT 1; SET ROLE NONE", "PREPARE r FROM 'SET ROLE NONE'; EXECUTE r"} {
		if s.Server.Kind == servers.KindMySQL && i == 3 {
			continue // cannot be prepared there
		}
		c := s.Through(m)
		c.Exec("SET ROLE " + role)
		c.Warm(into)
		c.Holds(fmt.Sprintf(into, 2000+i))
		c.Exec(drop)
		for k := range 20 {
			c.Fails(1142, fmt.Sprintf(into, 3000+k))
		}
		c.Exec("SET ROLE " + role)
		c.Warm(into)
		c.Close()
	}
	s.Flush()
	require.Zero(s, len(s.Stored("SELECT a FROM t WHERE a BETWEEN 3000 AND 3100")))
}

// changedUser: the connection goes on as somebody who may only read.
func changedUser(s *stage.Stage) {
	s.Helper()
	writer, reader := s.User("w", "SELECT, INSERT ON "+s.Schema+".*"), s.User("r", "SELECT ON "+s.Schema+".*")
	warm := s.Direct(reader) // MySQL's password cache
	warm.Close()
	warm = s.Direct(writer)
	warm.Close()
	c, err := rawclient.Dial(s.Sluice.Addr, rawclient.Options{User: writer, Password: writer, Schema: s.Schema})
	require.NoError(s, err)
	defer func() { _ = c.Close() }()
	rawBatches(s, c, "DO 1", 6000)
	reply, err := c.Do(c.ChangeUser(reader, reader, s.Schema))
	require.NoError(s, err)
	require.False(s, reply.Failed(), "%s", reply)
	rawRefused(s, c, 7000)
	s.Flush()
	require.Zero(s, len(s.Stored("SELECT a FROM t WHERE a BETWEEN 7000 AND 7100")))
}

// rawBatches inserts until rows are batched.
func rawBatches(s *stage.Stage, c *rawclient.Client, first string, from int) {
	s.Helper()
	reply, err := c.Do(c.Query([]byte(first)))
	require.NoError(s, err)
	require.False(s, reply.Failed(), "%s", reply)
	before := s.Metric(stage.Batched)
	for k := range 100 {
		reply, err := c.Do(c.Query(fmt.Appendf(nil, into, from+k)))
		require.NoError(s, err)
		require.False(s, reply.Failed(), "%s", reply)
	}
	require.Greater(s, s.Metric(stage.Batched), before+20, "%v", s.RelayedFor())
}

func rawRefused(s *stage.Stage, c *rawclient.Client, from int) {
	s.Helper()
	for k := range 20 {
		reply, err := c.Do(c.Query(fmt.Appendf(nil, into, from+k)))
		require.NoError(s, err)
		require.Contains(s, reply.String(), "ERR 1142")
	}
}

// excessiveServiceAccount: one that could write past read_only or connection limits
// is refused at the start.
func excessiveServiceAccount(s *stage.Stage) {
	s.Helper()
	grants := []string{"SUPER ON *.*", "CONNECTION_ADMIN ON *.*", "ALL ON *.*"}
	if s.Server.Kind == servers.KindMariaDB {
		grants = []string{"SUPER ON *.*", "READ_ONLY ADMIN ON *.*", "CONNECTION ADMIN ON *.*", "ALL ON *.*"}
	}
	for i, g := range grants {
		svc := s.Service(g)
		dir, err := os.MkdirTemp("", "sluice-s05-")
		require.NoError(s, err)
		command := exec.Command(servers.Binary(s.T), "serve", "--backend", s.BackendURL(svc),
			"--listen", "unix:"+dir+"/listen", "--data-dir", dir+"/data", "--drain-timeout", "1s")
		command.Env = append(os.Environ(), "SLUICE_BACKEND_PASSWORD="+servers.ServicePassword)
		stop := time.AfterFunc(10*time.Second, func() { _ = command.Process.Kill() })
		out, err := command.CombinedOutput()
		stop.Stop()
		require.NoError(s, os.RemoveAll(dir))
		var exit *exec.ExitError
		require.ErrorAs(s, err, &exit, "serve with %s\n%s", grants[i], out)
		require.NotEqual(s, -1, exit.ExitCode(), "serve with %s ran until it was killed\n%s", grants[i], out)
	}
}
