package fault

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// usage is what a running sluice takes of the machine.
type usage struct {
	goroutines  int
	descriptors int
	heap        int // bytes in use after a collection
	stacks      int // bytes
}

const mib = 1 << 20

func usageOf(t *testing.T, sluice *servers.Sluice) usage {
	t.Helper()
	collect(t, sluice)
	m := sluice.Metrics(t)
	return usage{
		goroutines:  int(m["go_goroutines"]),
		descriptors: len(descriptorsOf(t, sluice)),
		heap:        int(m["go_memstats_heap_alloc_bytes"]),
		stacks:      int(m["go_memstats_stack_inuse_bytes"]),
	}
}

// collect has sluice collect its garbage.
func collect(t *testing.T, sluice *servers.Sluice) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Get(sluice.HTTP + "/debug/pprof/heap?gc=1")
	require.NoError(t, err)
	defer reply.Body.Close()
	_, err = io.Copy(io.Discard, reply.Body)
	require.NoError(t, err)
}

// descriptorsOf are the file descriptors that sluice has open.
func descriptorsOf(t *testing.T, sluice *servers.Sluice) map[int]bool {
	t.Helper()
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(sluice.PID) + "/fd")
	require.NoError(t, err)
	open := make(map[int]bool)
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		require.NoError(t, err)
		open[n] = true
	}
	return open
}

// resident is how much memory sluice takes, now (VmRSS) or at most so far (VmHWM), in bytes.
func resident(t *testing.T, sluice *servers.Sluice, field string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(sluice.PID) + "/status")
	require.NoError(t, err)
	found := regexp.MustCompile(field + `:\s*(\d+) kB`).FindSubmatch(text)
	require.NotNil(t, found)
	n, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return n << 10
}

// staysWithin fails if sluice has taken more memory at any time. The race detector takes
// several times as much.
func staysWithin(t *testing.T, sluice *servers.Sluice, bytes int) {
	t.Helper()
	if servers.Race {
		bytes *= 8
	}
	peak := resident(t, sluice, "VmHWM")
	t.Logf("at most %d MiB were resident", peak/mib)
	require.LessOrEqual(t, peak, bytes)
}

// settlesTo waits until sluice has given back what clients that are gone took: goroutines
// and descriptors but for a few that come and go by themselves, and the heap but for
// what stays in pools and maps.
func settlesTo(t *testing.T, sluice *servers.Sluice, before usage, sessions float64) {
	t.Helper()
	const few, kept = 10, 24 * mib
	deadline := time.Now().Add(time.Minute)
	for {
		now, open := usageOf(t, sluice), sluice.Metric(t, "sluice_sessions")
		if open == sessions && now.goroutines <= before.goroutines+few &&
			now.descriptors <= before.descriptors+few && now.heap <= before.heap+kept {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("sluice does not give back what its clients took: %+v before, %+v after, %v sessions", before, now, open)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
