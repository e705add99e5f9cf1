package fault

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-db/sluice/test/servers"
)

// healthy is a client that behaves, beside those that do not: it inserts and
// reads on one connection that was opened before, and must notice nothing.
type healthy struct {
	table  string
	sent   int
	served atomic.Int64
	slow   time.Duration // the longest wait
	err    error
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// patience is how long a healthy session may wait on a busy machine: less than sluice
// waits for a client to log in, 9 s.
const patience = 8500 * time.Millisecond

// healthyCount gives each its own table: tests share servers.
var healthyCount atomic.Int64

func startHealthy(t *testing.T, server *servers.Server, sluice *servers.Sluice) *healthy {
	t.Helper()
	h := &healthy{table: fmt.Sprintf("test.healthy_%d", healthyCount.Add(1))}
	server.Exec(t, "DROP TABLE IF EXISTS "+h.table, "CREATE TABLE "+h.table+" (n INT PRIMARY KEY)")
	db := sluice.Open(t, "test")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	h.done.Go(func() {
		defer conn.Close()
		for h.err == nil && (h.sent == 0 || ctx.Err() == nil) {
			started := time.Now()
			_, h.err = conn.ExecContext(context.Background(), fmt.Sprintf("INSERT INTO %s VALUES (%d)", h.table, h.sent))
			if h.err == nil {
				h.sent++
				h.served.Add(1)
			}
			if h.err == nil && h.sent%50 == 0 {
				var count int
				h.err = conn.QueryRowContext(context.Background(), "SELECT COUNT(*) FROM "+h.table).Scan(&count)
				if h.err == nil && count != h.sent {
					h.err = fmt.Errorf("reads %d of its %d rows", count, h.sent)
				}
			}
			h.slow = max(h.slow, time.Since(started))
			time.Sleep(time.Millisecond)
		}
	})
	t.Cleanup(h.cancel)
	return h
}

// check ends the healthy client and tells whether it noticed anything.
func (h *healthy) check(t *testing.T, server *servers.Server, sluice *servers.Sluice) {
	t.Helper()
	h.cancel()
	h.done.Wait()
	if h.err != nil {
		t.Errorf("a healthy session failed: %v", h.err)
	}
	if h.slow > patience {
		t.Errorf("a healthy session waited %s", h.slow)
	}
	settle(t, sluice)
	var count int
	if err := server.Open(t).QueryRow("SELECT COUNT(*) FROM " + h.table).Scan(&count); err != nil {
		t.Fatal(err)
	}
	if count != h.sent || count == 0 {
		t.Errorf("a healthy session inserted %d rows, %d are stored", h.sent, count)
	}
}
