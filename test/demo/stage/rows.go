package stage

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
)

// rowsPerStatement keeps the reference's statements near the size that servers like best.
const rowsPerStatement = 1000

// LoadRows loads the first rows (0 is all) of a tab-separated file by insert,
// which is a statement up to VALUES, many rows to a statement in the file's order.
func LoadRows(ctx context.Context, db *sql.DB, insert, path string, rows int) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("load rows: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	quote := strings.NewReplacer(`\`, `\\`, `'`, `''`)
	var statement strings.Builder
	flush := func() error {
		if statement.Len() == 0 {
			return nil
		}
		_, err := db.ExecContext(ctx, statement.String())
		statement.Reset()
		return err
	}
	for n := 0; (rows == 0 || n < rows) && lines.Scan(); n++ {
		if statement.Len() == 0 {
			statement.WriteString(insert + " VALUES ")
		} else {
			statement.WriteByte(',')
		}
		for i, field := range strings.Split(lines.Text(), "\t") {
			if i == 0 {
				statement.WriteString("('" + quote.Replace(field) + "'")
			} else {
				statement.WriteString("," + field)
			}
		}
		statement.WriteByte(')')
		if n%rowsPerStatement == rowsPerStatement-1 {
			if err := flush(); err != nil {
				return fmt.Errorf("load rows: %w", err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("load rows: %w", err)
	}
	if err := flush(); err != nil {
		return fmt.Errorf("load rows: %w", err)
	}
	return nil
}
