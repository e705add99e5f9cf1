package compat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// TestF032 loads random bytes as escaped _binary literals, row by row: comment
// openers, statement ends and quotes inside a literal are only bytes.
func TestF032(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.StartSluice(t, server)
		server.Exec(t, "DROP DATABASE IF EXISTS test_f032", "CREATE DATABASE test_f032",
			"CREATE TABLE test_f032.b (id INT PRIMARY KEY, v BLOB)")
		c := dial(t, sluice.Addr)
		do := func(sql string) {
			t.Helper()
			reply, err := c.Do(c.Query([]byte(sql)))
			require.NoError(t, err)
			if reply.Failed() {
				t.Fatalf("%.100q: %s", sql, reply)
			}
		}
		do("USE test_f032")
		want := map[int]string{}
		random := rand.New(rand.NewPCG(32, 0))
		insert := func(rows int) {
			for range rows {
				id, value := len(want), randomBlob(random)
				sum := sha256.Sum256(value)
				want[id] = hex.EncodeToString(sum[:])
				do(fmt.Sprintf("INSERT INTO b VALUES (%d, _binary'%s')", id, escape(value)))
			}
		}
		insert(8000)
		do("BEGIN")
		insert(1000)
		do("COMMIT")
		do("SET sql_mode='NO_BACKSLASH_ESCAPES'")
		do("DELETE FROM b WHERE id < 0")
		for range 1000 {
			id, value := len(want), randomBlob(random)
			sum := sha256.Sum256(value)
			want[id] = hex.EncodeToString(sum[:])
			do(fmt.Sprintf("INSERT INTO b VALUES (%d, _binary'%s')", id, strings.ReplaceAll(string(value), "'", "''")))
		}
		do("INSERT /* a; b */ INTO b VALUES (-1,';')")
		require.Greater(t, sluice.Metrics(t)[batchedMetric], 0.9*float64(len(want)))
		flush(t, server, sluice, []string{"test_f032"})
		rows := queryRows(t, server.Open(t), "SELECT id, SHA2(v, 256) FROM test_f032.b WHERE id >= 0")
		require.Len(t, rows, len(want))
		for _, row := range rows {
			var id int
			var sum string
			_, err := fmt.Sscanf(row, "%d,%s", &id, &sum)
			require.NoError(t, err)
			require.Equal(t, want[id], sum, "row %d", id)
		}
		require.Equal(t, []string{"3B"}, queryRows(t, server.Open(t), "SELECT HEX(v) FROM test_f032.b WHERE id = -1"))
	})
}

// randomBlob is up to 4 KiB with what is dangerous for a scanner in it.
func randomBlob(random *rand.Rand) []byte {
	pieces := []string{";", "'", "''", "\\", "\\'", "\x00", "\x1a", "-- ", "/*", "*/", "#", "\n", "\"", "`", "')", "),("}
	out := make([]byte, 0, 4096)
	for len(out) < random.IntN(4096) {
		if random.IntN(4) == 0 {
			out = append(out, pieces[random.IntN(len(pieces))]...)
			continue
		}
		for range random.IntN(64) {
			out = append(out, byte(random.Uint32()))
		}
	}
	return out
}

// escape is what client libraries do to a string before they quote it.
func escape(value []byte) string {
	return strings.NewReplacer("\x00", `\0`, "\n", `\n`, "\r", `\r`, `\`, `\\`, "'", `\'`, `"`, `\"`, "\x1a", `\Z`).
		Replace(string(value))
}
