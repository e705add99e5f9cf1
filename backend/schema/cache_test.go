package schema

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/test/servers"
)

func newTestCache(t *testing.T, s *servers.Server, source Source) *Cache {
	return NewCache(CacheOptions{Dialect: dialect(s), Version: version(t, s), Source: source})
}

func TestCache(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		schema := fresh(t, s)
		q := service(t, s)
		q.run(t, "USE "+schema, "CREATE TABLE t (id INT PRIMARY KEY)")
		var lent atomic.Int64
		inner := lend(q)
		c := newTestCache(t, s, func(ctx context.Context) (wire.Querier, func(error), error) {
			lent.Add(1)
			return inner(ctx)
		})
		var all errgroup.Group
		for range 50 {
			all.Go(func() error {
				table, err := c.Get(t.Context(), schema, "t")
				if err == nil && len(table.Columns) != 1 {
					err = errors.New("wrong table")
				}
				return err
			})
		}
		require.NoError(t, all.Wait())
		require.LessOrEqual(t, lent.Load(), int64(2), "a second flight may start between the end of the first and its entry")

		q.run(t, "ALTER TABLE t ADD COLUMN v INT")
		table, err := c.Get(t.Context(), schema, "t")
		require.NoError(t, err)
		require.Len(t, table.Columns, 1)
		for i, invalidate := range []func(){
			func() { c.Invalidate(schema, "T") },
			c.InvalidateAll,
		} {
			invalidate()
			table, err = c.Get(t.Context(), schema, "t")
			require.NoError(t, err)
			require.Len(t, table.Columns, 2+i)
			q.run(t, "ALTER TABLE t ADD COLUMN w"+string(rune('0'+i))+" INT")
		}
		_, err = c.Get(t.Context(), schema, "later")
		require.ErrorIs(t, err, ErrNoTable)
		q.run(t, "CREATE TABLE later (id INT)")
		_, err = c.Get(t.Context(), schema, "later")
		require.NoError(t, err, "errors are not kept")
	})
}

// TestCacheInvalidateInFlight: what was being read when Invalidate came is not
// kept, and a Get that begins after it does not join.
func TestCacheInvalidateInFlight(t *testing.T) {
	s := servers.Shared(t, servers.KindMariaDB)
	schema := fresh(t, s)
	q := service(t, s)
	q.run(t, "CREATE TABLE "+schema+".t (id INT PRIMARY KEY)")
	asked := make(chan struct{})
	proceed := make(chan struct{})
	var once sync.Once
	slow := slowQuerier{q, func() {
		once.Do(func() {
			close(asked)
			<-proceed
		})
	}}
	c := newTestCache(t, s, func(context.Context) (wire.Querier, func(error), error) {
		return slow, func(error) {}, nil
	})
	var first errgroup.Group
	first.Go(func() error {
		_, err := c.Get(context.Background(), schema, "t")
		return err
	})
	<-asked
	c.Invalidate(schema, "other")
	close(proceed)
	require.NoError(t, first.Wait())
	c.mu.Lock()
	require.Empty(t, c.tables)
	c.mu.Unlock()
}

type slowQuerier struct {
	wire.Querier
	wait func()
}

func (s slowQuerier) Query(sql string) (*wire.Result, error) {
	s.wait()
	return s.Querier.Query(sql)
}

// TestCacheContext: a caller whose own context lives is not failed by the
// context of the one whose flight it joined.
func TestCacheContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	inside := make(chan struct{})
	var calls atomic.Int64
	c := NewCache(CacheOptions{Source: func(ctx context.Context) (wire.Querier, func(error), error) {
		if calls.Add(1) == 1 {
			close(inside)
			<-ctx.Done()
			return nil, nil, ctx.Err()
		}
		return nil, nil, errNoSource
	}})
	var both errgroup.Group
	both.Go(func() error {
		_, err := c.Get(ended, "d", "t")
		if !errors.Is(err, context.Canceled) {
			return errors.New("not cancelled")
		}
		return nil
	})
	<-inside
	both.Go(func() error {
		_, err := c.Get(t.Context(), "d", "t")
		if !errors.Is(err, errNoSource) {
			return errors.New("the living caller got another's end")
		}
		return nil
	})
	cancel()
	require.NoError(t, both.Wait())
}

var errNoSource = errors.New("no connection")

// TestSourceRelease: after a server's refusal the connection is still good,
// after anything else it is not.
func TestSourceRelease(t *testing.T) {
	for _, c := range []struct {
		err  error
		good bool
	}{
		{nil, true}, {&wire.Error{Code: 1146}, true}, {ErrNoTable, true}, {&PrivilegeError{}, true}, {errMoved, true},
		{errors.New("broken pipe"), false},
	} {
		var got error
		source := Source(func(context.Context) (wire.Querier, func(error), error) {
			return nil, func(err error) { got = err }, nil
		})
		require.ErrorIs(t, source.use(t.Context(), func(wire.Querier) error { return c.err }), c.err)
		require.Equal(t, c.good, got == nil, "%v", c.err)
	}
}
