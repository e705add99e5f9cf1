package compat

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// runDirectory plays every script of a directory on every server it is for.
func runDirectory(t *testing.T, dir string, sluice func(*testing.T, *servers.Server) *servers.Sluice) {
	scripts, err := Load(dir)
	require.NoError(t, err)
	for _, script := range scripts {
		t.Run(script.Name, func(t *testing.T) {
			for _, kind := range script.Servers {
				t.Run(string(kind), func(t *testing.T) {
					t.Parallel()
					server := servers.Shared(t, kind)
					Run(t, server, sluice(t, server), script)
				})
			}
		})
	}
}

// TestRelay plays every command, every kind of reply and both end-of-file
// modes directly and through sluice.
func TestRelay(t *testing.T) {
	t.Parallel()
	runDirectory(t, "testdata/relay", func(t *testing.T, server *servers.Server) *servers.Sluice {
		return servers.SharedSluice(t, server.Kind)
	})
}

// TestFieldCases plays the reports of others about loading, alone and among
// ordinary inserts, in each transaction mode. Each has a sluice of its own, so
// that its rejects can be counted.
func TestFieldCases(t *testing.T) {
	t.Parallel()
	runDirectory(t, "testdata/field", func(t *testing.T, server *servers.Server) *servers.Sluice {
		return servers.StartSluice(t, server)
	})
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
