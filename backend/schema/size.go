package schema

import (
	"fmt"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// Size is how large a table is and how much of it the server can hold in memory.
type Size struct {
	Rows       uint64 // estimate
	DataLength uint64 // bytes of the clustered index or data file, estimate
	RowLength  uint64 // average, bytes
	BufferPool uint64 // innodb_buffer_pool_size, 0 without InnoDB
	PageSize   uint64 // innodb_page_size, 0 without InnoDB
}

// Sizes reads the size of a table as it is now.
func Sizes(q wire.Querier, t *rewrite.Table) (Size, error) {
	fail := func(err error) (Size, error) {
		return Size{}, fmt.Errorf("size of %s: %w", qualified(t.Schema, t.Name), err)
	}
	// MySQL otherwise answers from a cache that is up to a day old. MariaDB does
	// not know the variable.
	if _, err := q.Query("SET SESSION information_schema_stats_expiry=0"); err != nil && !refused(err, errUnknownVariable) {
		return fail(err)
	}
	r, err := q.Query("SELECT TABLE_ROWS, DATA_LENGTH, AVG_ROW_LENGTH FROM information_schema.TABLES WHERE TABLE_SCHEMA=" +
		literal(t.Schema) + " AND TABLE_NAME=" + literal(t.Name) + " AND TABLE_TYPE<>'TEMPORARY'")
	if err != nil {
		return fail(err)
	}
	if len(r.Rows) != 1 {
		return fail(ErrNoTable)
	}
	row := r.Rows[0]
	size := Size{Rows: number(row[0]), DataLength: number(row[1]), RowLength: number(row[2])}
	r, err = q.Query("SELECT @@innodb_buffer_pool_size, @@innodb_page_size")
	switch {
	case refused(err, errUnknownVariable):
	case err != nil:
		return fail(err)
	default:
		size.BufferPool, size.PageSize = number(r.Rows[0][0]), number(r.Rows[0][1])
	}
	return size, nil
}
