package schema

import (
	"fmt"
	"strings"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

func readColumns(q wire.Querier, dialect rewrite.Dialect, version int, t *rewrite.Table) ([]rewrite.Column, error) {
	r, err := q.Query(neutral + "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH," +
		" NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, CHARACTER_SET_NAME, COLLATION_NAME, IS_NULLABLE," +
		" EXTRA, COLUMN_DEFAULT FROM information_schema.COLUMNS WHERE TABLE_SCHEMA=" + literal(t.Schema) +
		" AND TABLE_NAME=" + literal(t.Name) + " ORDER BY ORDINAL_POSITION")
	if err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	columns := make([]rewrite.Column, 0, len(r.Rows))
	for _, row := range r.Rows {
		c := rewrite.Column{
			Name:      string(row[0]),
			Type:      strings.ToLower(string(row[1])),
			FullType:  string(row[2]),
			Charset:   string(row[8]),
			Collation: string(row[9]),
			Nullable:  string(row[10]) == "YES",
		}
		c.Unsigned = strings.Contains(c.FullType, " unsigned") && !isList(c.Type)
		switch c.Type {
		case "char", "varchar":
			c.Length = int(number(row[3]))
		case "binary", "varbinary", "tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob":
			c.Length = int(number(row[4]))
		case "decimal", "float", "double", "bit":
			c.Precision, c.Scale = int(number(row[5])), int(number(row[6]))
		case "time", "datetime", "timestamp":
			c.Precision = int(number(row[7]))
		}
		readExtra(&c, string(row[11]))
		columns = append(columns, c)
	}
	whole := &rewrite.Table{Columns: columns} // a default may refer to any column
	for i, row := range r.Rows {
		columns[i].Default = fallback(dialect, version, row[12], string(row[11]), &columns[i], whole)
	}
	return columns, nil
}

// isList says whether COLUMN_TYPE contains the user's own strings.
func isList(typ string) bool { return typ == "enum" || typ == "set" }

// readExtra reads the words of EXTRA.
func readExtra(c *rewrite.Column, extra string) {
	words := strings.Fields(strings.NewReplacer(",", " ").Replace(strings.ToLower(extra)))
	for i, w := range words {
		switch w {
		case "auto_increment":
			c.AutoIncrement = true
		case "generated", "virtual", "stored", "persistent":
			c.Generated = true
		case "invisible":
			c.Invisible = true
		case "update":
			c.OnUpdateNow = i > 0 && words[i-1] == "on"
		}
	}
}
