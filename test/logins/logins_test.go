package logins

import (
	"flag"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

var update = flag.Bool("update", false, "write the tables of docs/clients.md")

func TestMain(m *testing.M) { servers.Main(m) }

// TestLogins has each client log in to each account, each way, and prints the table.
// What docs/clients.md says of it must be true.
func TestLogins(t *testing.T) {
	var page sync.Mutex
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, kind)
			m := &matrix{kind: kind, cells: map[cell]answer{}}
			for _, c := range clients {
				t.Run(c.name, func(t *testing.T) { m.run(t, s, c) })
			}
			t.Log(m.table())
			if t.Failed() {
				return
			}
			page.Lock()
			defer page.Unlock()
			documented(t, kind, m.summary())
		})
	}
}

// documented holds a table against the one in docs/clients.md, between the marks of its
// kind of server.
func documented(t *testing.T, kind servers.Kind, table string) {
	t.Helper()
	const path = "../../docs/clients.md"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	begin, end := "<!-- "+string(kind)+": written by the test -->\n\n", "\n<!-- end -->"
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found, "%s lacks %q", path, begin)
	old, after, found := strings.Cut(rest, end)
	require.True(t, found, "%s lacks %q", path, end)
	if *update {
		require.Equal(t, len(clients)+2, strings.Count(table, "\n"), "all clients must run")
		require.NoError(t, os.WriteFile(path, []byte(before+begin+table+end+after), 0o644))
		return
	}
	for line := range strings.Lines(table) { // of all clients, or of those that -run has chosen
		require.Contains(t, old, line, "docs/clients.md says otherwise; go test ./test/logins -update writes it")
	}
}
