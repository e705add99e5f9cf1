package stream

import (
	"context"
	"database/sql"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// upload is a LOAD DATA LOCAL of which the server stores one row: all the
// others have its key and are ignored. What it read it tells by a checksum.
type upload struct {
	name  string
	lines int
	size  int

	// At line stall the file does not go on until resume is closed; stalled is
	// closed when it is there. Not used if resume is nil.
	stall   int
	stalled chan struct{}
	resume  chan struct{}

	sent     int
	checksum uint32
	rest     []byte
	fill     []byte
}

const createSink = "CREATE TABLE IF NOT EXISTS test.%s (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB"

func (u *upload) run(ctx context.Context, conn *sql.Conn) error {
	mysql.RegisterReaderHandler(u.name, func() io.Reader { return u })
	defer mysql.DeregisterReaderHandler(u.name)
	if _, err := conn.ExecContext(ctx, "SET @lines = 0, @checksum = 0"); err != nil {
		return fmt.Errorf("set variables: %w", err)
	}
	_, err := conn.ExecContext(ctx, fmt.Sprintf("LOAD DATA LOCAL INFILE 'Reader::%s' IGNORE INTO TABLE %s"+
		" CHARACTER SET latin1 FIELDS TERMINATED BY '\\t' ESCAPED BY '' (@number, @text)"+
		" SET id = 1 + 0 * (@lines := @lines + 1) + 0 * (@checksum := CRC32(CONCAT(@checksum, @number, @text)))", u.name, u.name))
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return nil
}

// check holds what the server read against what was sent.
func (u *upload) check(t *testing.T, ctx context.Context, conn *sql.Conn) {
	t.Helper()
	var lines, stored int
	var checksum uint32
	require.NoError(t, conn.QueryRowContext(ctx, "SELECT @lines, @checksum, (SELECT COUNT(*) FROM "+u.name+")").
		Scan(&lines, &checksum, &stored))
	require.Equal(t, u.lines, u.sent)
	require.Equal(t, u.lines, lines)
	require.Equal(t, u.checksum, checksum, "the checksum of what the server read")
	require.Equal(t, 1, stored)
}

// Read gives the file.
func (u *upload) Read(p []byte) (int, error) {
	if len(u.rest) == 0 {
		if u.sent == u.lines {
			return 0, io.EOF
		}
		if u.resume != nil && u.sent == u.stall {
			close(u.stalled)
			<-u.resume
		}
		u.rest = u.line()
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}

func (u *upload) line() []byte {
	if u.fill == nil {
		u.fill = make([]byte, u.size+26)
		for i := range u.fill {
			u.fill[i] = 'a' + byte(i%26)
		}
	}
	number := strconv.Itoa(u.sent)
	text := u.fill[u.sent%26:][:u.size]
	line := fmt.Appendf(nil, "%s\t%s\n", number, text)
	sum := crc32.NewIEEE()
	_, _ = fmt.Fprintf(sum, "%d%s%s", u.checksum, number, text)
	u.checksum = sum.Sum32()
	u.sent++
	return line
}
