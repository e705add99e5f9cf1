package semantics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// TestS11CheckpointFirst cuts the service account's connections around their COMMIT,
// with the old transaction alive for a while or committing late. The table has no
// key, so that a row applied twice is there twice.
func TestS11CheckpointFirst(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, servers.Shared(t, kind))
			c := cutter{rng: rand.New(rand.NewPCG(11, 11)), done: map[cut]int{}}
			relay := newRelay(t, s.server.Addr, c.decide)
			s.sluice = servers.StartSluice(t, s.server, append(slices.Clone(heldBack),
				"--backend", "mysql://sluice_svc@"+relay.addr+"/", "--chunk-rows", "7", "--apply-connections", "2")...)
			s.root("CREATE TABLE a (x INT)", "CREATE TABLE b (x INT PRIMARY KEY, y INT)", "CREATE TABLE n (x INT)")
			loader := s.through("app")
			loader.warm("INSERT INTO a VALUES (%d)")
			loader.warm("INSERT INTO b VALUES (%d, 1)")
			s.flush()
			s.root("TRUNCATE a", "DELETE FROM b")
			loader.warm("INSERT INTO a VALUES (-%d)")
			loader.warm("INSERT INTO b VALUES (-%d, 1)")
			c.active(true)
			const windows = 30
			sent := 0
			for w := range windows {
				for range 1 + w%20 {
					sent++
					loader.exec(fmt.Sprintf("INSERT INTO a VALUES (%d)", sent), fmt.Sprintf("INSERT INTO b VALUES (%d, 1)", sent))
				}
				s.flush()
				require.Equal(t, []string{fmt.Sprintf("%d,%d", sent, sent)}, s.stored("SELECT COUNT(*), COUNT(DISTINCT x) FROM a WHERE x > 0"), "window %d", w)
				require.Equal(t, sent, s.count("b WHERE x > 0"), "window %d", w)
			}
			c.active(false)
			require.Zero(t, s.metric(rejects))
			require.Greater(t, s.metric(batched), sent)
			for _, what := range []cut{unsent, unsentLate, unanswered, late} {
				require.Greater(t, c.done[what], 3, "cuts of kind %d", what)
			}
		})
	}
}

// cutter decides on COMMITs by chance.
type cutter struct {
	mu   sync.Mutex
	on   bool
	rng  *rand.Rand
	done map[cut]int
}

func (c *cutter) active(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = on
}

func (c *cutter) decide() (cut, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on || c.rng.IntN(3) == 0 {
		return pass, 0
	}
	what := cut(1 + c.rng.IntN(4))
	c.done[what]++
	wait := time.Duration(c.rng.IntN(200)) * time.Millisecond
	if c.rng.IntN(3) == 0 {
		wait = time.Duration(c.rng.IntN(3000)) * time.Microsecond
	}
	return what, wait
}
