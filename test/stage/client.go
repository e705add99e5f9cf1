package stage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// deadline bounds every statement: a statement that waits for itself becomes a failure.
const deadline = 45 * time.Second

// Client is one connection. Its statements go by the text protocol; Conn is for others.
type Client struct {
	*Stage
	Conn *sql.Conn

	db *sql.DB
}

// Close says goodbye with COM_QUIT.
func (c *Client) Close() {
	_ = c.Conn.Close()
	_ = c.db.Close()
}

// Try runs a statement and gives the number of rows that it affected.
func (c *Client) Try(statement string) (affected int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	r, err := c.Conn.ExecContext(ctx, statement)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// Exec runs statements that must succeed.
func (c *Client) Exec(statements ...string) {
	c.Helper()
	for _, statement := range statements {
		_, err := c.Try(statement)
		require.NoError(c, err, "%s", statement)
	}
}

// Fails runs a statement that must fail with this error number.
func (c *Client) Fails(number uint16, statement string) {
	c.Helper()
	_, err := c.Try(statement)
	require.Equal(c, number, Errno(err), "%s: %v", statement, err)
}

// Errno is the number of a server's error, 0 for none and for other errors.
func Errno(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}

// Query gives each row as text, its cells between commas.
func (c *Client) Query(statement string) []string {
	c.Helper()
	rows, err := c.TryQuery(statement)
	require.NoError(c, err, "%s", statement)
	return rows
}

// Value gives what a query of one row has.
func (c *Client) Value(query string) string {
	c.Helper()
	rows := c.Query(query)
	require.Len(c, rows, 1, "%s", query)
	return rows[0]
}

// TryQuery is Query where that may fail.
func (c *Client) TryQuery(statement string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	rows, err := c.Conn.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	_, all, err := servers.ReadRows(rows)
	out := make([]string, len(all))
	for n, cells := range all {
		texts := make([]string, len(cells))
		for i, cell := range cells {
			if texts[i] = cell.String; !cell.Valid {
				texts[i] = "NULL"
			}
		}
		out[n] = strings.Join(texts, ",")
	}
	return out, err
}

// Warm sends inserts, %d in them a new number from a million on, until one was
// batched: the next one of the shape will be too, if nothing comes between. It says
// how many it sent.
func (c *Client) Warm(format string) (sent int) {
	c.Helper()
	before := c.Metric(Batched)
	for end := time.Now().Add(deadline); c.Metric(Batched) == before; sent++ {
		require.True(c, time.Now().Before(end), "%s is not batched: %v", format, c.RelayedFor())
		c.next++
		c.Exec(fmt.Sprintf(format, c.next))
	}
	return sent
}

// Holds runs statements that must all be batched.
func (c *Client) Holds(statements ...string) {
	c.Helper()
	before := c.Metric(Batched)
	c.Exec(statements...)
	require.Equal(c, before+len(statements), c.Metric(Batched), "batched of %q; %v", statements, c.RelayedFor())
}
