package stage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// ServerOptions says how a private server is started. What is not said keeps
// the server's own default, in particular a flush of the log at every commit.
type ServerOptions struct {
	Dir        string // must exist; the server makes a directory of its own in it
	BufferPool string // for instance "16M"
	Extra      []string
}

// Server is a private database server with an open connection pool as its root.
type Server struct {
	Name    string // "mariadb" or "mysql"
	Version string
	Addr    string // 127.0.0.1:PORT
	Admin   *sql.DB

	process *Process
}

const stopLimit = 60 * time.Second

// StartMariaDB starts the MariaDB server that is installed.
func StartMariaDB(ctx context.Context, options ServerOptions) (*Server, error) {
	daemon, err := FindProgram("mariadbd")
	if err != nil {
		return nil, err
	}
	installer, err := FindProgram("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(options.Dir, "mariadb")
	initialise := append([]string{installer}, common(dir)...)
	// The installer would otherwise insist on resolving host names, which a bare machine may not.
	initialise = append(initialise, "--auth-root-authentication-method=normal", "--skip-test-db", "--force")
	return startServer(ctx, "mariadb", dir, initialise, append([]string{daemon}, common(dir)...), options)
}

// StartMySQL starts the MySQL server of a Debian tree at root. That tree may
// belong to a newer Debian: its programs run on their own loader and libraries.
func StartMySQL(ctx context.Context, root string, options ServerOptions) (*Server, error) {
	loaders, err := filepath.Glob(filepath.Join(root, "lib*/ld-linux-*.so.*"))
	if err != nil || len(loaders) == 0 {
		return nil, fmt.Errorf("start mysql: no Debian tree with MySQL at %s", root)
	}
	libraries, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	if err != nil || len(libraries) == 0 {
		return nil, fmt.Errorf("start mysql: no libraries at %s", root)
	}
	dir := filepath.Join(options.Dir, "mysql")
	share := filepath.Join(root, "usr/share/mysql")
	daemon := []string{loaders[0], "--library-path", libraries[0], filepath.Join(root, "usr/sbin/mysqld")}
	daemon = append(daemon, common(dir)...)
	daemon = append(daemon, "--basedir="+filepath.Join(root, "usr"),
		"--lc-messages-dir="+share, "--character-sets-dir="+filepath.Join(share, "charsets"),
		"--plugin-dir="+filepath.Join(root, "usr/lib/mysql/plugin"), "--secure-file-priv=")
	initialise := append(daemon[:len(daemon):len(daemon)], "--initialize-insecure")
	return startServer(ctx, "mysql", dir, initialise, append(daemon, "--mysqlx=0"), options)
}

// common are the options of the installer and the server alike.
func common(dir string) []string {
	// A directory of its own for temporary tables: a MariaDB that starts clears it, and
	// would clear that of another server.
	options := []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--tmpdir=" + filepath.Join(dir, "tmp")}
	if os.Geteuid() == 0 {
		options = append(options, "--user=root")
	}
	return options
}

func startServer(ctx context.Context, name, dir string, initialise, daemon []string, options ServerOptions) (*Server, error) {
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if out, err := exec.CommandContext(ctx, initialise[0], initialise[1:]...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initialise %s: %w\n%s", name, err, out)
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "sock")
	daemon = append(daemon,
		"--port="+strconv.Itoa(port), "--bind-address=127.0.0.1", "--socket="+socket,
		"--pid-file="+filepath.Join(dir, "pid"), "--skip-name-resolve", "--max-connections=300",
		"--innodb-buffer-pool-size="+options.BufferPool)
	daemon = append(daemon, options.Extra...)
	process, err := StartProcess(name, dir, exec.Command(daemon[0], daemon[1:]...))
	if err != nil {
		return nil, err
	}
	s := &Server{Name: name, Addr: fmt.Sprintf("127.0.0.1:%d", port), process: process}
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr = "root", "unix", socket
	config.Logger = quiet{} // polling for readiness is expected to fail at first
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect to %s: %w", name, err), s.Stop())
	}
	s.Admin = sql.OpenDB(connector)
	ask := func() error { return s.Admin.QueryRowContext(ctx, "SELECT VERSION()").Scan(&s.Version) }
	if err := process.WaitReady(ctx, ask); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

type quiet struct{}

func (quiet) Print(...any) {}

// Exec runs statements as root one after the other.
func (s *Server) Exec(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := s.Admin.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %s: %w", s.Name, statement, err)
		}
	}
	return nil
}

// Settle waits until the server has written out what it holds of a table, so
// that one measurement does not pay for the one before it.
func (s *Server) Settle(ctx context.Context, table string) error {
	conn, err := s.Admin.Conn(ctx)
	if err != nil {
		return fmt.Errorf("settle %s: %w", table, err)
	}
	defer conn.Close()
	for _, statement := range []string{"FLUSH TABLES " + table + " FOR EXPORT", "UNLOCK TABLES"} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("settle %s: %w", table, err)
		}
	}
	return nil
}

// TableBytes is the size of a table's file.
func (s *Server) TableBytes(ctx context.Context, schema, table string) (int64, error) {
	var dir string
	if err := s.Admin.QueryRowContext(ctx, "SELECT @@datadir").Scan(&dir); err != nil {
		return 0, fmt.Errorf("find the data directory: %w", err)
	}
	info, err := os.Stat(filepath.Join(dir, schema, table+".ibd"))
	if err != nil {
		return 0, fmt.Errorf("size of %s.%s: %w", schema, table, err)
	}
	return info.Size(), nil
}

// Stop shuts the server down. Its files stay.
func (s *Server) Stop() error {
	var errs []error
	if s.Admin != nil {
		errs = append(errs, s.Admin.Close())
	}
	return errors.Join(append(errs, s.process.Stop(stopLimit))...)
}

// FindProgram also looks where Debian puts daemons, which is not in the PATH
// of an ordinary user.
func FindProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed", name)
}

// Describe says what the server is, for the head of a table of results.
func (s *Server) Describe() string {
	version, _, _ := strings.Cut(s.Version, "-")
	if s.Name == "mariadb" {
		return "MariaDB " + version
	}
	return "MySQL " + version
}
