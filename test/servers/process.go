package servers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// process is a started child. The goroutine in startProcess is the only one
// that waits for it; done is closed after the exit state is known.
type process struct {
	cmd     *exec.Cmd
	logPath string
	done    chan struct{}
	waitErr error
}

// startProcess starts a child that writes both outputs to the end of logPath.
func startProcess(logPath string, argv []string, env ...string) (*process, error) {
	out, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = out.Close() }() // the child has its own descriptor
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = environment(env...)
	// The process group keeps a terminal's Ctrl-C from the children: the test
	// process stops them in order. Pdeathsig covers a test process that is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	p := &process{cmd: cmd, logPath: logPath, done: make(chan struct{})}
	go func() {
		p.waitErr = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// environment is this process's with more variables, but without the SLUICE_
// variables of whoever runs the tests: those are not for the children.
func environment(more ...string) []string {
	return append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "SLUICE_")
	}), more...)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal reports whether the process was still there to receive it.
func (p *process) signal(s os.Signal) bool {
	return p.cmd.Process.Signal(s) == nil
}

func (p *process) kill9() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// stop asks by SIGTERM, kills after the grace time and returns how the process
// ended: nil only for exit status 0.
func (p *process) stop(grace time.Duration) error {
	p.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.waitErr
	case <-timer.C:
		p.kill9()
		return fmt.Errorf("still running %s after SIGTERM, killed", grace)
	}
}

// waitReady polls ready until it succeeds, the process ends or the time is up.
func (p *process) waitReady(limit time.Duration, ready func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := ready()
		if err == nil {
			return nil
		}
		if p.exited() {
			return errors.Join(errExitedEarly, p.waitErr)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not ready after %s: %w", limit, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

var errExitedEarly = errors.New("ended before it was ready")

// logTail returns the last n lines of what the process wrote.
func (p *process) logTail(n int) string {
	raw, err := os.ReadFile(p.logPath)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

// freePort asks the kernel for a port. Another process can take it before the
// caller listens; whoever starts a server tries again on another port then.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("release port %d: %w", port, err)
	}
	return port, nil
}
