package compat

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

const (
	streamBytes = 2 << 30
	// streamMemory is how much more than idle sluice may take for a stream.
	streamMemory = 64 << 20
)

// TestStreams sends 2 GiB through sluice in each direction. Its memory must
// stay bounded: what is relayed is not gathered.
func TestStreams(t *testing.T) {
	server := servers.MariaDB(t)
	sluice := servers.StartSluice(t, server)
	server.Exec(t, "DROP TABLE IF EXISTS test.stream", "CREATE TABLE test.stream (a INT)")
	db := sluice.Open(t, "test")
	require.NoError(t, db.Ping())
	idle := peakMemory(t, sluice.PID)

	rows, err := db.Query(fmt.Sprintf(
		"SELECT REPEAT('x', 1048576) FROM seq_1_to_%d", streamBytes>>20))
	require.NoError(t, err)
	received, cell := 0, []byte(nil)
	for rows.Next() {
		require.NoError(t, rows.Scan(&cell))
		received += len(cell)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, streamBytes, received)
	require.Less(t, peakMemory(t, sluice.PID), idle+streamMemory, "memory for a large result")

	// All lines are ignored: what is measured is the way, not the storage.
	lines := int64(streamBytes / 1024)
	mysql.RegisterReaderHandler("stream", func() io.Reader {
		return &repeated{piece: bytes.Repeat(append(bytes.Repeat([]byte{'y'}, 1023), '\n'), 64), left: lines * 1024}
	})
	defer mysql.DeregisterReaderHandler("stream")
	_, err = db.Exec(fmt.Sprintf("LOAD DATA LOCAL INFILE 'Reader::stream' INTO TABLE stream IGNORE %d LINES", lines))
	require.NoError(t, err)
	require.Less(t, peakMemory(t, sluice.PID), idle+streamMemory, "memory for a large file")
}

// repeated reads a piece over and over.
type repeated struct {
	piece []byte
	at    int
	left  int64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), r.left)], r.piece[r.at:])
	r.at = (r.at + n) % len(r.piece)
	r.left -= int64(n)
	return n, nil
}

// peakMemory is the most resident memory that the process ever had.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(status), "VmHWM:")
	require.True(t, found)
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(t, err)
	return kib << 10
}

// TestSlowReader lets a client read a large result slowly: other sessions do
// not wait, and sluice does not gather the result in the meantime.
func TestSlowReader(t *testing.T) {
	server := servers.MariaDB(t)
	sluice := servers.StartSluice(t, server)
	slow := dial(t, sluice.Addr)
	idle := peakMemory(t, sluice.PID)
	require.NoError(t, slow.Send(slow.Query([]byte("SELECT REPEAT('x', 1048576) FROM seq_1_to_1024"))))
	time.Sleep(200 * time.Millisecond) // what is going to be gathered is on its way

	db := sluice.Open(t, "test")
	var longest time.Duration
	for range 500 {
		started := time.Now()
		_, err := db.Exec("DO 1")
		require.NoError(t, err)
		longest = max(longest, time.Since(started))
	}
	require.Less(t, longest, time.Second)
	require.Less(t, peakMemory(t, sluice.PID), idle+streamMemory)
	buffer := make([]byte, 1<<20)
	for range 20 { // the slow session still gets its rows
		_, err := io.ReadFull(slow.Conn(), buffer)
		require.NoError(t, err)
	}
}
