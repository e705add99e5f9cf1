package schema

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/test/servers"
)

// lend is a Source of one connection.
func lend(q wire.Querier) Source {
	var mu sync.Mutex
	return func(context.Context) (wire.Querier, func(error), error) {
		mu.Lock()
		return q, func(error) { mu.Unlock() }, nil
	}
}

// TestS25Closure: a name closes over foreign keys, views and triggers, and what
// is not known is everything.
func TestS25Closure(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		d, o := fresh(t, s), fresh(t, s)
		q := service(t, s)
		q.run(t, "USE "+d, "CREATE TABLE alone (id INT PRIMARY KEY)",
			"CREATE TABLE p (id INT PRIMARY KEY)",
			"CREATE TABLE c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES p (id))",
			"CREATE TABLE "+o+".g (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES "+d+".c (id))",
			"CREATE TABLE trig (id INT PRIMARY KEY)", "CREATE TRIGGER tr AFTER INSERT ON trig FOR EACH ROW INSERT INTO alone VALUES (NEW.id)",
			"CREATE TABLE ctrig (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES trig (id))",
			"CREATE VIEW va AS SELECT id FROM alone",
			"CREATE VIEW "+o+".vv AS SELECT va.id FROM "+d+".va JOIN "+d+".c ON c.id=va.id",
			"CREATE VIEW vt AS SELECT id FROM trig",
			"CREATE VIEW vcte AS WITH x AS (SELECT id FROM alone) SELECT count(*) n, max(concat(id, 'x')) m FROM x",
			"CREATE FUNCTION f() RETURNS INT READS SQL DATA RETURN (SELECT count(*) FROM alone)",
			"CREATE VIEW vf AS SELECT f() x",
			"CREATE TABLE m1 (id INT) ENGINE=MyISAM", "CREATE TABLE mrg (id INT) ENGINE=MERGE UNION=(m1)",
			"CREATE VIEW gone AS SELECT id FROM m1", "CREATE TABLE `x.y` (id INT)")
		closed := func(schema string, tables ...string) []string {
			var list []string
			for _, table := range tables {
				list = append(list, schema+"."+table)
			}
			return list
		}
		family := append(closed(d, "c", "p"), o+".g")
		g := NewGraph(GraphOptions{Dialect: dialect(s), Version: version(t, s), Source: lend(q)})
		for _, c := range []struct {
			schema, table string
			want          []string // nil: not complete
		}{
			{d, "alone", closed(d, "alone")},
			{d, "p", family}, {d, "c", family}, {o, "g", family},
			{d, "trig", nil}, {d, "ctrig", nil}, {d, "vt", nil},
			{d, "va", closed(d, "alone")},
			{o, "vv", append(closed(d, "alone", "c", "p"), o+".g")},
			{d, "vcte", closed(d, "alone")},
			{d, "vf", nil}, {d, "mrg", nil}, {d, "m1", closed(d, "m1")},
			{d, "gone", closed(d, "m1")}, {d, "x.y", closed(d, "x.y")},
			{d, "nosuch", nil}, {"nosuch", "t", nil}, {d, "ALONE", nil},
			{"information_schema", "TABLES", nil}, {"mysql", "user", nil}, {"performance_schema", "threads", nil}, {"sys", "session", nil},
		} {
			tables, complete := g.Closure(t.Context(), c.schema, c.table)
			require.Equal(t, c.want != nil, complete, "%s.%s", c.schema, c.table)
			require.ElementsMatch(t, c.want, tables, "%s.%s", c.schema, c.table)
		}
	})
}

// TestGraphAge: believed for a while, asked again after Invalidate or MaxAge.
func TestGraphAge(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		d := fresh(t, s)
		q := service(t, s)
		q.run(t, "USE "+d, "CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)")
		g := NewGraph(GraphOptions{Dialect: dialect(s), Version: version(t, s), Source: lend(q), MaxAge: time.Hour})
		tables, complete := g.Closure(t.Context(), d, "a")
		require.True(t, complete)
		require.Equal(t, []string{d + ".a"}, tables)
		asked := q.asked
		_, _ = g.Closure(t.Context(), d, "a")
		require.Equal(t, asked, q.asked)

		q.run(t, "ALTER TABLE b ADD FOREIGN KEY (id) REFERENCES a (id)")
		g.Invalidate()
		tables, complete = g.Closure(t.Context(), d, "a")
		require.True(t, complete)
		require.Equal(t, []string{d + ".a", d + ".b"}, tables)

		q.run(t, "CREATE TRIGGER tr AFTER INSERT ON b FOR EACH ROW SET @x=1")
		g.o.MaxAge = time.Nanosecond
		_, complete = g.Closure(t.Context(), d, "a")
		require.False(t, complete)
	})
}

// TestGraphPrivileges: what the service account cannot see makes nothing
// complete that is not.
func TestGraphPrivileges(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		d, hidden := fresh(t, s), fresh(t, s)
		s.Exec(t, "CREATE TABLE "+d+".t (id INT PRIMARY KEY)", "CREATE TABLE "+d+".u (id INT PRIMARY KEY)",
			"CREATE TABLE "+hidden+".c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES "+d+".t (id))",
			"CREATE VIEW "+d+".v AS SELECT id FROM "+d+".t",
			"CREATE VIEW "+hidden+".v AS SELECT id FROM "+d+".t",
			"CREATE VIEW "+d+".vv AS SELECT id FROM "+hidden+".v")
		user := account(t, s, "GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON "+d+".*")
		closure := func(schema, table string) ([]string, bool) {
			q := login(t, s, user, user)
			return NewGraph(GraphOptions{Dialect: dialect(s), Version: version(t, s), Source: lend(q)}).
				Closure(t.Context(), schema, table)
		}
		_, complete := closure(d, "u")
		require.False(t, complete, "a foreign key could lead on from here unseen")

		privileges := []string{"REFERENCES"}
		if s.Kind == servers.KindMariaDB {
			privileges = []string{"REFERENCES", "PROCESS"}
		}
		for _, privilege := range privileges {
			s.Exec(t, fmt.Sprintf("GRANT %s ON *.* TO %s@'%%'", privilege, user))
			tables, complete := closure(d, "u")
			require.True(t, complete)
			require.Equal(t, []string{d + ".u"}, tables)
			_, complete = closure(d, "t")
			require.False(t, complete, "the child's triggers are hidden")
			_, complete = closure(d, "v")
			require.False(t, complete, "the text of the view is hidden")
			if privilege != privileges[len(privileges)-1] {
				s.Exec(t, fmt.Sprintf("REVOKE %s ON *.* FROM %s@'%%'", privilege, user))
			}
		}
		s.Exec(t, "GRANT SHOW VIEW ON "+d+".* TO "+user+"@'%'", "GRANT TRIGGER ON "+hidden+".* TO "+user+"@'%'")
		tables, complete := closure(d, "v")
		require.True(t, complete)
		require.Equal(t, []string{d + ".t", hidden + ".c"}, tables)
		_, complete = closure(d, "vv")
		require.False(t, complete, "a view in between is hidden")
	})
}

// TestGraphBroken: a server that does not answer means everything.
func TestGraphBroken(t *testing.T) {
	g := NewGraph(GraphOptions{Source: func(context.Context) (wire.Querier, func(error), error) {
		return nil, nil, errNoSource
	}})
	_, complete := g.Closure(t.Context(), "d", "t")
	require.False(t, complete)
}
