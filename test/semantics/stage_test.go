package semantics

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// deadline bounds every statement: a statement that waits for itself becomes a failure.
const deadline = 45 * time.Second

// heldBack are the flags of a sluice that batches the second insert of a shape
// and flushes at barriers only.
var heldBack = []string{"--burst", "1", "--window-delay", "1h", "--window-max-delay", "1h"}

const (
	batched = `sluice_statements_total{verdict="batched"}`
	rejects = "sluice_rejects_total"
	rowsOut = "sluice_rows_out_total"
	pending = "sluice_pending_rows"
)

// stage is a server, a sluice in front of it and a schema of the test's own.
type stage struct {
	*testing.T
	server *servers.Server
	sluice *servers.Sluice
	schema string
	next   int // for warm
}

// each runs a test on both kinds of server, with a sluice of its own.
func each(t *testing.T, run func(s *stage), args ...string) {
	t.Helper()
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, servers.Shared(t, kind))
			s.sluice = servers.StartSluice(t, s.server, append(slices.Clone(heldBack), args...)...)
			run(s)
		})
	}
}

// newStage makes the schema and drops it at the end.
func newStage(t *testing.T, server *servers.Server) *stage {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	s := &stage{T: t, server: server, schema: "test_" + strings.ToLower(strings.TrimPrefix(name, "Test")), next: 1_000_000}
	s.schemas(s.schema)
	if server.Kind == servers.KindMySQL {
		// Users without SUPER may write functions and triggers here, as they may on MariaDB.
		server.Exec(t, "SET GLOBAL log_bin_trust_function_creators = 1")
	}
	return s
}

// schemas makes schemas that are dropped at the test's end.
func (s *stage) schemas(names ...string) {
	s.Helper()
	for _, n := range names {
		s.server.Exec(s.T, "DROP DATABASE IF EXISTS "+n, "CREATE DATABASE "+n)
		s.Cleanup(func() { s.server.Exec(s.T, "DROP DATABASE "+n) })
	}
}

// user makes an account, its password its name, with grants like "SELECT ON x.*".
func (s *stage) user(name string, grants ...string) string {
	s.Helper()
	name += s.schema[len("test_"):min(len(s.schema), 8)]
	s.server.Exec(s.T, "DROP USER IF EXISTS "+name+"@'%'", "CREATE USER "+name+"@'%' IDENTIFIED BY '"+name+"'")
	s.Cleanup(func() { s.server.Exec(s.T, "DROP USER IF EXISTS "+name+"@'%'") })
	for _, g := range grants {
		s.server.Exec(s.T, "GRANT "+g+" TO "+name+"@'%'")
	}
	return name
}

// service makes another service account: what the ordinary one holds, and grants more.
// Its name is to go into --backend; the password is the ordinary one's.
func (s *stage) service(grants ...string) string {
	s.Helper()
	name := s.user("svc", append([]string{
		"SELECT, INSERT, UPDATE, DELETE, TRIGGER ON `test%`.*", "ALL ON sluice.*",
	}, grants...)...)
	s.server.Exec(s.T, "ALTER USER "+name+"@'%' IDENTIFIED BY '"+servers.ServicePassword+"'")
	return name
}

// root runs statements directly, in the test's schema.
func (s *stage) root(statements ...string) {
	s.Helper()
	s.server.Exec(s.T, append([]string{"USE " + s.schema}, statements...)...)
}

func (s *stage) metric(name string) int {
	s.Helper()
	v, ok := s.sluice.Metrics(s.T)[name]
	require.True(s, ok, "no metric %s", name)
	return int(v)
}

// client is one connection.
type client struct {
	*stage
	db   *sql.DB
	conn *sql.Conn
}

func (c *client) close() {
	_ = c.conn.Close()
	_ = c.db.Close()
}

func (s *stage) connect(dsn string) *client {
	s.Helper()
	c, err := s.tryConnect(dsn)
	require.NoError(s, err)
	return c
}

func (s *stage) tryConnect(dsn string) (*client, error) {
	s.Helper()
	db, err := sql.Open("mysql", dsn)
	require.NoError(s, err)
	db.SetMaxIdleConns(0)
	conn, err := db.Conn(context.Background())
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	c := &client{stage: s, db: db, conn: conn}
	s.Cleanup(c.close)
	return c, nil
}

// through connects through sluice; the password of app is app, of users their name.
func (s *stage) through(user string) *client {
	s.Helper()
	return s.connect(s.sluice.DSN(user, user, s.schema))
}

func (s *stage) direct(user string) *client {
	s.Helper()
	return s.connect(s.server.DSN(user, user, s.schema))
}

// try runs a statement by the text protocol.
func (c *client) try(statement string) (affected int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	r, err := c.conn.ExecContext(ctx, statement)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

func (c *client) exec(statements ...string) {
	c.Helper()
	for _, statement := range statements {
		_, err := c.try(statement)
		require.NoError(c, err, "%s", statement)
	}
}

// fails runs a statement that must fail with this error number.
func (c *client) fails(number uint16, statement string) {
	c.Helper()
	_, err := c.try(statement)
	require.Equal(c, number, errno(err), "%s: %v", statement, err)
}

func errno(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}

// query gives each row as text.
func (c *client) query(statement string) []string {
	c.Helper()
	rows, err := c.tryQuery(statement)
	require.NoError(c, err, "%s", statement)
	return rows
}

func (c *client) tryQuery(statement string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	rows, err := c.conn.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	cells := make([]sql.NullString, len(columns))
	targets := make([]any, len(cells))
	for i := range cells {
		targets[i] = &cells[i]
	}
	out := []string{}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		texts := make([]string, len(cells))
		for i, cell := range cells {
			texts[i] = cell.String
			if !cell.Valid {
				texts[i] = "NULL"
			}
		}
		out = append(out, strings.Join(texts, ","))
	}
	return out, rows.Err()
}

// stored gives rows as root sees them directly, sorted.
func (s *stage) stored(query string) []string {
	s.Helper()
	c := s.connect(s.server.DSN("root", "", s.schema))
	defer c.close()
	rows := c.query(query)
	slices.Sort(rows)
	return rows
}

func (s *stage) count(table string) int {
	s.Helper()
	n := 0
	_, err := fmt.Sscan(s.stored("SELECT COUNT(*) FROM " + table)[0], &n)
	require.NoError(s, err)
	return n
}

// warm sends inserts, %d in them a new number from a million on, until one was
// batched: the next one of the shape will be too, if nothing comes between.
func (c *client) warm(format string) {
	c.Helper()
	before := c.metric(batched)
	for range 600 {
		c.next++
		c.exec(fmt.Sprintf(format, c.next))
		if c.metric(batched) > before {
			return
		}
	}
	c.Fatalf("%s is not batched: %v", format, c.relayedFor())
}

// relayedFor lists why inserts were relayed.
func (s *stage) relayedFor() []string {
	var list []string
	for name, value := range s.sluice.Metrics(s.T) {
		if strings.HasPrefix(name, "sluice_relayed_total{") {
			list = append(list, fmt.Sprintf("%s %v", name, value))
		}
	}
	slices.Sort(list)
	return list
}

// holds runs statements that must all be batched.
func (c *client) holds(statements ...string) {
	c.Helper()
	before := c.metric(batched)
	c.exec(statements...)
	require.Equal(c, before+len(statements), c.metric(batched), "batched of %q; %v", statements, c.relayedFor())
}

// flush has all journaled rows applied: a statement that may see anything waits for them.
func (s *stage) flush() {
	s.Helper()
	c := s.through("app")
	c.query("SHOW TABLES")
	c.close()
	require.Zero(s, s.metric(pending))
}

// expand puts the name of the victim's schema into a statement.
func expand(statement, victim string) string { return strings.ReplaceAll(statement, "$victim", victim) }
