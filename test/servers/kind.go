package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// Kind is a make of server.
type Kind string

// The servers that sluice is tested against.
const (
	KindMariaDB Kind = "mariadb"
	KindMySQL   Kind = "mysql"
)

// Kinds lists all of them, for tests that run against each.
var Kinds = []Kind{KindMariaDB, KindMySQL}

// MySQLRootEnv names the environment variable that overrides where the Debian
// tree with MySQL lies. The same default stands in .ci/install.
const (
	MySQLRootEnv     = "SLUICE_MYSQL_ROOT"
	defaultMySQLRoot = "/opt/mysql-sid"
)

const installHint = "run .ci/install (make test does it)"

func mysqlRoot() string {
	if root := os.Getenv(MySQLRootEnv); root != "" {
		return root
	}
	return defaultMySQLRoot
}

// mysqlProgram gives the command line for a program of the MySQL tree. That
// tree belongs to a newer Debian, so its programs run on its own loader and
// libraries; this needs no chroot and no root rights.
func mysqlProgram(path string) ([]string, error) {
	root := mysqlRoot()
	loaders, err := filepath.Glob(filepath.Join(root, "lib*", "ld-linux-*.so.*"))
	if err != nil || len(loaders) == 0 {
		return nil, fmt.Errorf("no MySQL tree at %s (%s): %s", root, MySQLRootEnv, installHint)
	}
	program := filepath.Join(root, path)
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("the MySQL tree at %s lacks %s: %s", root, path, installHint)
	}
	libraries, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	if err != nil || len(libraries) == 0 {
		return nil, fmt.Errorf("the MySQL tree at %s lacks its libraries: %s", root, installHint)
	}
	return []string{loaders[0], "--library-path", libraries[0], program}, nil
}

// Program gives the command line that starts a client program of the kind
// (for example "mysqldump"), to which the caller adds arguments.
func Program(kind Kind, name string) ([]string, error) {
	if kind == KindMySQL {
		return mysqlProgram("usr/bin/" + name)
	}
	path, err := findProgram(name)
	if err != nil {
		return nil, err
	}
	return []string{path}, nil
}

// findProgram also looks where Debian puts daemons, which is not in the PATH
// of an ordinary user.
func findProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
		if path := filepath.Join(dir, name); exec.Command(path, "--version").Run() == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: %s", name, installHint)
}

// daemon gives the command line of the server program without options.
func daemon(kind Kind) ([]string, error) {
	if kind == KindMySQL {
		return mysqlProgram("usr/sbin/mysqld")
	}
	path, err := findProgram("mariadbd")
	if err != nil {
		return nil, err
	}
	return []string{path}, nil
}

var versionPattern = regexp.MustCompile(`Ver (\S+)`)

func daemonVersion(kind Kind) (string, error) {
	argv, err := daemon(kind)
	if err != nil {
		return "", err
	}
	out, err := exec.Command(argv[0], append(argv[1:], "--no-defaults", "--version")...).Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", kind, err)
	}
	match := versionPattern.FindSubmatch(out)
	if match == nil {
		return "", fmt.Errorf("no version in what %s prints: %q", kind, out)
	}
	return string(match[1]), nil
}

// commonOptions are the options for initialising and for running. Durability
// is against a killed process, not against power loss: tests kill processes.
func commonOptions(kind Kind, dataDir string) []string {
	options := []string{
		"--no-defaults",
		"--datadir=" + dataDir,
	}
	if os.Geteuid() == 0 {
		options = append(options, "--user=root")
	}
	if kind == KindMySQL {
		root := mysqlRoot()
		return append(options,
			"--basedir="+filepath.Join(root, "usr"),
			"--lc-messages-dir="+filepath.Join(root, "usr/share/mysql"),
			"--character-sets-dir="+filepath.Join(root, "usr/share/mysql/charsets"),
			"--plugin-dir="+filepath.Join(root, "usr/lib/mysql/plugin"),
			"--secure-file-priv=",
			"--innodb-redo-log-capacity=64M",
		)
	}
	return append(options, "--innodb-log-file-size=64M")
}

// runOptions are the options of a running server; options given later win.
func runOptions(kind Kind, dir string, port int) []string {
	options := append(commonOptions(kind, filepath.Join(dir, "data")),
		"--port="+strconv.Itoa(port),
		"--bind-address=127.0.0.1",
		"--socket="+filepath.Join(dir, "sock"),
		"--pid-file="+filepath.Join(dir, "pid"),
		// A MariaDB that starts removes the temporary tables of all others in
		// the same directory, which then crash.
		"--tmpdir="+filepath.Join(dir, "tmp"),
		"--skip-name-resolve",
		"--local-infile=1",
		"--max-connections=300",
		"--max-connect-errors=1000000",
		"--max-allowed-packet=256M",
		"--innodb-flush-log-at-trx-commit=2",
	)
	if kind == KindMySQL {
		return append(options, "--mysqlx=0", "--sync-binlog=0")
	}
	return options
}

// accounts is run once on a new data directory. The passwords are public:
// the servers listen on the loopback address only.
func accounts(kind Kind) string {
	app := "IDENTIFIED WITH caching_sha2_password BY 'app'"
	first := ""
	if kind == KindMariaDB {
		app = "IDENTIFIED VIA mysql_native_password USING PASSWORD('app')"
		first = "FLUSH PRIVILEGES;\n" // the grant tables are not loaded in bootstrap mode
	}
	return first +
		"CREATE USER root@'%' IDENTIFIED BY '';\n" +
		"GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n" +
		"CREATE DATABASE test;\n" +
		"CREATE DATABASE sluice;\n" +
		"CREATE USER app@'%' " + app + ";\n" +
		"GRANT ALL ON `test%`.* TO app@'%';\n" +
		"CREATE USER nopassword@'%' IDENTIFIED BY '';\n" +
		"GRANT ALL ON `test%`.* TO nopassword@'%';\n" +
		"CREATE USER sluice_svc@'%' IDENTIFIED BY 'svc';\n" +
		"GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON `test%`.* TO sluice_svc@'%';\n" +
		"GRANT ALL ON sluice.* TO sluice_svc@'%';\n"
}
