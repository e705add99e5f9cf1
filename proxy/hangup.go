package proxy

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hangups notices that a backend closed its connection while the session waits
// for its client: a direct client would see the same (wait_timeout, KILL, a
// server that restarts). It watches for EPOLLRDHUP alone, so ordinary traffic
// never wakes it and nothing needs to be armed per command (epoll_ctl(2)).
type hangups struct {
	epoll int
	wake  [2]int
	done  sync.WaitGroup

	mu      sync.Mutex
	last    int64
	waiting map[int64]func()
}

func newHangups() (*hangups, error) {
	h := &hangups{waiting: make(map[int64]func())}
	var err error
	if h.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	var p [2]int
	if err = unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		_ = unix.Close(h.epoll)
		return nil, err
	}
	h.wake = p
	if err = unix.EpollCtl(h.epoll, unix.EPOLL_CTL_ADD, p[0], &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
		return nil, errors.Join(err, unix.Close(h.epoll), unix.Close(p[0]), unix.Close(p[1]))
	}
	h.done.Go(h.loop)
	return h, nil
}

// watch calls gone once when the peer of c hangs up, until the returned stop is called.
// gone runs with h's lock held and must not block.
func (h *hangups) watch(c net.Conn, gone func()) (stop func(), err error) {
	fd, err := descriptor(c)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.last++
	id := h.last
	h.waiting[id] = gone
	h.mu.Unlock()
	err = unix.EpollCtl(h.epoll, unix.EPOLL_CTL_ADD, int(fd), watchEvent(id))
	stop = func() {
		h.mu.Lock()
		delete(h.waiting, id)
		h.mu.Unlock()
		// Not on a descriptor that has been closed: another connection may have it.
		_ = control(c, func(fd int) { _ = unix.EpollCtl(h.epoll, unix.EPOLL_CTL_DEL, fd, nil) })
	}
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// watchEvent carries a number of its own for each watch, not the descriptor: an
// event that was fetched before its connection was closed may be looked at when
// another connection has the descriptor.
func watchEvent(id int64) *unix.EpollEvent {
	return &unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLONESHOT, Fd: int32(id), Pad: int32(id >> 32)}
}

// descriptor is the file descriptor of c, valid until c is closed.
func descriptor(c net.Conn) (fd int32, err error) {
	err = control(c, func(v int) { fd = int32(v) })
	return fd, err
}

// control runs f on the file descriptor of c, unless c is closed.
func control(c net.Conn, f func(fd int)) error {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return fmt.Errorf("no descriptor in a %T", c)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { f(int(fd)) })
}

func (h *hangups) loop() {
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(h.epoll, events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		h.mu.Lock()
		for _, e := range events[:max(n, 0)] {
			id := int64(e.Pad)<<32 | int64(uint32(e.Fd))
			if id == 0 {
				h.mu.Unlock()
				return
			}
			if gone := h.waiting[id]; gone != nil {
				gone()
			}
		}
		h.mu.Unlock()
	}
}

func (h *hangups) close() {
	_, _ = unix.Write(h.wake[1], []byte{0})
	h.done.Wait()
	_ = unix.Close(h.epoll)
	_ = unix.Close(h.wake[0])
	_ = unix.Close(h.wake[1])
}
