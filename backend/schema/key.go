package schema

import (
	"fmt"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// expression is the Column of a key part that is not simply a column.
const expression = -1

// readKeys fills Primary and Unique. A key with WITHOUT OVERLAPS finds duplicates
// by overlap and not by equality: its parts after the first ones are reported
// like functional ones.
func readKeys(q wire.Querier, dialect rewrite.Dialect, version int, t *rewrite.Table, overlaps map[string]bool) error {
	expr := "NULL"
	if dialect == rewrite.MySQL && version >= 80013 {
		expr = "EXPRESSION"
	}
	r, err := q.Query("SELECT INDEX_NAME, COLUMN_NAME, SUB_PART, COLLATION, " + expr +
		" FROM information_schema.STATISTICS WHERE TABLE_SCHEMA=" + literal(t.Schema) +
		" AND TABLE_NAME=" + literal(t.Name) + " AND NON_UNIQUE=0 ORDER BY INDEX_NAME, SEQ_IN_INDEX")
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	var keys []rewrite.Key
	for _, row := range r.Rows {
		name := string(row[0])
		if len(keys) == 0 || keys[len(keys)-1].Name != name {
			keys = append(keys, rewrite.Key{Name: name})
		}
		k := &keys[len(keys)-1]
		part := rewrite.KeyPart{Column: expression, Prefix: int(number(row[2])), Desc: string(row[3]) == "D"}
		if row[4] == nil && row[1] != nil && !overlaps[name] {
			if part.Column = t.Column(string(row[1])); part.Column < 0 {
				return errMoved
			}
		}
		k.Parts = append(k.Parts, part)
	}
	for i := range keys {
		if keys[i].Name == "PRIMARY" {
			t.Primary = &keys[i]
		} else {
			t.Unique = append(t.Unique, keys[i])
		}
	}
	return nil
}
