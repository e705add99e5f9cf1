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

// smallWindows make flushes frequent, so that random kills hit them.
var smallWindows = []string{"--window-delay", "60ms", "--window-max-delay", "200ms", "--chunk-rows", "200", "--statement-bytes", "4KiB"}

// load is what is killed: a server and sluice while loaders insert into a table. That
// has no unique key, so that a row applied twice shows.
type load struct {
	*loaders
	server *servers.Server
	sluice *servers.Sluice
	random *rand.Rand
}

// underLoad runs a test on a fresh server of each kind, with n loaders in autocommit
// and one with transactions. In the end, when sluice is up and nothing is pending,
// what was acknowledged must be stored exactly once.
func underLoad(t *testing.T, n int, flags []string, run func(t *testing.T, l *load)) {
	t.Helper()
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			l := &load{random: seeded(t), server: servers.Fresh(t, kind)}
			l.server.Exec(t, "DROP TABLE IF EXISTS test.crash",
				"CREATE TABLE test.crash (loader INT, n INT, v VARCHAR(60), KEY (loader, n)) ENGINE=InnoDB")
			l.sluice = servers.StartSluice(t, l.server, flags...)
			l.loaders = startLoaders(t, l.sluice, n)
			run(t, l)
			l.verify(t, l.server)
		})
	}
}

// pause sleeps for up to limit.
func (l *load) pause(limit time.Duration) { time.Sleep(time.Duration(l.random.Int64N(int64(limit)))) }

// finish lets each loader get through once more, ends them, and waits until nothing
// is pending.
func (l *load) finish(t *testing.T) {
	t.Helper()
	l.getThrough(t)
	l.stop()
	settle(t, l.sluice)
}

// settle waits until nothing is pending.
func settle(t *testing.T, sluice *servers.Sluice) {
	t.Helper()
	sluice.WaitFor(t, "sluice_pending_rows", 0, 2*time.Minute)
}

// TestCrash kills sluice at random moments of a load, and every fourth time inside a
// flush and inside the replay after it.
func TestCrash(t *testing.T) {
	underLoad(t, 4, smallWindows, func(t *testing.T, l *load) {
		target := aim{server: l.server, sluice: l.sluice}
		for round := range rounds(t, 24) {
			l.pause(700 * time.Millisecond)
			if round%4 == 3 {
				target.strike(t, obstacles[round/4%2], l.random.IntN(2) == 0)
				continue
			}
			target.kill(t)
			for l.random.IntN(3) == 0 { // again while it starts and replays
				l.sluice.Begin(t)
				l.pause(150 * time.Millisecond)
				target.kill(t)
			}
			l.sluice.Begin(t)
			l.sluice.Await(t)
		}
		l.finish(t)
		if n := l.sluice.Metric(t, "sluice_rejects_total"); n != 0 {
			t.Errorf("%v rows were rejected", n)
		}
	})
}

// TestCrashOfServer kills the server instead, and now and then both. Loaders
// go on against the journal.
func TestCrashOfServer(t *testing.T) {
	underLoad(t, 2, smallWindows, func(t *testing.T, l *load) {
		for range rounds(t, 5) {
			time.Sleep(300 * time.Millisecond)
			l.pause(700 * time.Millisecond)
			l.server.Kill9(t)
			both := l.random.IntN(3) == 0
			if both {
				l.sluice.Kill9(t)
			}
			l.pause(500 * time.Millisecond)
			l.server.Restart(t)
			if both {
				l.sluice.Begin(t)
				l.sluice.Await(t)
			}
		}
		l.finish(t)
	})
}

// TestDrain holds that SIGTERM in the middle of a load applies everything that
// was acknowledged before the exit.
func TestDrain(t *testing.T) {
	underLoad(t, 2, nil, func(t *testing.T, l *load) {
		l.getThrough(t)
		time.Sleep(700 * time.Millisecond)
		l.sluice.Stop(t)
		l.stop()
	})
}
