package fault

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// loader inserts numbered rows, one statement each, and goes on after every
// failure with the next number. It knows for each number what it was told.
type loader struct {
	id   int
	db   *sql.DB
	size int // rows in a transaction, 0 for autocommit

	acked []bool       // by number: the insert, or its COMMIT, was answered by OK
	oks   atomic.Int64 // how often
}

// loaders run side by side; stop ends them and waits.
type loaders struct {
	all    []*loader
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// startLoaders starts n loaders in autocommit and one with transactions.
func startLoaders(t *testing.T, sluice *servers.Sluice, n int) *loaders {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ls := &loaders{cancel: cancel}
	for i := range n + 1 {
		l := &loader{id: i, db: sluice.Open(t, "test")}
		if i%2 == 1 {
			l.db = openCompressed(t, sluice)
		}
		l.db.SetMaxOpenConns(1)
		if i == n {
			l.size = 40
		}
		ls.all = append(ls.all, l)
		ls.done.Go(func() { l.run(ctx) })
	}
	t.Cleanup(ls.stop)
	return ls
}

func openCompressed(t *testing.T, sluice *servers.Sluice) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", sluice.DSN("app", "app", "test")+"&compress=true")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (ls *loaders) stop() {
	ls.cancel()
	ls.done.Wait()
}

// getThrough waits until each loader was acknowledged something more.
func (ls *loaders) getThrough(t *testing.T) {
	t.Helper()
	for _, l := range ls.all {
		before := l.oks.Load()
		require.Eventually(t, func() bool { return l.oks.Load() > before }, 2*time.Minute, 10*time.Millisecond, "loader %d", l.id)
	}
}

func (l *loader) run(ctx context.Context) {
	for ctx.Err() == nil {
		var err error
		if l.size == 0 {
			err = l.insert()
		} else {
			err = l.transaction()
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // sluice is down; it comes back
		}
	}
}

// next gives the statement for the next number, which is used once only.
func (l *loader) next() (int, string) {
	n := len(l.acked)
	l.acked = append(l.acked, false)
	return n, fmt.Sprintf("INSERT INTO crash (loader, n, v) VALUES (%d, %d, 'row %d of loader %d')", l.id, n, n, l.id)
}

func (l *loader) insert() error {
	conn, err := l.db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	// One connection for a run of inserts: a burst is a matter of a session.
	for range 2000 {
		n, statement := l.next()
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			return discard(conn, err)
		}
		l.acked[n] = true
		l.oks.Add(1)
	}
	return nil
}

// transaction inserts some rows; what COMMIT does not confirm is unknown, but
// is there as a whole or not at all.
func (l *loader) transaction() error {
	ctx := context.Background()
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return discard(conn, err)
	}
	first := len(l.acked)
	for range l.size {
		l.next()
	}
	for n := first; n < first+l.size; n++ {
		statement := fmt.Sprintf("INSERT INTO crash (loader, n, v) VALUES (%d, %d, 'in a transaction')", l.id, n)
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return discard(conn, err)
		}
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return discard(conn, err)
	}
	for n := first; n < first+l.size; n++ {
		l.acked[n] = true
	}
	l.oks.Add(1)
	return nil
}

// discard takes a connection whose state is unknown out of the pool.
func discard(conn *sql.Conn, cause error) error {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // closes it, and says so
	return cause
}

// verify compares what the loaders were told with what is stored: every
// acknowledged row once, no other row twice, transactions whole.
func (ls *loaders) verify(t *testing.T, server *servers.Server) {
	t.Helper()
	db := server.Open(t)
	for _, l := range ls.all {
		count := make([]int, len(l.acked))
		rows, err := db.Query("SELECT n, COUNT(*) FROM test.crash WHERE loader=? GROUP BY n", l.id)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var n, c int
			if err := rows.Scan(&n, &c); err != nil {
				t.Fatal(err)
			}
			if n >= len(count) {
				t.Fatalf("loader %d: row %d was never sent", l.id, n)
			}
			count[n] = c
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		l.check(t, count)
	}
}

func (l *loader) check(t *testing.T, count []int) {
	t.Helper()
	acked, lost, doubled, torn := 0, 0, 0, 0
	for n, c := range count {
		if l.acked[n] {
			acked++
			if c == 0 {
				lost++
			}
		}
		if c > 1 {
			doubled++
		}
		if l.size > 0 && n%l.size > 0 && c != count[n-1] {
			torn++
		}
	}
	t.Logf("loader %d: %d sent, %d acknowledged", l.id, len(count), acked)
	if acked == 0 {
		t.Errorf("loader %d: nothing was ever acknowledged", l.id)
	}
	if lost+doubled+torn > 0 {
		t.Errorf("loader %d: %d acknowledged rows lost, %d rows doubled, %d rows part of a torn transaction",
			l.id, lost, doubled, torn)
	}
}
