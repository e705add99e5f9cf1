package clients

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-db/sluice/test/servers"
)

// patience bounds one load; it is there to end a test that hangs.
const patience = 2 * time.Minute

// load is one run of a client.
type load struct {
	address string // HOST:PORT, or the path of a socket
	schema  string
	table   string
	file    string // see file
	rows    []row

	compression string // of the link: zlib or zstd, none if empty
}

// client is a way to load; run returns what the client read back.
type client struct {
	name string
	run  func(t *testing.T, l load) string
	only servers.Kind // the only kind of server that it can log in to, if not empty
}

// all are the clients; Debian's packages for them are in .ci/install.
var all = []client{
	{"perl DBD::mysql", program("perl", "load.pl", "mysql"), ""},
	{"perl DBD::MariaDB", program("perl", "load.pl", "MariaDB"), ""},
	{"php mysqli", program("php", "load.php", "mysqli"), ""},
	{"php PDO", program("php", "load.php", "pdo"), ""},
	{"python PyMySQL", program(python, "load.py", "pymysql"), ""},
	{"python mysqlclient", program(python, "load.py", "MySQLdb"), ""},
	{"ruby mysql2", program("ruby", "load.rb"), ""},
	{"mariadb command line", commandLine(servers.KindMariaDB, "mariadb"), ""},
	// It has no mysql_native_password any more, which MariaDB asks for.
	{"mysql command line", commandLine(servers.KindMySQL, "mysql"), servers.KindMySQL},
	{"go-sql-driver", goDriver, ""},
}

// python is Debian's own: its packages are not seen by another one in the PATH.
const python = "/usr/bin/python3"

// program runs a script of testdata.
func program(interpreter, script string, args ...string) func(*testing.T, load) string {
	return func(t *testing.T, l load) string {
		t.Helper()
		argv := append([]string{interpreter, filepath.Join("testdata", script)}, args...)
		return output(t, append(argv, l.address, l.schema, l.table, l.file), nil, "SLUICE_TEST_COMPRESS="+l.compression)
	}
}

// commandLine pipes a script of statements into a server's own client.
func commandLine(kind servers.Kind, name string) func(*testing.T, load) string {
	return func(t *testing.T, l load) string {
		t.Helper()
		argv, err := servers.Program(kind, name)
		if err != nil {
			t.Fatal(err)
		}
		argv = append(argv, "--no-defaults", "--user=app", "--password=app", "--default-character-set=utf8mb4",
			"--batch", "--skip-column-names")
		if kind == servers.KindMySQL {
			argv = append(argv, "--get-server-public-key") // it does not ask for the RSA key by itself
		}
		if host, port, err := net.SplitHostPort(l.address); err == nil {
			argv = append(argv, "--protocol=TCP", "--host="+host, "--port="+port)
		} else {
			argv = append(argv, "--protocol=SOCKET", "--socket="+l.address)
		}
		argv = append(argv, compressFlags(kind, l.compression)...)
		return output(t, append(argv, l.schema), []byte(script(l)))
	}
}

// compressFlags has a command line client compress.
func compressFlags(kind servers.Kind, algorithm string) []string {
	switch {
	case algorithm == "":
		return nil
	case kind == servers.KindMariaDB:
		return []string{"--compress"}
	}
	return []string{"--compression-algorithms=" + algorithm}
}

// script is the load as statements.
func script(l load) string {
	var b strings.Builder
	for i, r := range l.rows {
		inTransaction := i >= len(l.rows)/2
		if inTransaction && i%100 == 0 {
			b.WriteString("BEGIN;\n")
		}
		note := "NULL"
		if r.note != nil {
			note = quoted(*r.note)
		}
		fmt.Fprintf(&b, "INSERT INTO %s (id, word, score, payload, note) VALUES (%d, %s, %s, _binary%s, %s);\n",
			l.table, r.id, quoted(r.word), r.score, quoted(string(r.payload)), note)
		if inTransaction && i%100 == 99 {
			b.WriteString("COMMIT;\n")
		}
	}
	fmt.Fprintf(&b, "SELECT HEX(id), HEX(word), HEX(CONCAT(score, '')), HEX(payload), IFNULL(HEX(note), '-') FROM %s t ORDER BY t.id;\n",
		l.table)
	return b.String()
}

// quoted writes a literal as mysqldump does.
func quoted(text string) string {
	return "'" + escapes.Replace(text) + "'"
}

var escapes = strings.NewReplacer("\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`, `\`, `\\`, `'`, `\'`, `"`, `\"`)

func output(t *testing.T, argv []string, input []byte, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Env = append(append(os.Environ(), "LC_ALL=C.UTF-8"), env...)
	command.Stdin = bytes.NewReader(input)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v (is it installed? .ci/install does that)\n%s", strings.Join(argv, " "), err, complaints.Bytes())
	}
	return string(out)
}
