package journal

import (
	"errors"
	"fmt"
	"syscall"
)

// Errors on which a caller decides. They are wrapped: use errors.Is.
var (
	// ErrDiskFull says that the file system has no space (or quota) left.
	ErrDiskFull = errors.New("disk full")
	// ErrFull says that the journal has reached Options.MaxBytes.
	ErrFull = errors.New("journal full")
	// ErrFailed says that the file system refused a write or an fsync.
	ErrFailed = errors.New("journal failed")
	// ErrUncertain is added to a failed Append when the journal could not even
	// note that the record is void: after a crash it might be replayed.
	ErrUncertain = errors.New("outcome unknown")
	// ErrClosed says that the journal was closed.
	ErrClosed = errors.New("journal closed")
	// ErrLocked says that another process uses the directory.
	ErrLocked = errors.New("directory in use")
	// ErrVersion says that a newer sluice wrote the directory.
	ErrVersion = errors.New("format version not supported")
	// ErrRemoved says that the records asked for were applied and removed.
	ErrRemoved = errors.New("records no longer kept")
	// ErrUnknown says that a queue, shape, window or reject does not exist.
	ErrUnknown = errors.New("unknown")
	// ErrOrder says that a window was sealed or done out of order.
	ErrOrder = errors.New("window out of order")
)

// DamageError says that a segment cannot be read where it should be readable.
type DamageError struct {
	Path   string
	Offset int64  // where the last good record ends
	Reason string // what was found there
	Last   bool   // the newest segment: what follows Offset could be given up
}

// Error says where the damage is and what can be done about it.
func (e *DamageError) Error() string {
	s := fmt.Sprintf("%s is damaged at offset %d: %s; nothing was changed; check the disk and restore this file from a copy",
		e.Path, e.Offset, e.Reason)
	if e.Last {
		return s + fmt.Sprintf("; to give up what follows that offset instead, keep a copy and run: truncate -s %d %s", e.Offset, e.Path)
	}
	return s + "; to start without it instead, move the whole directory aside: rows in it that were not applied yet will then be missing on the server"
}

// writeError gives a refused write its type.
func writeError(op, path string, err error) error {
	kind := ErrFailed
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		kind = ErrDiskFull
	}
	return fmt.Errorf("%s %s: %w: %w", op, path, kind, err)
}
