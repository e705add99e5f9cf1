package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// Source lends a connection of the service account. release gives it back; an
// error says that it may be in the middle of something and must be closed.
type Source func(ctx context.Context) (q wire.Querier, release func(error), err error)

// use runs f on a borrowed connection.
func (s Source) use(ctx context.Context, f func(wire.Querier) error) error {
	q, release, err := s(ctx)
	if err != nil {
		return fmt.Errorf("service account: %w", err)
	}
	err = f(q)
	release(broken(err))
	return err
}

// broken keeps the errors after which a connection is not in order. A server's
// refusal, and what this package found wrong in a whole reply, leave it usable.
func broken(err error) error {
	var refusal *wire.Error
	var privilege *PrivilegeError
	if errors.As(err, &refusal) || errors.As(err, &privilege) ||
		errors.Is(err, ErrNoTable) || errors.Is(err, errMoved) || errors.Is(err, errShow) {
		return nil
	}
	return err
}

// CacheOptions are what a Cache needs.
type CacheOptions struct {
	Dialect rewrite.Dialect
	Version int
	Source  Source
}

// Cache keeps loaded tables until they are invalidated. A table whose DDL went
// past sluice stays until Unchanged finds it out. Safe for concurrent use; the
// tables are shared and must not be written to.
type Cache struct {
	o       CacheOptions
	flights singleflight.Group

	mu         sync.Mutex
	generation uint64
	tables     map[name]*rewrite.Table
}

// NewCache returns an empty cache.
func NewCache(o CacheOptions) *Cache {
	return &Cache{o: o, tables: map[name]*rewrite.Table{}}
}

// Get returns a table, loading it if need be. Concurrent calls for one table
// load it once. A call that begins after an Invalidate never gets what was read
// before it. Errors are not kept.
func (c *Cache) Get(ctx context.Context, schema, table string) (*rewrite.Table, error) {
	n := name{schema, table}
	for {
		c.mu.Lock()
		t, generation := c.tables[n], c.generation
		c.mu.Unlock()
		if t != nil {
			return t, nil
		}
		// The generation in the key keeps this call out of an older flight.
		key := fmt.Sprintf("%d\x00%s\x00%s", generation, schema, table)
		v, err, _ := c.flights.Do(key, func() (any, error) { return c.load(ctx, n, generation) })
		if err == nil {
			return v.(*rewrite.Table), nil
		}
		// Another caller's context ended, in whose flight this one sat.
		ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		if !ended || ctx.Err() != nil {
			return nil, err
		}
	}
}

func (c *Cache) load(ctx context.Context, n name, generation uint64) (*rewrite.Table, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var t *rewrite.Table
	err := c.o.Source.use(ctx, func(q wire.Querier) (err error) {
		t, err = Load(q, c.o.Dialect, c.o.Version, n.schema, n.table)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation == generation {
		c.tables[n] = t
	}
	return t, nil
}

// Invalidate forgets a table, under any spelling of its name.
func (c *Cache) Invalidate(schema, table string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	for n := range c.tables {
		if strings.EqualFold(n.schema, schema) && strings.EqualFold(n.table, table) {
			delete(c.tables, n)
		}
	}
}

// InvalidateAll forgets every table.
func (c *Cache) InvalidateAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	clear(c.tables)
}
