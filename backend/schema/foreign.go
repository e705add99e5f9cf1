package schema

import (
	"fmt"
	"slices"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// name is a table of a schema.
type name struct{ schema, table string }

func (n name) String() string { return qualified(n.schema, n.table) }

// link is a foreign key.
type link struct{ child, parent name }

// readLinks reads the foreign keys that touch a table, or all of them if t is
// nil. On MariaDB information_schema opens every table of the server for that;
// INNODB_SYS_FOREIGN does not, and only InnoDB has foreign keys there.
func readLinks(q wire.Querier, dialect rewrite.Dialect, grants *Grants, t *rewrite.Table) ([]link, error) {
	sql := "SELECT CONSTRAINT_SCHEMA, TABLE_NAME, UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME" +
		" FROM information_schema.REFERENTIAL_CONSTRAINTS"
	switch {
	case dialect == rewrite.MariaDB && grants.Holds("PROCESS", "", ""):
		sql = "SELECT " + decoded("FOR_NAME", 1) + ", " + decoded("FOR_NAME", -1) + ", " +
			decoded("REF_NAME", 1) + ", " + decoded("REF_NAME", -1) + " FROM information_schema.INNODB_SYS_FOREIGN"
	case t != nil:
		sql += " WHERE CONSTRAINT_SCHEMA=" + literal(t.Schema) + " AND TABLE_NAME=" + literal(t.Name) +
			" OR UNIQUE_CONSTRAINT_SCHEMA=" + literal(t.Schema) + " AND REFERENCED_TABLE_NAME=" + literal(t.Name)
	}
	r, err := q.Query(sql)
	if err != nil {
		return nil, fmt.Errorf("foreign keys: %w", err)
	}
	links := make([]link, 0, len(r.Rows))
	for _, row := range r.Rows {
		links = append(links, link{
			child:  name{string(row[0]), string(row[1])},
			parent: name{string(row[2]), string(row[3])},
		})
	}
	return links, nil
}

// decoded is an SQL expression for one half of schema/table in the encoding of
// file names (MySQL manual, "Mapping of Identifiers to File Names").
func decoded(column string, half int) string {
	return fmt.Sprintf("CONVERT(CONVERT(CAST(SUBSTRING_INDEX(%s,'/',%d) AS BINARY) USING filename) USING utf8mb4)", column, half)
}

// readForeign fills what foreign keys say about a table.
func readForeign(q wire.Querier, dialect rewrite.Dialect, grants *Grants, t *rewrite.Table) error {
	links, err := readLinks(q, dialect, grants, t)
	if err != nil {
		return err
	}
	self := name{t.Schema, t.Name}
	for _, l := range links {
		switch {
		case l.child == self && l.parent == self:
			t.SelfReferencing = true
		case l.child == self:
			t.Parents = append(t.Parents, l.parent.String())
		case l.parent == self:
			t.Children = append(t.Children, l.child.String())
		}
	}
	t.Parents, t.Children = unique(t.Parents), unique(t.Children)
	return nil
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
