package proxy

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// eventLoop serves sessions that do nothing but relay small commands and small replies:
// they are parked in it, and their goroutines sleep meanwhile. One wait tells of many
// sockets that can be read, and nobody is woken for each of them, which is what a relay
// of small packets spends its time on otherwise (docs/decisions/0014). As soon as a
// session needs more than that it goes on in its goroutine.
type eventLoop struct {
	epoll int
	file  *os.File // the same descriptor, known to the runtime's poller
	ready syscall.RawConn
	done  sync.WaitGroup

	mu    sync.Mutex
	seats []seat
	free  []int32
}

// seat is where a session is parked. turn tells an event of who sat there before.
type seat struct {
	session *session
	turn    int32
}

// side says whose socket an event is about.
type side int32

const (
	clientSide side = iota
	backendSide
)

func newEventLoop() (*eventLoop, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	l := &eventLoop{epoll: fd, file: os.NewFile(uintptr(fd), "epoll")}
	if l.ready, err = l.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	l.done.Go(l.run)
	return l, nil
}

func (l *eventLoop) close() {
	_ = l.file.Close()
	l.done.Wait()
}

// run waits for events until the loop is closed. The descriptor of an epoll instance can
// be read when it has events: the runtime's poller waits for that.
func (l *eventLoop) run() {
	var events [64]unix.EpollEvent
	var sessions [len(events)]*session
	var n int
	fetch := func(uintptr) bool {
		var err error
		n, err = unix.EpollWait(l.epoll, events[:], 0)
		return n > 0 || (err != nil && !errors.Is(err, unix.EINTR))
	}
	for {
		if err := l.ready.Read(fetch); err != nil || n <= 0 {
			return
		}
		l.mu.Lock()
		for i, e := range events[:n] {
			sessions[i] = nil
			if s := &l.seats[e.Fd>>1]; s.turn == e.Pad {
				sessions[i] = s.session
			}
		}
		l.mu.Unlock()
		for i, e := range events[:n] {
			if x := sessions[i]; x != nil {
				x.event(side(e.Fd&1), e.Events)
			}
		}
	}
}

// add watches both sockets of a session. What can be read already makes an event.
func (l *eventLoop) add(x *session) error {
	l.mu.Lock()
	if len(l.free) == 0 {
		l.free = append(l.free, int32(len(l.seats)))
		l.seats = append(l.seats, seat{})
	}
	number := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	s := &l.seats[number]
	s.session = x
	turn := s.turn
	l.mu.Unlock()
	x.seat = number
	for who, fd := range x.descriptors {
		err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{
			Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET, Fd: number<<1 | int32(who), Pad: turn,
		})
		if err != nil {
			l.remove(x)
			return err
		}
	}
	return nil
}

// remove ends the watch. A descriptor that was closed is not watched any more.
func (l *eventLoop) remove(x *session) {
	for _, fd := range x.descriptors {
		_ = unix.EpollCtl(l.epoll, unix.EPOLL_CTL_DEL, int(fd), nil)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.seats[x.seat]
	s.session = nil
	s.turn++
	l.free = append(l.free, x.seat)
}
