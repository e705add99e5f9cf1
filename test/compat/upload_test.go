package compat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// file is what a client uploads: lines of a number and a text, with something happening
// in the middle.
type file struct {
	lines, sent int
	middle      func()
	rest        []byte
}

func (f *file) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		if f.sent == f.lines {
			return 0, io.EOF
		}
		if f.sent++; f.sent == f.lines/2 && f.middle != nil {
			f.middle()
		}
		f.rest = fmt.Appendf(nil, "%d\t%s\n", f.sent, bytes.Repeat([]byte{'u'}, 2000))
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// upload has a session load 10 MiB among ordinary rows. It returns the error, how many
// lines were sent, and the first error after it. A trigger refuses a line if middle,
// which runs at half of the file, is nil.
func upload(t *testing.T, server *servers.Server, dsn string, middle func()) (failed error, sent int, after error) {
	t.Helper()
	server.Exec(t, "DROP DATABASE IF EXISTS test_f077", "CREATE DATABASE test_f077",
		"CREATE TABLE test_f077.t (id INT PRIMARY KEY, s TEXT)",
		"CREATE TRIGGER test_f077.g BEFORE INSERT ON test_f077.t FOR EACH ROW"+
			" IF NEW.id = 1000 AND @fail = 1 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the cause'; END IF")
	db, err := servers.OpenPool(dsn)
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	exec := func(sql string) error { _, err := conn.ExecContext(t.Context(), sql); return err }
	for i := range 50 {
		require.NoError(t, exec(fmt.Sprintf("INSERT INTO t VALUES (%d, 'ordinary')", 100000+i)))
	}
	f := &file{lines: 5000, middle: middle}
	if middle == nil {
		require.NoError(t, exec("SET @fail = 1"))
	}
	name := "f077_" + t.Name()
	mysql.RegisterReaderHandler(name, func() io.Reader { return f })
	defer mysql.DeregisterReaderHandler(name)
	failed = exec("LOAD DATA LOCAL INFILE 'Reader::" + name + "' REPLACE INTO TABLE t")
	for i := range 50 {
		if after = exec(fmt.Sprintf("INSERT INTO t VALUES (%d, 'ordinary')", 200000+i)); after != nil {
			break
		}
	}
	return failed, f.sent, after
}

// TestF077 has something go wrong in the middle of an upload: the client uploads to the
// end, gets the cause, and goes on if it could directly. For a server that is killed see
// killedInUpload.
func TestF077(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		const schema = "test_f077"
		sluice := servers.StartSluice(t, server)
		want, _, after := upload(t, server, server.DSN("app", "app", schema), nil)
		require.NoError(t, after)
		require.ErrorContains(t, want, "the cause")
		got, sent, after := upload(t, server, sluice.DSN("app", "app", schema), nil)
		require.NoError(t, after)
		require.Equal(t, want, got)
		require.Equal(t, 5000, sent)

		// The client goes in the middle of a packet: nothing of its file is there, and its
		// session is over.
		c, err := rawclient.Dial(sluice.Addr, rawclient.Options{User: "app", Password: "app", Schema: schema})
		require.NoError(t, err)
		ordinary(t, c, 300000)
		c.QueueInfile(rawclient.Infile{Packets: [][]byte{[]byte("1\ta\n2\tb\n3\tc")}, Abort: true})
		_, err = c.Do(c.Query([]byte("LOAD DATA LOCAL INFILE 'x' INTO TABLE t")))
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			return count(t, server, fmt.Sprintf("SELECT COUNT(*) FROM information_schema.processlist WHERE id = %d", c.Greeting.ThreadID)) == 0
		}, rawclient.Deadline, 50e6)
		do(t, connectTo(t, sluice.Addr, schema), "SELECT COUNT(*) FROM t")
		require.Zero(t, count(t, server, "SELECT COUNT(*) FROM "+schema+".t WHERE id < 100000"))
		require.Equal(t, 50, count(t, server, "SELECT COUNT(*) FROM "+schema+".t WHERE id >= 300000"))
	})
}

// killedInUpload has the server die in the middle of an upload: the client gets to its
// end and is told why. It is the server's last test.
func killedInUpload(t *testing.T, server *servers.Server) {
	sluice := servers.StartSluice(t, server)
	failed, sent, after := upload(t, server, sluice.DSN("app", "app", "test_f077"), func() { server.Kill9(t) })
	require.Error(t, after)
	require.Equal(t, 5000, sent)
	var said *mysql.MySQLError
	require.True(t, errors.As(failed, &said), "%v", failed)
	server.Restart(t)
	require.Zero(t, count(t, server, "SELECT COUNT(*) FROM test_f077.t WHERE id < 100000"))
}

// connectTo logs in as app.
func connectTo(t *testing.T, addr, schema string) *rawclient.Client {
	t.Helper()
	c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: schema})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestF076ServerFile loads a file of the server's through sluice: the client is not asked.
func TestF076ServerFile(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		table(t, server, "test_f076_file")
		path := filepath.Join(server.Dir, "lines")
		require.NoError(t, os.WriteFile(path, []byte("1\ta\n2\tb\n"), 0o644))
		c, err := rawclient.Dial(servers.SharedSluice(t, server.Kind).Addr, rawclient.Options{User: "root", Schema: "test_f076_file"})
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		ordinary(t, c, 100)
		reply, err := c.Do(c.Query([]byte("LOAD DATA INFILE '" + path + "' INTO TABLE t")))
		require.NoError(t, err)
		require.Contains(t, reply.String(), "1 OK affected=2")
		ordinary(t, c, 200)
		do(t, c, "SELECT COUNT(*) FROM t")
		require.Equal(t, 102, count(t, server, "SELECT COUNT(*) FROM test_f076_file.t"))
	})
}
