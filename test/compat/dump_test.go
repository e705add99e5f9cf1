package compat

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// mixedSchema is a bit of everything that a dump can hold.
var mixedSchema = []string{
	"CREATE TABLE parent (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, UNIQUE KEY (name)) ENGINE=InnoDB",
	"CREATE TABLE child (id INT AUTO_INCREMENT PRIMARY KEY, parent INT, boss INT, note TEXT, KEY (parent)," +
		" FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE CASCADE, FOREIGN KEY (boss) REFERENCES child (id)) ENGINE=InnoDB",
	"CREATE TABLE kinds (id BIGINT UNSIGNED PRIMARY KEY, d DECIMAL(20,6), f DOUBLE, dt DATETIME(6), ts TIMESTAMP NULL, " +
		"ti TIME, y YEAR, e ENUM('a','b''c','d\\\\e'), s SET('x','y'), b BIT(10), bin VARBINARY(300), j JSON)",
	"CREATE TABLE latin (id INT PRIMARY KEY, t VARCHAR(50)) CHARACTER SET latin1",
	"CREATE TABLE chinese (id INT PRIMARY KEY, t VARCHAR(50)) CHARACTER SET gbk",
	"CREATE TABLE derived (id INT PRIMARY KEY, a INT, twice INT AS (a * 2) STORED, thrice INT AS (a * 3) VIRTUAL)",
	"CREATE TABLE parts (id INT PRIMARY KEY, v VARCHAR(20)) PARTITION BY RANGE (id) " +
		"(PARTITION p0 VALUES LESS THAN (1000), PARTITION p1 VALUES LESS THAN MAXVALUE)",
	"CREATE TABLE nokey (a INT, b VARCHAR(20))",
	"CREATE TABLE myisam (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=MyISAM",
	"CREATE TABLE audited (id INT PRIMARY KEY, v INT)",
	"CREATE TABLE audit (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(40))",
	"CREATE TRIGGER audit_insert AFTER INSERT ON audited FOR EACH ROW INSERT INTO audit (what) VALUES (CONCAT('row ', NEW.id))",
	"CREATE VIEW both_sides AS SELECT parent.name, child.note FROM parent JOIN child ON child.parent = parent.id",
	"CREATE PROCEDURE count_all() BEGIN SELECT COUNT(*) FROM kinds; END",
	"CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1",
}

// fillMixedSchema gives the rows, several hundred statements' worth in every
// large table, so that they are batched on their way back.
func fillMixedSchema(random *rand.Rand) []string {
	var out []string
	rows := func(table string, count int, row func(i int) string) {
		var values []string
		for i := range count {
			values = append(values, row(i+1))
		}
		out = append(out, "INSERT INTO "+table+" VALUES "+strings.Join(values, ","))
	}
	text := func() string { return escape(randomBlob(random)[:random.IntN(40)]) }
	ascii := func() string { return fmt.Sprintf("it''s \\\\ \\\"%x\\n", random.Uint32()) }
	rows("parent", 300, func(i int) string { return fmt.Sprintf("(%d,'p%d')", i, i) })
	rows("child", 600, func(i int) string {
		return fmt.Sprintf("(%d,%d,%s,'%s')", i, 1+random.IntN(300), []string{"NULL", fmt.Sprint((i + 1) / 2)}[i%2], ascii())
	})
	rows("kinds", 800, func(i int) string {
		return fmt.Sprintf("(%d,%d.25,%g,'2021-03-%02d 01:02:03.000%03d','2021-01-%02d 00:00:00','-12:00:%02d',%d,%d,%d,b'%b',_binary'%s','{\"a\": [%d, \"\\\\\"x\\\\\"\"]}')",
			i, i, random.NormFloat64()*1e20, 1+i%28, i%1000, 1+i%28, i%60, 1970+i%100, 1+i%3, i%4, i%1024, text(), i)
	})
	rows("latin", 200, func(i int) string { return fmt.Sprintf("(%d,'é%s')", i, ascii()) })
	rows("chinese", 200, func(i int) string { return fmt.Sprintf("(%d,'誠功%s')", i, ascii()) })
	out = append(out, "INSERT INTO derived (id, a) SELECT id, id FROM latin")
	rows("parts", 300, func(i int) string { return fmt.Sprintf("(%d,'%s')", i*7, ascii()) })
	rows("nokey", 300, func(i int) string { return fmt.Sprintf("(%d,NULL)", i/3) })
	rows("myisam", 100, func(i int) string { return fmt.Sprintf("(%d,'m')", i) })
	rows("audited", 100, func(i int) string { return fmt.Sprintf("(%d,%d)", i, i) })
	return out
}

// TestDump replays dumps that each server's own tool made, by its own client,
// directly and through sluice: extended inserts and one row a statement.
func TestDump(t *testing.T) {
	t.Parallel()
	tools := map[servers.Kind][2]string{
		servers.KindMariaDB: {"mariadb-dump", "mariadb"},
		servers.KindMySQL:   {"mysqldump", "mysql"},
	}
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		source := "test_dump"
		prepareSchema(t, server, source, append(mixedSchema, fillMixedSchema(rand.New(rand.NewPCG(1, 0)))...))
		for name, flags := range map[string][]string{
			"extended":   nil,
			"row by row": {"--skip-extended-insert", "--complete-insert"},
			"hex":        {"--hex-blob", "--skip-extended-insert", "--order-by-primary", "--insert-ignore"},
			"replace":    {"--replace", "--skip-add-locks", "--skip-disable-keys", "--single-transaction"},
		} {
			dump := client(t, server.Kind, tools[server.Kind][0], server.Addr, nil,
				append(flags, "--routines", "--triggers", source)...)
			var content [2]Tables
			target := "test_dump_replayed"
			for i, addr := range []string{server.Addr, sluice.Addr} {
				prepareSchema(t, server, target, nil)
				client(t, server.Kind, tools[server.Kind][1], addr, dump, target)
				if i == 1 {
					flush(t, server, sluice, []string{target})
				}
				content[i] = dumpTables(t, server, []string{target})
			}
			require.Greater(t, len(content[0]), 2500, name)
			if difference := diffTables(content[0], content[1]); len(difference) > 0 {
				t.Errorf("%s: %d differences, the first: %s", name, len(difference), difference[0])
			}
		}
	})
}

func prepareSchema(t *testing.T, server *servers.Server, schema string, statements []string) {
	t.Helper()
	db := server.Open(t)
	db.SetMaxOpenConns(1)
	for _, statement := range append([]string{
		"DROP DATABASE IF EXISTS " + schema,
		"CREATE DATABASE " + schema + " CHARACTER SET utf8mb4",
		"USE " + schema,
	}, statements...) {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%.300s: %v", statement, err)
		}
	}
}

// client runs a server's own program as root with a text as its input.
func client(t *testing.T, kind servers.Kind, name, addr string, input []byte, args ...string) []byte {
	t.Helper()
	argv, err := servers.Program(kind, name)
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(addr, ":")
	argv = append(argv, "--no-defaults", "--protocol=TCP", "--host="+host, "--port="+port, "--user=root")
	if kind == servers.KindMySQL && strings.Contains(filepath.Base(name), "dump") {
		argv = append(argv, "--set-gtid-purged=OFF", "--no-tablespaces")
	}
	command := exec.CommandContext(t.Context(), argv[0], append(argv[1:], args...)...)
	command.Stdin = bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s at %s: %v\n%s", name, addr, err, stderr.String())
	}
	return stdout.Bytes()
}
