package regress

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// A service account that holds too much was waited for as if the server were down, with
// one more connection left open each second.
func TestServiceAccountHoldsTooMuch(t *testing.T) {
	t.Parallel()
	server := servers.Fresh(t, servers.KindMariaDB)
	sluice := servers.StartSluice(t, server)
	sluice.Stop(t)
	server.Exec(t, "GRANT SUPER ON *.* TO sluice_svc@'%'")
	sluice.Begin(t)
	said := func() bool { return strings.Contains(sluice.Log(20), "REVOKE") }
	require.Eventually(t, said, 10*time.Second, 50*time.Millisecond)
	sluice.AwaitExit(t)
	require.NotContains(t, sluice.Log(20), "waiting for it")
}
