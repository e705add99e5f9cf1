package main

import (
	"io"
	"net"
	"syscall"
	"time"
)

// spinReader reads from a connection and polls for a while before it lets the
// runtime put the goroutine to sleep.
type spinReader struct {
	raw  syscall.RawConn
	spin time.Duration
}

// reader gives the plain connection when there is nothing to spin for.
func reader(conn net.Conn, spin time.Duration) (io.Reader, error) {
	if spin == 0 {
		return conn, nil
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	return &spinReader{raw: raw, spin: spin}, nil
}

// Read returns as soon as there is anything to read.
func (r *spinReader) Read(p []byte) (int, error) {
	var n int
	var failed error
	err := r.raw.Read(func(fd uintptr) bool {
		deadline := time.Now().Add(r.spin)
		for {
			n, failed = syscall.Read(int(fd), p)
			switch {
			case failed == syscall.EINTR:
			case failed != syscall.EAGAIN:
				return true
			case time.Now().After(deadline):
				return false // sleep until there is something
			}
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
