package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// DefaultMaxAge is how long a Graph believes what it read.
const DefaultMaxAge = time.Second

// maxReach bounds a closure; beyond it everything is flushed.
const maxReach = 1000

// GraphOptions are what a Graph needs.
type GraphOptions struct {
	Dialect rewrite.Dialect
	Version int
	Source  Source
	MaxAge  time.Duration // DefaultMaxAge if 0
}

// Graph says which base tables a statement that names a table could see or
// change (S25): through views, by foreign keys in both directions, by triggers.
// It is read from the server on demand and believed for MaxAge, or until
// Invalidate. Safe for concurrent use.
type Graph struct {
	o       GraphOptions
	flights singleflight.Group

	mu     sync.Mutex
	serial uint64
	snap   *snapshot
}

// snapshot is what was read since its birth.
type snapshot struct {
	serial uint64
	born   time.Time

	mu    sync.Mutex
	world *world
	nodes map[name]*node
}

// world is what is read at once for all tables.
type world struct {
	grants *Grants
	fold   bool // the server does not tell A from a in the names of tables
	links  map[name][]name
}

// node is what a name means to a statement.
type node struct {
	table  name   // as the server spells it
	base   bool   // rows can be pending for it
	reach  []name // what a view selects from
	opaque bool   // it may reach more than is known
}

// NewGraph returns an empty graph.
func NewGraph(o GraphOptions) *Graph {
	if o.MaxAge == 0 {
		o.MaxAge = DefaultMaxAge
	}
	return &Graph{o: o}
}

// Invalidate forgets everything. To be called for every DDL that is seen.
func (g *Graph) Invalidate() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.snap = nil
}

func (g *Graph) current() *snapshot {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.snap == nil || time.Since(g.snap.born) > g.o.MaxAge {
		g.serial++
		g.snap = &snapshot{serial: g.serial, born: time.Now(), nodes: map[name]*node{}}
	}
	return g.snap
}

// Closure returns the base tables ("schema.table", sorted) that a statement
// which names this table could see or touch, itself included. Not complete
// means that it could reach others too, or that the server could not be asked:
// flush everything.
func (g *Graph) Closure(ctx context.Context, schema, table string) (tables []string, complete bool) {
	snap := g.current()
	w, err := g.world(ctx, snap)
	if err != nil || !w.grants.seesLinks(g.o.Dialect) {
		return nil, false
	}
	complete = g.walk(ctx, snap, w, name{schema, table}, func(n name, found *node) (next []name, ok bool) {
		if found.base {
			tables = append(tables, found.table.String())
		}
		return slices.Concat(found.reach, w.links[n]), !found.opaque
	})
	if !complete {
		return nil, false
	}
	slices.Sort(tables)
	return tables, true
}

// Inert says whether a SELECT that names this table provably runs nothing that
// somebody wrote: it is a base table, or a view of such without calls of stored
// functions, which could change the session's variables or make a temporary table (S04).
func (g *Graph) Inert(ctx context.Context, schema, table string) bool {
	snap := g.current()
	w, err := g.world(ctx, snap)
	if err != nil {
		return false
	}
	return g.walk(ctx, snap, w, name{schema, table}, func(_ name, found *node) (next []name, ok bool) {
		return found.reach, found.base || !found.opaque && len(found.reach) > 0
	})
}

// walk visits what a name leads to, itself first and each once: visit gives what to
// follow from there, or not ok to end the walk. It says whether it came to its end.
func (g *Graph) walk(ctx context.Context, snap *snapshot, w *world, from name, visit func(n name, found *node) (next []name, ok bool)) bool {
	seen := map[name]bool{}
	queue := []name{w.spell(from)}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if seen[n] {
			continue
		}
		if seen[n] = true; len(seen) > maxReach {
			return false
		}
		found, err := g.node(ctx, snap, w, n)
		if err != nil {
			return false
		}
		next, ok := visit(n, found)
		if !ok {
			return false
		}
		for _, m := range next {
			queue = append(queue, w.spell(m))
		}
	}
	return true
}

// spell is the form of a name that is the same for every way to write it.
func (w *world) spell(n name) name {
	if w.fold {
		return name{strings.ToLower(n.schema), strings.ToLower(n.table)}
	}
	return n
}

func (g *Graph) world(ctx context.Context, snap *snapshot) (*world, error) {
	snap.mu.Lock()
	w := snap.world
	snap.mu.Unlock()
	if w != nil {
		return w, nil
	}
	v, err, _ := g.flights.Do(fmt.Sprintf("%d", snap.serial), func() (any, error) {
		w := &world{links: map[name][]name{}}
		err := g.o.Source.use(ctx, func(q wire.Querier) error { return w.read(q, g.o.Dialect) })
		if err != nil {
			return nil, err
		}
		snap.mu.Lock()
		defer snap.mu.Unlock()
		snap.world = w
		return w, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*world), nil
}

func (w *world) read(q wire.Querier, dialect rewrite.Dialect) error {
	r, err := q.Query("SELECT @@lower_case_table_names")
	if err != nil {
		return fmt.Errorf("lower_case_table_names: %w", err)
	}
	w.fold = string(r.Rows[0][0]) != "0"
	if w.grants, err = ReadGrants(q); err != nil {
		return err
	}
	if !w.grants.seesLinks(dialect) {
		return nil
	}
	links, err := readLinks(q, dialect, w.grants, nil)
	if err != nil {
		return err
	}
	for _, l := range links {
		child, parent := w.spell(l.child), w.spell(l.parent)
		w.links[child] = append(w.links[child], parent)
		w.links[parent] = append(w.links[parent], child)
	}
	return nil
}

func (g *Graph) node(ctx context.Context, snap *snapshot, w *world, n name) (*node, error) {
	snap.mu.Lock()
	found := snap.nodes[n]
	snap.mu.Unlock()
	if found != nil {
		return found, nil
	}
	v, err, _ := g.flights.Do(fmt.Sprintf("%d\x00%s\x00%s", snap.serial, n.schema, n.table), func() (any, error) {
		var found *node
		err := g.o.Source.use(ctx, func(q wire.Querier) (err error) {
			found, err = readNode(q, w, n)
			return err
		})
		if err != nil {
			return nil, err
		}
		snap.mu.Lock()
		defer snap.mu.Unlock()
		snap.nodes[n] = found
		return found, nil
	})
	if err != nil {
		return nil, err
	}
	return v.(*node), nil
}

// contained are the engines whose tables hold their own rows and nobody else's
// (not MERGE, FEDERATED, CONNECT, SPIDER).
var contained = set("innodb myisam aria memory csv archive blackhole rocksdb tokudb ndbcluster ndb")

// own are the schemas that show the state of everything (S25).
var own = set("mysql information_schema performance_schema sys")

func readNode(q wire.Querier, w *world, n name) (*node, error) {
	if own[strings.ToLower(n.schema)] {
		return &node{opaque: true}, nil
	}
	o, err := readObject(q, n.schema, n.table)
	if err != nil {
		return nil, err // unknown, or hidden from the account
	}
	found := &node{table: name{o.schema, o.table}, base: o.base}
	switch {
	case o.view:
		r, err := q.Query(neutral + "SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA=" +
			literal(o.schema) + " AND TABLE_NAME=" + literal(o.table))
		if err != nil {
			return nil, fmt.Errorf("view: %w", err)
		}
		if len(r.Rows) != 1 {
			return nil, ErrNoTable
		}
		var ok bool
		found.reach, ok = viewTables(string(r.Rows[0][0]))
		found.opaque = !ok
	case o.base:
		r, err := q.Query(triggersOf(o.schema, o.table))
		if err != nil {
			return nil, fmt.Errorf("triggers: %w", err)
		}
		found.opaque = len(r.Rows) != 0 || !contained[strings.ToLower(o.engine)] ||
			!w.grants.Holds("TRIGGER", o.schema, o.table)
	case o.sequence:
	default:
		found.opaque = true
	}
	return found, nil
}
