package clients

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// goDriver loads by go-sql-driver, which puts the values into the text of the
// statement when it is told to.
func goDriver(t *testing.T, l load) string {
	t.Helper()
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = "app", "app", l.schema
	config.Net, config.Addr, config.InterpolateParams = "tcp", l.address, true
	if _, _, err := net.SplitHostPort(l.address); err != nil {
		config.Net = "unix"
	}
	require.NoError(t, config.Apply(mysql.EnableCompression(l.compression != "")))
	connector, err := mysql.NewConnector(config)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	defer conn.Close()

	insert := "INSERT INTO " + l.table + " (id, word, score, payload, note) VALUES (?, ?, ?, ?, ?)"
	half := len(l.rows) / 2
	for _, r := range l.rows[:half] {
		goInsert(t, ctx, conn, insert, r)
	}
	for i := half; i < len(l.rows); i += 100 {
		tx, err := conn.BeginTx(ctx, nil)
		require.NoError(t, err)
		for _, r := range l.rows[i : i+100] {
			goInsert(t, ctx, tx, insert, r)
		}
		require.NoError(t, tx.Commit())
	}
	return goRead(t, ctx, conn, l.table)
}

func goInsert(t *testing.T, ctx context.Context, to interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, insert string, r row) {
	t.Helper()
	result, err := to.ExecContext(ctx, insert, r.id, r.word, r.score, r.payload, r.note)
	require.NoError(t, err)
	count, err := result.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 1, count)
}

func goRead(t *testing.T, ctx context.Context, conn *sql.Conn, table string) string {
	t.Helper()
	rows, err := conn.QueryContext(ctx,
		"SELECT HEX(id), HEX(word), HEX(CONCAT(score, '')), HEX(payload), IFNULL(HEX(note), '-') FROM "+table+" t ORDER BY t.id")
	require.NoError(t, err)
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var id, word, score, payload, note string
		require.NoError(t, rows.Scan(&id, &word, &score, &payload, &note))
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", id, word, score, payload, note)
	}
	require.NoError(t, rows.Err())
	return b.String()
}
