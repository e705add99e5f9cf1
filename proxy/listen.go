package proxy

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// errNoSocket: what stands at a socket's path is not to be replaced by one.
var errNoSocket = errors.New("there is a file that is no socket")

// listen opens an address. The file of a socket that nobody listens on is replaced. The
// error says what to do.
func listen(a Address) (net.Listener, error) {
	l, err := net.Listen(a.Network, a.Addr)
	if a.Network == "unix" && errors.Is(err, syscall.EADDRINUSE) {
		if err = stale(a.Addr); err == nil {
			if err = os.Remove(a.Addr); err == nil {
				l, err = net.Listen(a.Network, a.Addr)
			}
		}
	}
	if err != nil {
		return nil, listenError(a, err)
	}
	return l, nil
}

// Listenable says of each address why it could not be listened on beside those before it,
// nil if it could, and leaves nothing behind.
func Listenable(addresses ...Address) []error {
	errs := make([]error, len(addresses))
	for i, a := range addresses {
		if a.Network == "unix" && stale(a.Addr) == nil {
			// It would be replaced.
			if err := unix.Access(filepath.Dir(a.Addr), unix.W_OK|unix.X_OK); err != nil {
				errs[i] = listenError(a, err)
			}
			continue
		}
		l, err := listen(a)
		if err != nil {
			errs[i] = err
			continue
		}
		defer func() { _ = l.Close() }()
	}
	return errs
}

// stale says whether a path is a socket that nobody listens on.
func stale(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errNoSocket
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return syscall.EADDRINUSE
	}
	return nil
}

// listenError names the address, what is wrong and what to do.
func listenError(a Address, err error) error {
	var name *net.DNSError
	mend := "choose another address"
	switch {
	case errors.Is(err, errNoSocket):
		mend = "choose another path, or remove the file"
	case errors.Is(err, syscall.EADDRINUSE):
		mend = "stop what listens there, or choose another address"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		mend = "it is none of this machine's: choose one that is, or :PORT for all"
	case errors.Is(err, syscall.EACCES) && a.Network == "unix":
		mend = "let sluice's user write to the directory"
	case errors.Is(err, syscall.EACCES):
		mend = "a port below 1024 takes root or CAP_NET_BIND_SERVICE"
	case errors.Is(err, fs.ErrNotExist):
		mend = "make the directory"
	case errors.As(err, &name):
		mend = "write an address of this machine"
	}
	return fmt.Errorf("listen on %s: %w; %s", a, cause(err), mend)
}

// cause is an error without the address that package net names: it is named already.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
