package stream

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// digits is the table that results are made from, by joining it with itself.
func digits(t *testing.T, server *servers.Server) {
	t.Helper()
	server.Exec(t, "CREATE TABLE IF NOT EXISTS test.digits (n INT NOT NULL PRIMARY KEY)",
		"INSERT IGNORE INTO test.digits VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)")
}

// result is a query of many rows, each a number and a text of a size that
// follows from the number.
type result struct {
	count, size int

	rows *sql.Rows
	read int
	sum  int
	want map[byte]string
}

func (r *result) text() string {
	number, from := "0", ""
	for i, power := 0, 1; power < r.count; i, power = i+1, power*10 {
		name := fmt.Sprintf("d%d", i)
		number += fmt.Sprintf(" + %d * %s.n", power, name)
		from += ", digits " + name
	}
	if from == "" {
		from = ", digits d0"
	}
	return fmt.Sprintf("SELECT number, REPEAT(CHAR(97 + number %% 26), %d) FROM (SELECT %s AS number FROM %s) numbers"+
		" WHERE number < %d", r.size, number, from[2:], r.count)
}

// start sends the query and reads the first row.
func (r *result) start(t *testing.T, ctx context.Context, conn *sql.Conn) {
	t.Helper()
	r.want = map[byte]string{}
	for letter := byte('a'); letter <= 'z' && int(letter-'a') < r.count; letter++ {
		r.want[letter] = strings.Repeat(string(rune(letter)), r.size)
	}
	rows, err := conn.QueryContext(ctx, r.text())
	require.NoError(t, err)
	r.rows = rows
	require.True(t, r.next(t), "no first row: %v", rows.Err())
}

// next reads a row and checks it.
func (r *result) next(t *testing.T) bool {
	t.Helper()
	if !r.rows.Next() {
		return false
	}
	var number int
	var text sql.RawBytes
	require.NoError(t, r.rows.Scan(&number, &text))
	if string(text) != r.want[byte('a'+number%26)] {
		t.Fatalf("row %d of %d bytes is not as it was made", number, len(text))
	}
	r.read++
	r.sum += number
	return true
}

// finish reads all that is left: every row must be there, once.
func (r *result) finish(t *testing.T) {
	t.Helper()
	for r.next(t) {
	}
	require.NoError(t, r.rows.Err())
	require.NoError(t, r.rows.Close())
	require.Equal(t, r.count, r.read)
	require.Equal(t, r.count*(r.count-1)/2, r.sum)
}
