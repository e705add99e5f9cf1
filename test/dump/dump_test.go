package dump

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// mode is a way to dump.
type mode struct {
	name string
	args []string
	rows bool    // one statement a row
	most float64 // the part of its inserts that has to be batched
}

// Within LOCK TABLES nothing can be batched: the rows would wait for the locks.
// Of the rest the first rows of each table are relayed, and all of those for
// engines without transactions; REPLACE also where foreign keys refer to a table.
var modes = []mode{
	{name: "default"},
	{name: "rows", args: []string{"--skip-extended-insert", "--skip-add-locks"}, rows: true, most: 0.85},
	{name: "locked rows", args: []string{"--skip-extended-insert"}, rows: true},
	{name: "complete hexadecimal", args: []string{"--skip-extended-insert", "--skip-add-locks", "--complete-insert", "--hex-blob"}, rows: true, most: 0.85},
	{name: "replace", args: []string{"--skip-extended-insert", "--skip-add-locks", "--replace"}, rows: true, most: 0.7},
	{name: "ignore", args: []string{"--skip-extended-insert", "--skip-add-locks", "--insert-ignore"}, rows: true, most: 0.85},
	{name: "no autocommit", args: []string{"--skip-extended-insert", "--skip-add-locks", "--no-autocommit"}, rows: true, most: 0.85},
	{name: "by primary key", args: []string{"--skip-extended-insert", "--skip-add-locks", "--order-by-primary", "--skip-disable-keys"}, rows: true, most: 0.85},
	{name: "bare", args: []string{"--skip-opt", "--create-options", "--set-charset", "--skip-tz-utc"}, rows: true, most: 0.85},
	{name: "short statements", args: []string{"--single-transaction", "--skip-add-locks", "--net-buffer-length=4096"}},
	{name: "whole tables", args: []string{"--single-transaction", "--hex-blob", "--skip-add-locks", "--complete-insert"}},
}

const original = "test_original"

// TestDump replays a dump of each mode into a schema of its own.
func TestDump(t *testing.T) {
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		want := fill(t, server)
		sluice := servers.StartSluice(t, server)
		for i, m := range modes {
			t.Run(m.name, func(t *testing.T) {
				script := dump(t, server.Kind, server.Addr, append(m.args, original)...)
				if m.rows {
					require.Greater(t, inserts(script), 5000)
				}
				schema := fmt.Sprintf("test_replayed_%d", i)
				server.Exec(t, "CREATE DATABASE "+schema)
				before := sluice.Metrics(t)
				replay(t, server.Kind, sluice.Addr, script, schema)
				settled(t, sluice, before, script, m.most)
				compare(t, want, take(t, server, schema))
				server.Exec(t, "DROP DATABASE "+schema)
			})
		}
		t.Run("through sluice", func(t *testing.T) {
			direct := dump(t, server.Kind, server.Addr, original)
			require.Equal(t, string(direct), string(dump(t, server.Kind, sluice.Addr, original)))
		})
		t.Run("over itself", func(t *testing.T) {
			script := dump(t, server.Kind, server.Addr, "--skip-extended-insert", "--skip-add-locks",
				"--add-drop-database", "--databases", original)
			before := sluice.Metrics(t)
			replay(t, server.Kind, sluice.Addr, script)
			settled(t, sluice, before, script, 0.85)
			compare(t, want, take(t, server, original))
		})
	})
}

// fill makes the original, directly on the server.
func fill(t *testing.T, server *servers.Server) snapshot {
	t.Helper()
	server.Exec(t, "CREATE DATABASE "+original)
	for _, name := range []string{"common", string(server.Kind)} {
		script, err := os.ReadFile(filepath.Join("testdata", name+".sql"))
		require.NoError(t, err)
		replay(t, server.Kind, server.Addr, script, "--default-character-set=utf8mb4", original)
	}
	return take(t, server, original)
}

// settled waits until everything that sluice took is on the server, and holds
// how much that was.
func settled(t *testing.T, sluice *servers.Sluice, before map[string]float64, script []byte, most float64) {
	t.Helper()
	sluice.WaitFor(t, "sluice_pending_rows", 0, patience)
	require.Zero(t, sluice.Metric(t, "sluice_rejects_total"))
	after := sluice.Metrics(t)
	const name = `sluice_statements_total{verdict="batched"}`
	batched, all := after[name]-before[name], inserts(script)
	t.Logf("%.0f of %d inserts batched", batched, all)
	if batched < most*float64(all) {
		t.Errorf("%.0f of %d inserts were batched, %.0f %% are wanted\n%s", batched, all, most*100, reasons(before, after))
	}
}

// reasons tells why inserts were relayed.
func reasons(before, after map[string]float64) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if count := after[name] - before[name]; count > 0 && strings.HasPrefix(name, "sluice_relayed_total") {
			lines = append(lines, fmt.Sprintf("%s %.0f", name, count))
		}
	}
	return strings.Join(lines, "\n")
}
