package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// client is one connection of go-sql-driver as a wire.Querier.
type client struct {
	conn  *sql.Conn
	asked int
}

var _ wire.Querier = (*client)(nil)

func (c *client) Query(query string) (*wire.Result, error) {
	c.asked++
	rows, err := c.conn.QueryContext(context.Background(), query)
	if err != nil {
		return nil, wireError(err)
	}
	defer func() { _ = rows.Close() }()
	result := &wire.Result{}
	if result.Columns, err = rows.Columns(); err != nil {
		return nil, err
	}
	for rows.Next() {
		raw := make([]sql.RawBytes, len(result.Columns))
		into := make([]any, len(raw))
		for i := range raw {
			into[i] = &raw[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([][]byte, len(raw))
		for i, b := range raw {
			if b != nil {
				row[i] = append([]byte{}, b...)
			}
		}
		result.Rows = append(result.Rows, row)
	}
	return result, wireError(rows.Err())
}

func wireError(err error) error {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return &wire.Error{Code: e.Number, State: string(e.SQLState[:]), Message: e.Message}
	}
	return err
}

// run executes statements that must succeed.
func (c *client) run(t testing.TB, statements ...string) *wire.Result {
	t.Helper()
	var r *wire.Result
	for _, s := range statements {
		var err error
		r, err = c.Query(s)
		require.NoError(t, err, s)
	}
	return r
}

func dialect(s *servers.Server) rewrite.Dialect {
	if s.Kind == servers.KindMySQL {
		return rewrite.MySQL
	}
	return rewrite.MariaDB
}

// number of the server's version, as 101119.
func version(t testing.TB, s *servers.Server) int {
	t.Helper()
	n := 0
	text, _, _ := strings.Cut(s.Version(t), "-")
	for _, part := range strings.SplitN(text, ".", 3) {
		v, err := strconv.Atoi(part)
		require.NoError(t, err, text)
		n = n*100 + v
	}
	return n
}

// login opens a connection of an account.
func login(t testing.TB, s *servers.Server, user, password string) *client {
	t.Helper()
	db, err := sql.Open("mysql", s.DSN(user, password, ""))
	require.NoError(t, err)
	conn, err := db.Conn(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Close()
		_ = db.Close()
	})
	return &client{conn: conn}
}

// service opens a connection as the pool does, with root's rights.
func service(t testing.TB, s *servers.Server) *client {
	t.Helper()
	c := login(t, s, "root", "")
	c.run(t, Settings(dialect(s), version(t, s)))
	return c
}

var counter atomic.Int64

// fresh makes an empty schema for a test.
func fresh(t testing.TB, s *servers.Server) string {
	t.Helper()
	schema := fmt.Sprintf("test_schema_%d", counter.Add(1))
	s.Exec(t, "CREATE DATABASE "+schema+" CHARACTER SET utf8mb4")
	return schema
}

// account makes a user without privileges and gives it some. It returns the
// name; the password is the name.
func account(t testing.TB, s *servers.Server, grants ...string) string {
	t.Helper()
	user := fmt.Sprintf("test_schema_%d", counter.Add(1))
	s.Exec(t, "CREATE USER "+user+"@'%' IDENTIFIED BY '"+user+"'")
	for _, g := range grants {
		s.Exec(t, g+" TO "+user+"@'%'")
	}
	return user
}

func mustLoad(t testing.TB, s *servers.Server, q wire.Querier, schema, table string) *rewrite.Table {
	t.Helper()
	loaded, err := Load(q, dialect(s), version(t, s), schema, table)
	require.NoError(t, err)
	return loaded
}
