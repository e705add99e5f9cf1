package servers

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	startLimit = 60 * time.Second
	stopLimit  = 60 * time.Second
)

// ResolveNames is the option for a server that keeps a cache of hosts, and counts their
// errors.
const ResolveNames = "--skip-name-resolve=OFF"

// Server is a private database server. Its methods are not for concurrent use.
type Server struct {
	Kind    Kind
	Addr    string // 127.0.0.1:PORT
	Port    int
	Socket  string
	RootDSN string // for database/sql, no schema chosen
	Dir     string // removed when the server is stopped
	PID     int

	options []string
	proc    *process
}

// MariaDB returns the shared MariaDB server of this test process, or a fresh
// one when options (like "--innodb-buffer-pool-size=16M") are given.
func MariaDB(t testing.TB, options ...string) *Server {
	t.Helper()
	return get(t, KindMariaDB, options)
}

// MySQL is MariaDB for MySQL.
func MySQL(t testing.TB, options ...string) *Server {
	t.Helper()
	return get(t, KindMySQL, options)
}

func get(t testing.TB, kind Kind, options []string) *Server {
	t.Helper()
	if len(options) == 0 {
		return Shared(t, kind)
	}
	return Fresh(t, kind, options...)
}

// Fresh starts a server for this test alone and stops it at the test's end.
func Fresh(t testing.TB, kind Kind, options ...string) *Server {
	t.Helper()
	s, err := start(kind, options)
	if err != nil {
		t.Fatalf("start a private %s server: %v", kind, err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the %s log:\n%s", kind, s.proc.logTail(80))
		}
		if err := s.remove(); err != nil {
			t.Errorf("stop %s: %v", kind, err)
		}
	})
	return s
}

// Each runs the test as one parallel subtest for each kind of server, on the
// shared servers.
func Each(t *testing.T, run func(t *testing.T, s *Server)) {
	t.Helper()
	for _, kind := range Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			run(t, Shared(t, kind))
		})
	}
}

func start(kind Kind, options []string) (*Server, error) {
	source, err := template(kind)
	if err != nil {
		return nil, err
	}
	// Not t.TempDir: the names are too long for a unix socket's path.
	dir, err := os.MkdirTemp("", "sluice-"+string(kind)+"-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	s := &Server{Kind: kind, Dir: dir, Socket: filepath.Join(dir, "sock"), options: options}
	if err := errors.Join(copyTree(source, filepath.Join(dir, "data")), os.Mkdir(filepath.Join(dir, "tmp"), 0o700)); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the template: %w", err), os.RemoveAll(dir))
	}
	for attempt := 0; ; attempt++ {
		if s.Port, err = freePort(); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		s.Addr = fmt.Sprintf("127.0.0.1:%d", s.Port)
		s.RootDSN = s.DSN("root", "", "")
		if err = s.launch(); err == nil {
			return s, nil
		}
		if attempt == 2 || !errors.Is(err, errExitedEarly) { // an early exit may be a taken port
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
}

// launch starts the process on the port that was chosen and waits for it.
func (s *Server) launch() error {
	argv, err := daemon(s.Kind)
	if err != nil {
		return err
	}
	argv = append(append(argv, runOptions(s.Kind, s.Dir, s.Port)...), s.options...)
	if slices.Contains(s.options, ResolveNames) { // MySQL does not take it back
		argv = slices.DeleteFunc(argv, func(o string) bool { return o == "--skip-name-resolve" })
	}
	if s.proc, err = startProcess(filepath.Join(s.Dir, "log"), argv); err != nil {
		return err
	}
	s.PID = s.proc.pid()
	db, err := OpenPool(s.RootDSN)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := s.proc.waitReady(startLimit, db.Ping); err != nil {
		s.proc.kill9()
		return fmt.Errorf("%s: %w\n%s", s.Kind, err, s.proc.logTail(20))
	}
	return nil
}

// DSN is a data source name for go-sql-driver/mysql over TCP.
func (s *Server) DSN(user, password, schema string) string {
	return dsn(s.Addr, user, password, schema)
}

func dsn(addr, user, password, schema string) string {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = user, password, schema
	c.Net, c.Addr = "tcp", addr
	c.MultiStatements = true
	c.AllowAllFiles = true
	c.Timeout = 10 * time.Second
	return c.FormatDSN()
}

// OpenPool opens a pool of connections with a DSN of this package. The driver
// is quiet: its complaints about connections that tests cut would hide results.
func OpenPool(dsn string) (*sql.DB, error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", dsn, err)
	}
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dsn, err)
	}
	return sql.OpenDB(connector), nil
}

// ServicePassword is the service account's, for SLUICE_BACKEND_PASSWORD.
const ServicePassword = "svc"

// BackendURL is the value for sluice's --backend with the service account,
// whose password goes into the environment.
func (s *Server) BackendURL() string {
	return "mysql://sluice_svc@" + s.Addr + "/"
}

// Open opens a pool of root connections that is closed at the test's end.
func (s *Server) Open(t testing.TB) *sql.DB {
	t.Helper()
	return openDB(t, s.RootDSN)
}

func openDB(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := OpenPool(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Exec runs statements as root, directly on the server.
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	db, err := OpenPool(s.RootDSN)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s on %s: %v", statement, s.Kind, err)
		}
	}
}

// Kill9 kills the server as a crash would; Restart brings it back.
func (s *Server) Kill9(t testing.TB) {
	t.Helper()
	s.proc.kill9()
}

// Pause stops the server's process without ending it; Resume lets it go on.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	if !s.proc.signal(syscall.SIGSTOP) {
		t.Fatalf("pause %s: it is not running", s.Kind)
	}
}

// Resume undoes Pause.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	if !s.proc.signal(syscall.SIGCONT) {
		t.Fatalf("resume %s: it is not running", s.Kind)
	}
}

// Stop shuts the server down cleanly and keeps its data for Restart.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatalf("stop %s: %v", s.Kind, err)
	}
}

// Restart starts the server again on its port and data, stopping it first if
// it still runs. Options replace those it was started with, if any are given.
func (s *Server) Restart(t testing.TB, options ...string) {
	t.Helper()
	s.Stop(t)
	if len(options) > 0 {
		s.options = options
	}
	if err := s.launch(); err != nil {
		t.Fatalf("restart %s: %v", s.Kind, err)
	}
}

func (s *Server) stop() error {
	if s.proc == nil || s.proc.exited() {
		return nil
	}
	s.proc.signal(syscall.SIGCONT) // in case a test left it paused
	return s.proc.stop(stopLimit)
}

func (s *Server) remove() error {
	return errors.Join(s.stop(), os.RemoveAll(s.Dir))
}

// Version is the server's own version string.
func (s *Server) Version(t testing.TB) string {
	t.Helper()
	var version string
	if err := s.Open(t).QueryRow("SELECT VERSION()").Scan(&version); err != nil {
		t.Fatalf("version of %s: %v", s.Kind, err)
	}
	return strings.TrimSpace(version)
}
