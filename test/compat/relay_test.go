package compat

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// proxyAddr is sluice in front of the shared server, as most tests use it.
func proxyAddr(t *testing.T, kind servers.Kind) string {
	t.Helper()
	return servers.SharedSluice(t, kind).Addr
}

// runDirectory plays every script of a directory on every server it is for.
func runDirectory(t *testing.T, dir string) {
	scripts, err := Load(dir)
	require.NoError(t, err)
	for _, script := range scripts {
		t.Run(script.Name, func(t *testing.T) {
			for _, kind := range script.Servers {
				t.Run(string(kind), func(t *testing.T) {
					t.Parallel()
					Run(t, servers.Shared(t, kind), proxyAddr(t, kind), script)
				})
			}
		})
	}
}

// TestRelay plays every command, every kind of reply and both end-of-file
// modes directly and through sluice.
func TestRelay(t *testing.T) {
	t.Parallel()
	runDirectory(t, "testdata/relay")
}

// TestFieldCases plays the reports of others about loading, alone and among
// ordinary inserts, in each transaction mode.
func TestFieldCases(t *testing.T) {
	t.Parallel()
	runDirectory(t, "testdata/field")
}

// TestScriptsCoverEveryCommand keeps the scripts complete.
func TestScriptsCoverEveryCommand(t *testing.T) {
	t.Parallel()
	scripts, err := Load("testdata/*")
	require.NoError(t, err)
	used := map[string]bool{}
	for _, script := range scripts {
		for _, st := range slices.Concat(script.Setup, script.Body) {
			used[st.verb] = true
		}
	}
	for verb := range verbs {
		require.True(t, used[verb], "no script uses %s", verb)
	}
}
