package compat

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-db/sluice/test/servers"
)

// Tables is the content of schemas: one line for each definition and row.
type Tables []string

// rows leaves the definitions out: a transaction that was rolled back moves
// AUTO_INCREMENT all the same.
func (t Tables) rows() Tables {
	return slices.DeleteFunc(slices.Clone(t), func(line string) bool { return !strings.HasPrefix(line, "`") })
}

// dumpTables reads all tables of the schemas directly from the server. Values
// are the stored bytes, whatever their character set.
func dumpTables(t testing.TB, server *servers.Server, schemas []string) Tables {
	t.Helper()
	db := server.Open(t)
	db.SetMaxOpenConns(1) // one session, for SET NAMES
	if _, err := db.Exec("SET NAMES binary"); err != nil {
		t.Fatal(err)
	}
	var dump Tables
	for _, schema := range schemas {
		for _, table := range tableNames(t, db, schema) {
			name := "`" + schema + "`.`" + strings.ReplaceAll(table, "`", "``") + "`"
			create := queryRows(t, db, "SHOW CREATE TABLE "+name)
			rows := queryRows(t, db, "SELECT * FROM "+name)
			slices.Sort(rows)
			dump = append(dump, create...)
			for _, row := range rows {
				dump = append(dump, name+": "+row)
			}
		}
	}
	return dump
}

func tableNames(t testing.TB, db *sql.DB, schema string) []string {
	t.Helper()
	rows, err := db.Query("SELECT table_name FROM information_schema.tables "+
		"WHERE table_schema=? AND table_type='BASE TABLE' ORDER BY 1", schema)
	if err != nil {
		t.Fatalf("list tables of %s: %v", schema, err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// queryRows gives each row as text: cells quoted if they are not plain.
func queryRows(t testing.TB, db *sql.DB, query string) []string {
	t.Helper()
	out, err := readRows(db, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

func readRows(db *sql.DB, query string) ([]string, error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	_, all, err := servers.ReadRows(rows)
	out := make([]string, len(all))
	for n, cells := range all {
		texts := make([]string, len(cells))
		for i, cell := range cells {
			texts[i] = cellText(cell)
		}
		out[n] = strings.Join(texts, ",")
	}
	return out, err
}

func cellText(cell sql.NullString) string {
	if !cell.Valid {
		return "NULL"
	}
	if n := len(cell.String); n > 10000 {
		return fmt.Sprintf("%d bytes, sha256 %x", n, sha256.Sum256([]byte(cell.String)))
	}
	for _, b := range []byte(cell.String) {
		if b < ' ' || b > '~' {
			return strconv.QuoteToASCII(cell.String)
		}
	}
	return cell.String
}

// flush makes sluice apply what it has acknowledged, by what it promises: a
// statement that names a table sees all rows of it.
func flush(t testing.TB, server *servers.Server, sluice *servers.Sluice, schemas []string) {
	t.Helper()
	through := sluice.Open(t, "")
	direct := server.Open(t)
	for _, schema := range schemas {
		for _, table := range tableNames(t, direct, schema) {
			query := fmt.Sprintf("SELECT COUNT(*) FROM `%s`.`%s`", schema, strings.ReplaceAll(table, "`", "``"))
			queryRows(t, through, query)
		}
	}
}
