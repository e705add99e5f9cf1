package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// TestClients has each client load over TCP and over a unix socket. What it
// reads back, and what is on the server afterwards, must be what was sent, and
// most rows must have been batched.
func TestClients(t *testing.T) {
	rows, want, path := makeFile(t)
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Shared(t, kind)
			// Not t.TempDir: the names are too long for a unix socket's path.
			dir, err := os.MkdirTemp("", "sluice-clients-")
			require.NoError(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			socket := filepath.Join(dir, "sock")
			sluice := servers.StartSluice(t, server, "--listen", "unix:"+socket)
			for i, c := range all {
				if c.only != "" && c.only != kind {
					continue
				}
				for _, address := range []string{sluice.Addr, socket} {
					name := c.name + " tcp"
					if address == socket {
						name = c.name + " unix"
					}
					t.Run(name, func(t *testing.T) {
						table := fmt.Sprintf("load_%d", i)
						// MySQL forgets who has logged in before: the whole login is run
						// through, by RSA over TCP and in the clear over the socket.
						server.Exec(t, "FLUSH PRIVILEGES", "DROP TABLE IF EXISTS test."+table,
							fmt.Sprintf(createTable, "test."+table))
						l := load{address: address, schema: "test", table: table, file: path, rows: rows}
						checkLoad(t, c, l, server, sluice, want)
					})
				}
			}
		})
	}
}

// makeFile gives the rows, what a client has to read back, and a file with the rows.
func makeFile(t *testing.T) (rows []row, want, path string) {
	t.Helper()
	rows = makeRows()
	path = filepath.Join(t.TempDir(), "rows")
	require.NoError(t, os.WriteFile(path, []byte(file(rows)), 0o600))
	return rows, expected(rows), path
}

func checkLoad(t *testing.T, c client, l load, server *servers.Server, sluice *servers.Sluice, want string) {
	t.Helper()
	batchedBefore := sluice.Metrics(t)[batched]
	same(t, want, c.run(t, l), "what the client read back")
	conn, err := server.Open(t).Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	same(t, want, goRead(t, t.Context(), conn, l.schema+"."+l.table), "what is on the server")
	require.Zero(t, sluice.Metric(t, "sluice_rejects_total"))
	// A burst of unbatched rows begins the load, and perhaps its second half.
	got := sluice.Metrics(t)[batched] - batchedBefore
	require.Greater(t, got, float64(rowCount)*95/100, "batched rows of %d\n%s", rowCount, reasons(t, sluice))
}

const batched = `sluice_statements_total{verdict="batched"}`

// reasons tells why rows were relayed, for a test that fails.
func reasons(t *testing.T, sluice *servers.Sluice) string {
	t.Helper()
	var b strings.Builder
	for name, value := range sluice.Metrics(t) {
		if strings.HasPrefix(name, "sluice_relayed_total") {
			fmt.Fprintf(&b, "%s %v\n", name, value)
		}
	}
	return b.String()
}

// same compares texts of many lines and shows the first that differs.
func same(t *testing.T, want, got, what string) {
	t.Helper()
	if want == got {
		return
	}
	wanted, lines := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wanted), len(lines)) {
		if wanted[i] != lines[i] {
			t.Fatalf("%s: line %d of %d\nwant %s\ngot  %s", what, i+1, len(wanted), wanted[i], lines[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", what, len(lines), len(wanted))
}
