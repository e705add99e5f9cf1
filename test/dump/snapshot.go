package dump

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// snapshot is everything in a schema: by the name of each object, its definition
// or its rows as lines of text.
type snapshot map[string][]string

// take reads a schema directly from the server.
func take(t *testing.T, server *servers.Server, schema string) snapshot {
	t.Helper()
	conn, err := server.Open(t).Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	r := reader{t: t, conn: conn, schema: schema}
	for _, statement := range []string{"USE " + schema, "SET NAMES utf8mb4", "SET time_zone = '+00:00'"} {
		_, err := conn.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	s := snapshot{}
	for _, table := range r.query("SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()") {
		name, kind := table[0], table[1]
		s["definition of "+name] = r.definition("TABLE", name)
		if kind == "BASE TABLE" || kind == "SEQUENCE" {
			s["rows of "+name] = r.rows(name)
		}
	}
	for _, trigger := range r.query("SELECT TRIGGER_NAME, ACTION_ORDER, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()") {
		s["trigger "+trigger[0]] = append(r.definition("TRIGGER", trigger[0]), trigger[1:]...)
	}
	for _, routine := range r.query("SELECT ROUTINE_TYPE, ROUTINE_NAME, ROUTINE_COMMENT, SECURITY_TYPE, SQL_DATA_ACCESS, IS_DETERMINISTIC" +
		" FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()") {
		s[routine[0]+" "+routine[1]] = append(r.definition(routine[0], routine[1]), routine[2:]...)
	}
	for _, event := range r.query("SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()") {
		s["event "+event[0]] = r.definition("EVENT", event[0])
	}
	return s
}

// reader asks on one connection whose schema is chosen.
type reader struct {
	t      *testing.T
	conn   *sql.Conn
	schema string
}

// query gives the rows of a query as text, NULL as such.
func (r *reader) query(text string) [][]string {
	r.t.Helper()
	_, rows := r.table(text)
	return rows
}

func (r *reader) table(text string) (columns []string, all [][]string) {
	r.t.Helper()
	rows, err := r.conn.QueryContext(context.Background(), text)
	require.NoError(r.t, err, text)
	columns, read, err := servers.ReadRows(rows)
	require.NoError(r.t, err, text)
	for _, cells := range read {
		row := make([]string, len(columns))
		for i, v := range cells {
			if row[i] = v.String; !v.Valid {
				row[i] = "NULL"
			}
		}
		all = append(all, row)
	}
	return columns, all
}

// definition is what SHOW CREATE says, without the schema's name and without
// the time at which a trigger was made.
func (r *reader) definition(kind, name string) []string {
	r.t.Helper()
	columns, rows := r.table("SHOW CREATE " + kind + " " + quoteName(name))
	require.Len(r.t, rows, 1)
	var lines []string
	for i, value := range rows[0] {
		if columns[i] == "Created" {
			continue
		}
		value = strings.ReplaceAll(value, quoteName(r.schema), "`SCHEMA`")
		for line := range strings.Lines(value) {
			lines = append(lines, columns[i]+": "+strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// rows are a table's rows, the bytes of each value in hexadecimal, sorted.
func (r *reader) rows(name string) []string {
	r.t.Helper()
	var fields []string
	for _, column := range r.query("SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS" +
		" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '" + name + "' ORDER BY ORDINAL_POSITION") {
		value := quoteName(column[0])
		if !storedAsBytes[column[1]] {
			value = "CONCAT(" + value + ", '')" // HEX of a number rounds it
		}
		fields = append(fields, "IFNULL(HEX("+value+"), 'NULL')")
	}
	if len(fields) == 0 { // a sequence has its columns elsewhere
		fields = append(fields, "CONCAT_WS(' ', next_not_cached_value, minimum_value, maximum_value, start_value, increment, cache_size, cycle_option)")
	}
	var lines []string
	for _, row := range r.query(fmt.Sprintf("SELECT CONCAT_WS(' ', %s) FROM %s", strings.Join(fields, ", "), quoteName(name))) {
		lines = append(lines, row[0])
	}
	slices.Sort(lines)
	return lines
}

// storedAsBytes are the types whose HEX is that of their bytes, BIT among them.
var storedAsBytes = map[string]bool{
	"char": true, "varchar": true, "tinytext": true, "text": true, "mediumtext": true, "longtext": true, "enum": true, "set": true,
	"binary": true, "varbinary": true, "tinyblob": true, "blob": true, "mediumblob": true, "longblob": true, "bit": true, "vector": true,
	"geometry": true, "point": true, "linestring": true, "polygon": true,
	"multipoint": true, "multilinestring": true, "multipolygon": true, "geometrycollection": true, "geomcollection": true,
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// compare holds a replayed schema against the original.
func compare(t *testing.T, want, got snapshot) {
	t.Helper()
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), "what there is")
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if difference := differ(want[name], got[name]); difference != "" {
			t.Errorf("%s: %s", name, difference)
		}
	}
}

func differ(want, got []string) string {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Sprintf("line %d of %d\nwant %.500s\ngot  %.500s", i+1, len(want), want[i], got[i])
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%d lines, want %d", len(got), len(want))
	}
	return ""
}
