package fault

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// roundsEnv names the environment variable for a longer run (make soak).
const roundsEnv = "SLUICE_CRASH_ROUNDS"

func rounds(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv(roundsEnv)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", roundsEnv, err)
	}
	return n
}

// seeded prints its seed, so that a failure can be looked at again.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// smallWindows make flushes frequent, so that kills hit them.
var smallWindows = []string{"--window-delay", "60ms", "--window-max-delay", "200ms", "--chunk-rows", "200", "--statement-bytes", "4KiB"}

// crashServer is a fresh server with the table. That has no unique key, so that
// a row applied twice shows.
func crashServer(t *testing.T, kind servers.Kind) *servers.Server {
	t.Helper()
	server := servers.Fresh(t, kind)
	server.Exec(t, "DROP TABLE IF EXISTS test.crash",
		"CREATE TABLE test.crash (loader INT, n INT, v VARCHAR(60), KEY (loader, n)) ENGINE=InnoDB")
	return server
}

// settle waits until nothing is pending.
func settle(t *testing.T, sluice *servers.Sluice) {
	t.Helper()
	sluice.WaitFor(t, "sluice_pending_rows", 0, 2*time.Minute)
}

// TestCrash kills sluice at random moments of a load: while rows are gathered,
// flushed, committed, and while the journal is replayed. Every acknowledged
// row must be stored exactly once.
func TestCrash(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			random := seeded(t)
			server := crashServer(t, kind)
			sluice := servers.StartSluice(t, server, smallWindows...)
			loading := startLoaders(t, sluice, 4)
			for range rounds(t, 24) {
				time.Sleep(time.Duration(random.IntN(700)) * time.Millisecond)
				sluice.Kill9(t)
				for random.IntN(3) == 0 { // again while it starts and replays
					sluice.Begin(t)
					time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
					sluice.Kill9(t)
				}
				sluice.Begin(t)
				sluice.Await(t)
			}
			time.Sleep(500 * time.Millisecond)
			loading.stop()
			settle(t, sluice)
			loading.verify(t, server)
			if n := sluice.Metric(t, "sluice_rejects_total"); n != 0 {
				t.Errorf("%v rows were rejected", n)
			}
		})
	}
}

// TestCrashOfServer kills the server instead, and now and then both. Loaders
// go on against the journal; after the end all is there once.
func TestCrashOfServer(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			random := seeded(t)
			server := crashServer(t, kind)
			sluice := servers.StartSluice(t, server, smallWindows...)
			loading := startLoaders(t, sluice, 2)
			for range rounds(t, 5) {
				time.Sleep(time.Duration(300+random.IntN(700)) * time.Millisecond)
				server.Kill9(t)
				both := random.IntN(3) == 0
				if both {
					sluice.Kill9(t)
				}
				time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
				server.Restart(t)
				if both {
					sluice.Begin(t)
					sluice.Await(t)
				}
			}
			time.Sleep(time.Second)
			loading.stop()
			settle(t, sluice)
			loading.verify(t, server)
		})
	}
}

// TestDrain holds that SIGTERM in the middle of a load applies everything that
// was acknowledged before the exit.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := crashServer(t, kind)
			sluice := servers.StartSluice(t, server)
			loading := startLoaders(t, sluice, 2)
			time.Sleep(700 * time.Millisecond)
			sluice.Stop(t)
			loading.stop()
			loading.verify(t, server)
		})
	}
}
