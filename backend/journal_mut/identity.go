package journal

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ID identifies one journal directory for ever. Checkpoints on the server and
// entries of the reject log carry it.
type ID [16]byte

// String returns the 32 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// ParseID reads what String wrote.
func ParseID(s string) (ID, error) {
	var id ID
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("journal id %q: want %d hexadecimal digits", s, 2*len(id))
	}
	copy(id[:], b)
	return id, nil
}

// formatVersion is written to the identity file and to each segment header.
const formatVersion = 1

const (
	identityName = "identity"
	lockName     = "LOCK"
	dirMode      = 0o700
	fileMode     = 0o600
)

// dataCategory names our writes in Pebble's statistics.
const dataCategory vfs.DiskWriteCategory = "sluice"

// directory is the place of one log: its lock and its identity.
type directory struct {
	fs   vfs.FS
	path string
	kind string // journal or rejects
	lock io.Closer
	id   ID
}

// openDirectory locks the directory and reads its identity. With create it
// makes what is missing.
func openDirectory(fsys vfs.FS, path, kind string, create bool) (*directory, error) {
	if fsys == nil {
		fsys = vfs.Default
	}
	d := &directory{fs: fsys, path: path, kind: kind}
	if d.onDisk() {
		// The lock table inside the process goes by name, so one directory
		// must have one name.
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("%s directory %s: %w", kind, path, err)
		}
		d.path = abs
	}
	if err := d.open(create); err != nil {
		_ = d.close()
		return nil, err
	}
	return d, nil
}

func (d *directory) open(create bool) error {
	if create {
		if err := d.make(); err != nil {
			return err
		}
	} else if _, err := d.fs.Stat(d.path); err != nil {
		return fmt.Errorf("%s directory: %w", d.kind, err)
	}
	if err := d.acquire(); err != nil {
		return err
	}
	err := d.readIdentity()
	if errors.Is(err, fs.ErrNotExist) {
		return d.newIdentity(create)
	}
	return err
}

// close releases the lock.
func (d *directory) close() error {
	if d.lock == nil {
		return nil
	}
	lock := d.lock
	d.lock = nil
	return lock.Close()
}

// onDisk reports whether paths are those of the operating system.
func (d *directory) onDisk() bool { return vfs.Root(d.fs) == vfs.Default }

// restrict takes the file or directory from everybody else. Package vfs creates
// files as the umask says; the directory around them is closed already.
func (d *directory) restrict(path string, mode os.FileMode) error {
	if !d.onDisk() {
		return nil
	}
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("restrict access to %s: %w", path, err)
	}
	return nil
}

// make creates the directory and its missing parents, and makes their entries
// durable.
func (d *directory) make() error {
	var missing []string
	for p := d.path; ; p = d.fs.PathDir(p) {
		_, err := d.fs.Stat(p)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || d.fs.PathDir(p) == p {
			break
		}
		missing = append(missing, p)
	}
	if err := d.fs.MkdirAll(d.path, dirMode); err != nil {
		return fmt.Errorf("create %s directory %s: %w", d.kind, d.path, err)
	}
	for _, p := range missing {
		if err := d.sync(d.fs.PathDir(p)); err != nil {
			return err
		}
	}
	return d.restrict(d.path, dirMode)
}

// sync makes the entries of a directory durable.
func (d *directory) sync(path string) error {
	dir, err := d.fs.OpenDir(path)
	if err != nil {
		return writeError("open directory", path, err)
	}
	err = dir.Sync()
	if cerr := dir.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return writeError("fsync directory", path, err)
	}
	return nil
}

// acquire takes the lock that keeps other processes out.
func (d *directory) acquire() error {
	name := d.fs.PathJoin(d.path, lockName)
	lock, err := d.fs.Lock(name)
	if err != nil {
		// A path error comes from creating the file; anything else from the
		// lock itself: held by another process (EAGAIN, EACCES) or by this one.
		var path *fs.PathError
		var errno syscall.Errno
		conflict := !errors.As(err, &errno) || errno == syscall.EAGAIN || errno == syscall.EACCES
		if errors.As(err, &path) || !conflict {
			return fmt.Errorf("lock %s directory: cannot lock %s (is the directory writable?): %w", d.kind, name, err)
		}
		return fmt.Errorf("%s directory %s: %w by another sluice process (`fuser %s` names it): stop that one or give this one its own data directory: %w",
			d.kind, d.path, ErrLocked, name, err)
	}
	d.lock = lock
	return d.restrict(name, fileMode)
}

// readIdentity reads "sluice KIND VERSION ID".
func (d *directory) readIdentity() error {
	name := d.fs.PathJoin(d.path, identityName)
	f, err := d.fs.Open(name)
	if err != nil {
		return fmt.Errorf("%s identity: %w", d.kind, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	words := strings.Fields(string(text))
	if len(words) < 3 || words[0] != "sluice" || words[1] != d.kind {
		return &DamageError{Path: name, Reason: "not an identity file of a " + d.kind + " directory"}
	}
	version, err := strconv.Atoi(words[2])
	if err != nil {
		return &DamageError{Path: name, Reason: "not an identity file of a " + d.kind + " directory"}
	}
	if version > formatVersion {
		return fmt.Errorf("%s directory %s: %w: written by a newer sluice (version %d, this one knows %d): use that one, or another data directory",
			d.kind, d.path, ErrVersion, version, formatVersion)
	}
	if len(words) != 4 {
		return &DamageError{Path: name, Reason: "not an identity file of a " + d.kind + " directory"}
	}
	if d.id, err = ParseID(words[3]); err != nil {
		return &DamageError{Path: name, Reason: err.Error()}
	}
	return nil
}

// newIdentity gives an empty directory its identity.
func (d *directory) newIdentity(create bool) error {
	name := d.fs.PathJoin(d.path, identityName)
	numbers, err := d.segmentNumbers()
	if err != nil {
		return err
	}
	if len(numbers) > 0 {
		return fmt.Errorf("%s is missing although there are segments beside it: the directory was copied in part; restore this file from where it came from: %w",
			name, fs.ErrNotExist)
	}
	if !create {
		return fmt.Errorf("%s is not a %s directory of sluice: %s: %w", d.path, d.kind, name, fs.ErrNotExist)
	}
	if _, err := rand.Read(d.id[:]); err != nil {
		return fmt.Errorf("%s identity: %w", d.kind, err)
	}
	temp := name + ".tmp"
	f, err := d.fs.Create(temp, dataCategory)
	if err != nil {
		return writeError("create", temp, err)
	}
	_, err = fmt.Fprintf(f, "sluice %s %d %s\n", d.kind, formatVersion, d.id)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return writeError("write", temp, err)
	}
	if err := d.restrict(temp, fileMode); err != nil {
		return err
	}
	if err := d.fs.Rename(temp, name); err != nil {
		return writeError("rename", temp, err)
	}
	return d.sync(d.path)
}
