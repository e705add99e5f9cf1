package stage

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// Metrics that tests look at.
const (
	Batched = `sluice_statements_total{verdict="batched"}`
	Rejects = "sluice_rejects_total"
	RowsOut = "sluice_rows_out_total"
	Pending = "sluice_pending_rows"
)

// HeldBack gives the flags of a sluice that batches the second insert of a shape
// and flushes at barriers only, and more flags after them.
func HeldBack(more ...string) []string {
	return append([]string{"--burst", "1", "--window-delay", "1h", "--window-max-delay", "1h"}, more...)
}

// Stage is a server, a sluice in front of it and a schema of the test's own.
type Stage struct {
	*testing.T
	Server *servers.Server
	Sluice *servers.Sluice
	Schema string

	next int // for Warm
}

// Each runs a test on both kinds of server, the shared ones, with a sluice of its own
// that has the flags of HeldBack and args.
func Each(t *testing.T, run func(s *Stage), args ...string) {
	t.Helper()
	each(t, servers.Shared, run, args)
}

// EachFresh is Each on servers of the test's own.
func EachFresh(t *testing.T, run func(s *Stage), args ...string) {
	t.Helper()
	each(t, func(t testing.TB, kind servers.Kind) *servers.Server { return servers.Fresh(t, kind) }, run, args)
}

func each(t *testing.T, server func(testing.TB, servers.Kind) *servers.Server, run func(s *Stage), args []string) {
	t.Helper()
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := New(t, server(t, kind))
			s.Start(args...)
			run(s)
		})
	}
}

// New makes the schema, named after the test, and drops it at the end. There is no
// sluice yet.
func New(t *testing.T, server *servers.Server) *Stage {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	s := &Stage{T: t, Server: server, Schema: "test_" + strings.ToLower(strings.TrimPrefix(name, "Test")), next: 1_000_000}
	s.Schemas(s.Schema)
	if server.Kind == servers.KindMySQL {
		// Users without SUPER may write functions and triggers here, as they may on MariaDB.
		server.Exec(t, "SET GLOBAL log_bin_trust_function_creators = 1")
	}
	return s
}

// Start puts a sluice with the flags of HeldBack and args in the place of the one
// that is there.
func (s *Stage) Start(args ...string) {
	s.Helper()
	if s.Sluice != nil {
		s.Sluice.Stop(s.T)
	}
	s.Sluice = servers.StartSluice(s.T, s.Server, HeldBack(args...)...)
}

// Schemas makes schemas that are dropped at the test's end.
func (s *Stage) Schemas(names ...string) {
	s.Helper()
	for _, n := range names {
		s.Server.Exec(s.T, "DROP DATABASE IF EXISTS "+n, "CREATE DATABASE "+n)
		s.Cleanup(func() { s.Server.Exec(s.T, "DROP DATABASE "+n) })
	}
}

// User makes an account, its password its name, with grants like "SELECT ON x.*".
func (s *Stage) User(name string, grants ...string) string {
	s.Helper()
	name += s.Schema[len("test_"):min(len(s.Schema), 8)]
	s.Server.Exec(s.T, "DROP USER IF EXISTS "+name+"@'%'", "CREATE USER "+name+"@'%' IDENTIFIED BY '"+name+"'")
	s.Cleanup(func() { s.Server.Exec(s.T, "DROP USER IF EXISTS "+name+"@'%'") })
	for _, g := range grants {
		s.Server.Exec(s.T, "GRANT "+g+" TO "+name+"@'%'")
	}
	return name
}

// Service makes another service account: what the ordinary one holds, and grants more.
// Its password is the ordinary one's; its name is for BackendURL.
func (s *Stage) Service(grants ...string) string {
	s.Helper()
	name := s.User("svc", append([]string{
		"SELECT, INSERT, UPDATE, DELETE, TRIGGER ON `test%`.*", "ALL ON sluice.*",
	}, grants...)...)
	s.Server.Exec(s.T, "ALTER USER "+name+"@'%' IDENTIFIED BY '"+servers.ServicePassword+"'")
	return name
}

// BackendURL is the value for --backend with another service account.
func (s *Stage) BackendURL(service string) string {
	return "mysql://" + service + "@" + s.Server.Addr + "/"
}

// Root runs statements directly, in the test's schema.
func (s *Stage) Root(statements ...string) {
	s.Helper()
	s.Server.Exec(s.T, append([]string{"USE " + s.Schema}, statements...)...)
}

// Stored gives rows as root sees them directly, sorted.
func (s *Stage) Stored(query string) []string {
	s.Helper()
	c := s.Direct("root")
	defer c.Close()
	rows := c.Query(query)
	slices.Sort(rows)
	return rows
}

// Count counts rows of a table, or of what else may follow FROM, as root sees them.
func (s *Stage) Count(table string) int {
	s.Helper()
	n := 0
	_, err := fmt.Sscan(s.Stored("SELECT COUNT(*) FROM " + table)[0], &n)
	require.NoError(s, err)
	return n
}

// Metric reads a metric, labels and all.
func (s *Stage) Metric(name string) int {
	s.Helper()
	v, ok := s.Sluice.Metrics(s.T)[name]
	require.True(s, ok, "no metric %s", name)
	return int(v)
}

// RelayedFor lists why inserts were relayed.
func (s *Stage) RelayedFor() []string {
	var list []string
	for name, value := range s.Sluice.Metrics(s.T) {
		if strings.HasPrefix(name, "sluice_relayed_total{") {
			list = append(list, fmt.Sprintf("%s %v", name, value))
		}
	}
	slices.Sort(list)
	return list
}

// Flush has all journaled rows applied: a statement that may see anything waits for them.
func (s *Stage) Flush() {
	s.Helper()
	c := s.Through("app")
	c.Query("SHOW TABLES")
	c.Close()
	require.Zero(s, s.Metric(Pending))
}

// Through connects through sluice as app, as root, or as a user that User made.
func (s *Stage) Through(user string) *Client {
	s.Helper()
	return s.Connect(s.Sluice.DSN(user, password(user), s.Schema))
}

// Direct connects past sluice, as Through does.
func (s *Stage) Direct(user string) *Client {
	s.Helper()
	return s.Connect(s.Server.DSN(user, password(user), s.Schema))
}

func password(user string) string {
	if user == "root" {
		return ""
	}
	return user
}

// Connect connects with a data source name of package servers.
func (s *Stage) Connect(dsn string) *Client {
	s.Helper()
	c, err := s.TryConnect(dsn)
	require.NoError(s, err)
	return c
}

// TryConnect is Connect where that may fail.
func (s *Stage) TryConnect(dsn string) (*Client, error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(0)
	conn, err := db.Conn(s.Context())
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	c := &Client{Stage: s, Conn: conn, db: db}
	s.Cleanup(c.Close)
	return c, nil
}
