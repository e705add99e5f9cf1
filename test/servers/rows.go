package servers

import "database/sql"

// ReadRows reads rows to their end and closes them. Values are as the server sends
// them; NULL is not valid.
func ReadRows(rows *sql.Rows) (columns []string, all [][]sql.NullString, err error) {
	defer func() { _ = rows.Close() }()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		cells := make([]sql.NullString, len(columns))
		targets := make([]any, len(cells))
		for i := range cells {
			targets[i] = &cells[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, nil, err
		}
		all = append(all, cells)
	}
	return columns, all, rows.Err()
}
