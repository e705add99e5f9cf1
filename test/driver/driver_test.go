package driver

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// least is how many tests must pass directly: without a server most are skipped.
const least = 400

// TestDriver compares test by test, subtests included: on a sluice that only relays, and
// on one that batches.
func TestDriver(t *testing.T) {
	suite := filepath.Join(t.TempDir(), "driver.test")
	out, err := exec.Command("go", "test", "-c", "-o", suite, "github.com/go-sql-driver/mysql").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			options := append(servers.NewAuthority(t).ServerOptions(t), "--max-allowed-packet="+largest())
			server := servers.Fresh(t, kind, options...)
			server.Exec(t, "CREATE USER driver@'%' IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO driver@'%'")
			direct := run(t, suite, server, server.Addr, "test_direct")
			passed := 0
			for name, outcome := range direct.outcomes {
				switch outcome {
				case "pass":
					passed++
				case "fail":
					t.Logf("fails directly: %s\n%s", name, direct.output[name])
				}
			}
			t.Logf("%d tests pass directly", passed)
			require.Greater(t, passed, least)
			for _, profile := range []string{"off", "loader"} {
				t.Run(profile, func(t *testing.T) {
					// The driver's tests of TLS ask the server about the link, which is sluice's.
					sluice := servers.StartSluice(t, server, "--profile", profile, "--backend", server.BackendURL()+"?tls=skip-verify")
					compare(t, direct, run(t, suite, server, sluice.Addr, "test_"+profile))
				})
			}
		})
	}
}

func compare(t *testing.T, direct, proxied results) {
	t.Helper()
	for name, want := range direct.outcomes {
		if got := proxied.outcomes[name]; got != want && want != "fail" {
			t.Errorf("%s: directly %s, through sluice %s\n%s", name, want, got, proxied.output[name])
		}
	}
}
