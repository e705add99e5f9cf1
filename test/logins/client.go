package logins

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sluice-db/sluice/test/servers"
)

// patience bounds one login, on a machine that is busy; it ends a test that hangs.
const patience = time.Minute

// client is a library or a program that logs in.
type client struct {
	name string
	// start begins a client; ca is the file with the certificates that it trusts. The
	// client ends with the test.
	start      func(t *testing.T, ca string) func(login) answer
	compresses bool
}

// clients are those of the matrix; their packages are in .ci/install.
var clients = []client{
	{"Perl DBD::mysql", script("perl", "login.pl", "mysql"), true},
	{"Perl DBD::MariaDB", script("perl", "login.pl", "MariaDB"), true},
	{"PHP mysqli", script("php", "login.php", "mysqli"), true},
	{"PHP PDO", script("php", "login.php", "pdo"), true},
	{"Python PyMySQL", script(python, "login.py", "pymysql"), false},
	{"Python mysqlclient", script(python, "login.py", "MySQLdb"), true},
	{"Ruby mysql2", script("ruby", "login.rb"), true},
	{"Node mysql2", script("node", "login.js", "mysql2"), true},
	{"Node mariadb", script("node", "login.js", "mariadb"), true},
	{"MariaDB Connector/J", script("java", "Login.java"), true},
	{"go-sql-driver", goDriver, true},
	{"mariadb (command line)", commandLine(servers.KindMariaDB), true},
	{"mysql (command line)", commandLine(servers.KindMySQL), true},
}

const (
	// python is Debian's own: its packages are not seen by another one in the PATH.
	python = "/usr/bin/python3"
	// connectorJ and nodeModules are where .ci/install puts them.
	connectorJ  = "/usr/share/java/mariadb-java-client.jar"
	nodeModules = "/opt/sluice-node/node_modules"
)

// script starts a program of testdata.
func script(interpreter, file string, args ...string) func(*testing.T, string) func(login) answer {
	return func(t *testing.T, ca string) func(login) answer {
		argv := append([]string{filepath.Join("testdata", file)}, args...)
		if interpreter == "java" {
			argv = append([]string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", connectorJ}, argv...)
		}
		command := exec.Command(interpreter, argv...)
		command.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "NODE_PATH="+nodeModules, "SLUICE_TEST_CA="+ca)
		var complaints bytes.Buffer
		command.Stderr = &complaints
		in, err := command.StdinPipe()
		out, err2 := command.StdoutPipe()
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatalf("%s: %v (.ci/install installs it)", interpreter, err)
		}
		lines := make(chan string)
		go func() {
			defer close(lines)
			for scanner := bufio.NewScanner(out); scanner.Scan(); {
				lines <- scanner.Text()
			}
		}()
		t.Cleanup(func() {
			_ = in.Close()
			defer time.AfterFunc(patience, func() { _ = command.Process.Kill() }).Stop()
			for range lines { // its output is read to the end before it is waited for
			}
			if err := command.Wait(); err != nil {
				t.Errorf("%s: %v\n%s", interpreter, err, complaints.Bytes())
			}
		})
		return func(l login) answer {
			if _, err := fmt.Fprintln(in, l.line()); err != nil {
				t.Fatalf("%s %q: %v (is the library installed? .ci/install does that)", interpreter, argv, err)
			}
			select {
			case line, open := <-lines:
				if !open {
					t.Fatalf("%s %q has ended (is the library installed? .ci/install does that)", interpreter, argv)
				}
				a, err := parseAnswer(line)
				if err != nil {
					t.Fatal(err)
				}
				return a
			case <-time.After(patience):
				t.Fatalf("%s %q does not answer", interpreter, argv)
				return answer{}
			}
		}
	}
}

const whoAmI = "SELECT CURRENT_USER(), CONNECTION_ID()"

// commandLine runs a server's own client, once a login.
func commandLine(kind servers.Kind) func(*testing.T, string) func(login) answer {
	return func(t *testing.T, ca string) func(login) answer {
		argv, err := servers.Program(kind, string(kind))
		if err != nil {
			t.Fatal(err)
		}
		// Debian's MySQL has mysql_native_password and others beside it; the path that it
		// was built with is MariaDB's on this machine.
		plugins := filepath.Join(filepath.Dir(argv[len(argv)-1]), "../lib/mysql/plugin")
		return func(l login) answer {
			host, port, _ := net.SplitHostPort(l.addr)
			args := []string{"--no-defaults", "--protocol=TCP", "--host=" + host, "--port=" + port, "--user=" + l.user,
				"--password=" + l.password, "--batch", "--skip-column-names", "--execute=" + whoAmI}
			args = append(args, linkOptions(kind, l, ca)...)
			if kind == servers.KindMySQL {
				args = append(args, "--plugin-dir="+plugins)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			command := exec.CommandContext(ctx, argv[0], append(argv[1:], args...)...)
			var complaints bytes.Buffer
			command.Stderr = &complaints
			out, err := command.Output()
			if err == nil {
				user, thread, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
				return answer{ok: true, user: user, thread: thread}
			}
			match := commandLineError.FindSubmatch(complaints.Bytes())
			if match == nil {
				t.Fatalf("%s: %v\n%s", kind, err, complaints.Bytes())
			}
			return answer{code: string(match[1]), text: string(match[2])}
		}
	}
}

var commandLineError = regexp.MustCompile(`ERROR (\d+)[^:]*: (.*)`)

func linkOptions(kind servers.Kind, l login, ca string) []string {
	var options []string
	if kind == servers.KindMySQL {
		options = append(options, "--get-server-public-key") // it does not ask for the RSA key by itself
	}
	switch {
	case l.tls && kind == servers.KindMySQL:
		options = append(options, "--ssl-mode=VERIFY_IDENTITY", "--ssl-ca="+ca)
	case l.tls:
		options = append(options, "--ssl-verify-server-cert", "--ssl-ca="+ca)
	case kind == servers.KindMySQL:
		options = append(options, "--ssl-mode=DISABLED")
	default:
		options = append(options, "--skip-ssl")
	}
	if l.compress {
		options = append(options, "--compress")
	}
	return options
}

// goDriver logs in by go-sql-driver.
func goDriver(t *testing.T, ca string) func(login) answer {
	return func(l login) answer {
		c := mysql.NewConfig()
		c.User, c.Passwd, c.Net, c.Addr = l.user, l.password, "tcp", l.addr
		c.AllowCleartextPasswords = l.tls
		c.Logger = &mysql.NopLogger{}
		if l.tls {
			c.TLS = &tls.Config{RootCAs: servers.Pool(t, ca), ServerName: "localhost"}
		}
		if err := c.Apply(mysql.EnableCompression(l.compress)); err != nil {
			t.Fatal(err)
		}
		connector, err := mysql.NewConnector(c)
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(connector)
		defer db.Close()
		a := answer{ok: true}
		err = db.QueryRowContext(t.Context(), whoAmI).Scan(&a.user, &a.thread)
		var refused *mysql.MySQLError
		switch {
		case errors.As(err, &refused):
			return answer{code: fmt.Sprint(refused.Number), text: refused.Message}
		case err != nil:
			return answer{code: "0", text: err.Error()}
		}
		return a
	}
}
