package regress

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// deadline bounds every statement, so that one that waits for itself is a failure.
const deadline = 20 * time.Second

const batched = `sluice_statements_total{verdict="batched"}`

// each runs a test on both kinds of server, with a sluice and a schema of its own.
func each(t *testing.T, run func(c *scene), args ...string) {
	t.Helper()
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(t.Name(), "/")
			c := &scene{T: t, server: servers.Shared(t, kind), schema: "test_" + strings.ToLower(strings.TrimPrefix(name, "Test"))}
			c.server.Exec(t, "DROP DATABASE IF EXISTS "+c.schema, "CREATE DATABASE "+c.schema)
			t.Cleanup(func() { c.server.Exec(t, "DROP DATABASE "+c.schema) })
			all := append([]string{"--burst", "1", "--window-delay", "1h", "--window-max-delay", "1h"}, args...)
			c.sluice = servers.StartSluice(t, c.server, all...)
			run(c)
		})
	}
}

// scene is a server, a sluice in front of it and a schema.
type scene struct {
	*testing.T
	server *servers.Server
	sluice *servers.Sluice
	schema string
}

// client is one connection.
type client struct {
	*scene
	db   *sql.DB
	conn *sql.Conn
}

func (c *scene) connect(dsn string) *client {
	c.Helper()
	db, err := sql.Open("mysql", dsn)
	require.NoError(c, err)
	db.SetMaxIdleConns(0)
	conn, err := db.Conn(context.Background())
	require.NoError(c, err)
	x := &client{scene: c, db: db, conn: conn}
	c.Cleanup(x.close)
	return x
}

func (c *scene) through() *client { return c.connect(c.sluice.DSN("app", "app", c.schema)) }
func (c *scene) direct() *client  { return c.connect(c.server.DSN("root", "", c.schema)) }

// close says goodbye with COM_QUIT.
func (x *client) close() {
	_ = x.conn.Close()
	_ = x.db.Close()
}

func (x *client) try(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	_, err := x.conn.ExecContext(ctx, statement)
	return err
}

func (x *client) exec(statements ...string) {
	x.Helper()
	for _, s := range statements {
		require.NoError(x, x.try(s), "%s", s)
	}
}

func (x *client) value(query string) string {
	x.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	var v sql.NullString
	require.NoError(x, x.conn.QueryRowContext(ctx, query).Scan(&v), "%s", query)
	return v.String
}

func (c *scene) metric(name string) int {
	c.Helper()
	v, ok := c.sluice.Metrics(c)[name]
	require.True(c, ok, "no metric %s", name)
	return int(v)
}

// holds runs inserts that must all be batched.
func (x *client) holds(statements ...string) {
	x.Helper()
	before := x.metric(batched)
	x.exec(statements...)
	require.Equal(x, before+len(statements), x.metric(batched), "batched of %q", statements)
}

// warm sends inserts until one was batched; %d in them is a number from first on.
func (x *client) warm(format string, first int) {
	x.Helper()
	before := x.metric(batched)
	for i := range 20 {
		x.exec(fmt.Sprintf(format, first+i))
		if x.metric(batched) > before {
			return
		}
	}
	x.Fatalf("%s is not batched", format)
}

func number(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}
