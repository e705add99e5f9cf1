package stage

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc64"
)

// Selection is an ordered query whose rows are compared.
type Selection struct {
	Name  string // for messages
	Query string // must order its rows completely
}

// Same is what two equal selections have in common.
type Same struct {
	Rows     int
	Checksum uint64 // over all rows in order
}

// ErrDiffer says that two selections are not equal.
var ErrDiffer = errors.New("tables differ")

// Compare reads both selections side by side and gives ErrDiffer at the first
// row that is not the same in both, byte for byte.
func Compare(ctx context.Context, db *sql.DB, a, b Selection) (Same, error) {
	left, err := open(ctx, db, a)
	if err != nil {
		return Same{}, err
	}
	defer left.rows.Close()
	right, err := open(ctx, db, b)
	if err != nil {
		return Same{}, err
	}
	defer right.rows.Close()
	if len(left.values) != len(right.values) {
		return Same{}, fmt.Errorf("%w: %s has %d columns, %s has %d",
			ErrDiffer, a.Name, len(left.values), b.Name, len(right.values))
	}
	var same Same
	table := crc64.MakeTable(crc64.ECMA)
	for {
		moreLeft, err := left.next()
		if err != nil {
			return same, err
		}
		moreRight, err := right.next()
		if err != nil {
			return same, err
		}
		switch {
		case !moreLeft && !moreRight:
			return same, nil
		case !moreLeft:
			return same, fmt.Errorf("%w: %s ends after %d rows, %s goes on with %q", ErrDiffer, a.Name, same.Rows, b.Name, right.values)
		case !moreRight:
			return same, fmt.Errorf("%w: %s ends after %d rows, %s goes on with %q", ErrDiffer, b.Name, same.Rows, a.Name, left.values)
		}
		for i := range left.values {
			if !bytes.Equal(left.values[i], right.values[i]) || (left.values[i] == nil) != (right.values[i] == nil) {
				return same, fmt.Errorf("%w: row %d is %q in %s and %q in %s",
					ErrDiffer, same.Rows+1, left.values, a.Name, right.values, b.Name)
			}
			same.Checksum = crc64.Update(same.Checksum, table, left.values[i])
			same.Checksum = crc64.Update(same.Checksum, table, []byte{0})
		}
		same.Rows++
	}
}

// cursor is one side of the comparison. Its values are valid until the next call of next.
type cursor struct {
	name   string
	rows   *sql.Rows
	values []sql.RawBytes
	into   []any
}

func open(ctx context.Context, db *sql.DB, selection Selection) (*cursor, error) {
	rows, err := db.QueryContext(ctx, selection.Query)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", selection.Name, err)
	}
	columns, err := rows.Columns()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", selection.Name, err), rows.Close())
	}
	c := &cursor{name: selection.Name, rows: rows, values: make([]sql.RawBytes, len(columns)), into: make([]any, len(columns))}
	for i := range c.values {
		c.into[i] = &c.values[i]
	}
	return c, nil
}

func (c *cursor) next() (bool, error) {
	if !c.rows.Next() {
		if err := c.rows.Err(); err != nil {
			return false, fmt.Errorf("read %s: %w", c.name, err)
		}
		return false, nil
	}
	if err := c.rows.Scan(c.into...); err != nil {
		return false, fmt.Errorf("read %s: %w", c.name, err)
	}
	return true, nil
}
