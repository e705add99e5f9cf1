package servers

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// template returns an initialised data directory of the installed version,
// kept in the user's cache directory, since initialising takes seconds.
// Test processes that run side by side build it once: a file lock decides.
func template(kind Kind) (string, error) {
	version, err := daemonVersion(kind)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	inputs := strings.Join(commonOptions(kind, ""), "\n") + accounts(kind)
	name := fmt.Sprintf("%s-%s-%x", kind, version, sha256.Sum256([]byte(inputs)))
	dir := filepath.Join(cache, name[:len(name)-48])

	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("open template lock: %w", err)
	}
	defer func() { _ = lock.Close() }() // releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock template: %w", err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	unfinished := dir + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return "", fmt.Errorf("remove unfinished template: %w", err)
	}
	if err := initialise(kind, unfinished); err != nil {
		return "", fmt.Errorf("initialise %s %s: %w", kind, version, err)
	}
	if err := os.Rename(unfinished, dir); err != nil {
		return "", fmt.Errorf("publish template: %w", err)
	}
	return dir, nil
}

func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil { // no HOME: a directory of this user's own under the temporary one
		base = filepath.Join(os.TempDir(), fmt.Sprintf("cache-%d", os.Geteuid()))
	}
	dir := filepath.Join(base, "sluice-test")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make cache directory: %w", err)
	}
	return dir, nil
}

func initialise(kind Kind, dataDir string) error {
	sql := dataDir + ".sql"
	if err := os.WriteFile(sql, []byte(accounts(kind)), 0o600); err != nil {
		return fmt.Errorf("write accounts: %w", err)
	}
	defer func() { _ = os.Remove(sql) }()
	var argv []string
	options := commonOptions(kind, dataDir)
	switch kind {
	case KindMySQL:
		program, err := daemon(kind)
		if err != nil {
			return err
		}
		argv = append(append(program, options...), "--initialize-insecure", "--init-file="+sql)
	case KindMariaDB:
		program, err := findProgram("mariadb-install-db")
		if err != nil {
			return err
		}
		argv = append(append([]string{program}, options...),
			"--auth-root-authentication-method=normal", "--skip-test-db", "--extra-file="+sql)
	}
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("ERROR:")) {
		return fmt.Errorf("%w\n%s", errors.Join(errInitialise, err), out)
	}
	return nil
}

var errInitialise = errors.New("the server's own installer failed")

// copyTree copies a data directory. Stretches of zeros become holes: most of
// a fresh log file is zeros.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case entry.Name() == "auto.cnf": // the server's identity: each makes its own
			return nil
		case entry.Type().IsRegular():
			return copySparse(path, target)
		default:
			return nil
		}
	})
}

func copySparse(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	block := make([]byte, 64<<10)
	zeros := make([]byte, len(block))
	size := int64(0)
	for {
		n, readErr := io.ReadFull(in, block)
		if n > 0 && !bytes.Equal(block[:n], zeros[:n]) {
			if _, err := out.WriteAt(block[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		if readErr == io.EOF || readErr == io.ErrUnexpectedEOF {
			return out.Truncate(size)
		}
		if readErr != nil {
			return readErr
		}
	}
}
