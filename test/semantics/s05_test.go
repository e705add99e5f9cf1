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
)

// TestS05WhatPrepareDoesNotCheck: rights that end in the middle of a burst end the
// batching of the rows that needed them.
func TestS05WhatPrepareDoesNotCheck(t *testing.T) {
	each(t, func(s *stage) {
		s.root("CREATE TABLE t (a INT PRIMARY KEY, b INT)")
		s.revoked()
		s.roleSetToNone()
		s.changedUser()
		s.excessiveServiceAccount()
	})
}

const into = "INSERT INTO t (a, b) VALUES (%d, 1)"

// revoked: through sluice a REVOKE holds at once, past it from the next window on.
func (s *stage) revoked() {
	s.Helper()
	m := s.user("m", "SELECT, INSERT ON "+s.schema+".t") // a schema's grants hold until the next USE
	grant := "GRANT INSERT ON " + s.schema + ".t TO " + m + "@'%'"
	revoke := "REVOKE INSERT ON " + s.schema + ".t FROM " + m + "@'%'"
	admin := s.connect(s.sluice.DSN("root", "", s.schema))
	for i, end := range []func(){
		func() { admin.exec(revoke) },
		func() {
			s.server.Exec(s.T, revoke)
			s.flush()
		},
		func() {
			s.server.Exec(s.T, revoke, "GRANT INSERT (b) ON "+s.schema+".t TO "+m+"@'%'")
			s.flush()
		},
	} {
		c := s.through(m)
		c.warm(into)
		c.holds(fmt.Sprintf(into, i))
		end()
		for k := range 20 {
			_, err := c.try(fmt.Sprintf(into, 1000+k))
			require.Contains(s, []uint16{1142, 1143}, errno(err), "insert %d after revocation %d: %v", k, i, err)
		}
		s.flush()
		c.close()
		s.server.Exec(s.T, grant)
	}
	require.Zero(s, len(s.stored("SELECT a FROM t WHERE a BETWEEN 1000 AND 1100")))
	require.Equal(s, []string{"0", "1", "2"}, s.stored("SELECT a FROM t WHERE a < 1000"))
}

// roleSetToNone: a role is given up within one window.
func (s *stage) roleSetToNone() {
	s.Helper()
	m := s.user("n", "SELECT ON "+s.schema+".*")
	role := "role_" + m
	s.server.Exec(s.T, "DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role, "GRANT INSERT ON "+s.schema+".* TO "+role, "GRANT "+role+" TO "+m+"@'%'")
	s.Cleanup(func() { s.server.Exec(s.T, "DROP ROLE "+role) })
	for i, drop := range []string{"SET ROLE NONE", "/*!50000 SET ROLE NONE */", "SELECT 1; SET ROLE NONE", "PREPARE r FROM 'SET ROLE NONE'; EXECUTE r"} {
		if s.server.Kind == servers.KindMySQL && i == 3 {
			continue // cannot be prepared there
		}
		c := s.through(m)
		c.exec("SET ROLE " + role)
		c.warm(into)
		c.holds(fmt.Sprintf(into, 2000+i))
		c.exec(drop)
		for k := range 20 {
			c.fails(1142, fmt.Sprintf(into, 3000+k))
		}
		c.exec("SET ROLE " + role)
		c.warm(into)
		c.close()
	}
	s.flush()
	require.Zero(s, len(s.stored("SELECT a FROM t WHERE a BETWEEN 3000 AND 3100")))
}

// changedUser: the connection goes on as somebody who may only read.
func (s *stage) changedUser() {
	s.Helper()
	writer, reader := s.user("w", "SELECT, INSERT ON "+s.schema+".*"), s.user("r", "SELECT ON "+s.schema+".*")
	warm := s.direct(reader) // MySQL's password cache
	warm.close()
	warm = s.direct(writer)
	warm.close()
	c, err := rawclient.Dial(s.sluice.Addr, rawclient.Options{User: writer, Password: writer, Schema: s.schema})
	require.NoError(s, err)
	defer func() { _ = c.Close() }()
	s.rawBatches(c, "DO 1", 6000)
	reply, err := c.Do(c.ChangeUser(reader, reader, s.schema))
	require.NoError(s, err)
	require.False(s, reply.Failed(), "%s", reply)
	s.rawRefused(c, 7000)
	s.flush()
	require.Zero(s, len(s.stored("SELECT a FROM t WHERE a BETWEEN 7000 AND 7100")))
}

// rawBatches inserts until rows are batched.
func (s *stage) rawBatches(c *rawclient.Client, first string, from int) {
	s.Helper()
	reply, err := c.Do(c.Query([]byte(first)))
	require.NoError(s, err)
	require.False(s, reply.Failed(), "%s", reply)
	before := s.metric(batched)
	for k := range 100 {
		reply, err := c.Do(c.Query(fmt.Appendf(nil, into, from+k)))
		require.NoError(s, err)
		require.False(s, reply.Failed(), "%s", reply)
	}
	require.Greater(s, s.metric(batched), before+20, "%v", s.relayedFor())
}

func (s *stage) rawRefused(c *rawclient.Client, from int) {
	s.Helper()
	for k := range 20 {
		reply, err := c.Do(c.Query(fmt.Appendf(nil, into, from+k)))
		require.NoError(s, err)
		require.Contains(s, reply.String(), "ERR 1142")
	}
}

// excessiveServiceAccount: one that could write past read_only or connection limits
// is refused at the start.
func (s *stage) excessiveServiceAccount() {
	s.Helper()
	grants := []string{"SUPER ON *.*", "CONNECTION_ADMIN ON *.*", "ALL ON *.*"}
	if s.server.Kind == servers.KindMariaDB {
		grants = []string{"SUPER ON *.*", "READ_ONLY ADMIN ON *.*", "CONNECTION ADMIN ON *.*", "ALL ON *.*"}
	}
	for i, g := range grants {
		svc := s.service(g)
		dir, err := os.MkdirTemp("", "sluice-s05-")
		require.NoError(s, err)
		command := exec.Command(servers.Binary(s.T), "serve", "--backend", "mysql://"+svc+"@"+s.server.Addr+"/",
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
