package semantics

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// TestS11CheckpointFirst cuts the service account's connections around their COMMIT,
// with the old transaction alive for a while or committing late. The table has no
// key, so that a row applied twice is there twice.
func TestS11CheckpointFirst(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		s := stage.New(t, server)
		c := cutter{rng: rand.New(rand.NewPCG(11, 11)), done: map[cut]int{}}
		relay := newRelay(t, s.Server.Addr, c.decide)
		s.Sluice = servers.StartSluice(t, s.Server, stage.HeldBack(
			"--backend", "mysql://sluice_svc@"+relay.addr+"/", "--chunk-rows", "7", "--apply-connections", "2")...)
		s.Root("CREATE TABLE a (x INT)", "CREATE TABLE b (x INT PRIMARY KEY, y INT)", "CREATE TABLE n (x INT)")
		loader := s.Through("app")
		loader.Warm("INSERT INTO a VALUES (%d)")
		loader.Warm("INSERT INTO b VALUES (%d, 1)")
		s.Flush()
		s.Root("TRUNCATE a", "DELETE FROM b")
		loader.Warm("INSERT INTO a VALUES (-%d)")
		loader.Warm("INSERT INTO b VALUES (-%d, 1)")
		c.active(true)
		const windows = 30
		sent := 0
		for w := range windows {
			for range 1 + w%20 {
				sent++
				loader.Exec(fmt.Sprintf("INSERT INTO a VALUES (%d)", sent), fmt.Sprintf("INSERT INTO b VALUES (%d, 1)", sent))
			}
			s.Flush()
			require.Equal(t, []string{fmt.Sprintf("%d,%d", sent, sent)}, s.Stored("SELECT COUNT(*), COUNT(DISTINCT x) FROM a WHERE x > 0"), "window %d", w)
			require.Equal(t, sent, s.Count("b WHERE x > 0"), "window %d", w)
		}
		c.active(false)
		require.Zero(t, s.Metric(stage.Rejects))
		require.Greater(t, s.Metric(stage.Batched), sent)
		for _, what := range []cut{unsent, unsentLate, unanswered, late} {
			require.Greater(t, c.done[what], 3, "cuts of kind %d", what)
		}
	})
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
