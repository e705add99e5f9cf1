package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// socket reads and writes a TCP or unix connection by system calls that the Go
// scheduler is not told about. They do not block (the descriptor is non-blocking, the
// poller waits), and they are short; but with ordinary ones the scheduler takes the
// processor away from a call that lasts 20 µs and wakes another thread for it, which
// on a busy machine costs a relay more than the call (docs/decisions/0013).
type socket struct {
	net.Conn
	raw syscall.RawConn
	in  transfer
	out transfer
}

// transfer is one direction: what its callback works on, kept here so that a call
// allocates nothing.
type transfer struct {
	buf  []byte
	n    int
	err  syscall.Errno
	once bool // do not wait
	call func(fd uintptr) bool
}

// newSocket wraps a connection that has a descriptor; any other one stays as it is.
func newSocket(c net.Conn) net.Conn {
	switch c.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return c
	}
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return c
	}
	s := &socket{Conn: c, raw: raw}
	s.in.call = s.in.repeat(syscall.SYS_READ)
	s.out.call = s.out.repeat(syscall.SYS_WRITE)
	return s
}

// repeat returns the callback for RawConn: it is called again when the descriptor is
// ready, until it returns true.
func (t *transfer) repeat(number uintptr) func(fd uintptr) bool {
	return func(fd uintptr) bool {
		for {
			n, _, err := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.buf))), uintptr(len(t.buf)))
			switch err {
			case syscall.EINTR:
				continue
			case syscall.EAGAIN:
				if !t.once {
					return false
				}
			}
			t.n, t.err = int(n), err
			return true
		}
	}
}

// run does one transfer and forgets the buffer.
func (t *transfer) run(name string, wait func(func(uintptr) bool) error, p []byte) (int, error) {
	t.buf = p
	err := wait(t.call)
	t.buf = nil
	switch {
	case err != nil:
		return 0, err
	case t.err != 0:
		return 0, os.NewSyscallError(name, t.err)
	}
	return t.n, nil
}

// Read reads once.
func (s *socket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := s.in.run("read", s.raw.Read, p)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Write writes all of p.
func (s *socket) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := s.out.run("write", s.raw.Write, p[done:])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// SyscallConn gives access to the descriptor.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return s.raw, nil }

// CloseWrite ends the sending direction.
func (s *socket) CloseWrite() error {
	if c, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}
