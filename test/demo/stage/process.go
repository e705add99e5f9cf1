package stage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Process is a child that runs until it is stopped.
type Process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has ended and err is set
	err  error
}

// readyLimit is how long a child may take to start.
const readyLimit = 60 * time.Second

// ErrKilled says that a child did not end by itself in time after SIGTERM.
var ErrKilled = errors.New("had to be killed")

// StartProcess starts cmd with its output appended to the file NAME.log in dir.
// The child has a process group of its own, so that Ctrl-C reaches only us and
// we decide in which order things stop.
func StartProcess(name, dir string, cmd *exec.Cmd) (*Process, error) {
	path := filepath.Join(dir, name+".log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close() // the child has its own copy
	cmd.Stderr = log
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{name: name, log: path, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = cmd.Wait()
	}()
	return p, nil
}

// Pid is the child's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err gives the child's exit status with the end of its log. Call it after Done.
func (p *Process) Err() error {
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w\n%s", p.name, p.err, p.Tail(15))
}

// WaitReady asks until there is no error, the child has ended or time is up.
func (p *Process) WaitReady(ctx context.Context, ask func() error) error {
	deadline := time.Now().Add(readyLimit)
	for {
		err := ask()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is not ready after %v: %w\n%s", p.name, readyLimit, err, p.Tail(15))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.Done():
			return fmt.Errorf("%s ended while starting: %w", p.name, err) // Stop adds its log
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop asks the child to end by SIGTERM and kills it when grace has passed.
func (p *Process) Stop(grace time.Duration) error {
	select {
	case <-p.done:
		return p.Err()
	default:
	}
	// A child that ends in this moment gives ErrProcessDone: that is what we want.
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.Err()
	case <-timer.C:
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.done
	return fmt.Errorf("%s %w after %v\n%s", p.name, ErrKilled, grace, p.Tail(15))
}

// Tail gives the last lines of the child's log.
func (p *Process) Tail(lines int) string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// PeakMemory is the largest resident size that the child has had, in bytes.
func (p *Process) PeakMemory() (int64, error) {
	return statusField(p.Pid(), "VmHWM:")
}

// Memory is the child's resident size now, in bytes.
func (p *Process) Memory() (int64, error) {
	return statusField(p.Pid(), "VmRSS:")
}

// statusField reads a size out of /proc/PID/status.
func statusField(pid int, name string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name); found {
			var kilobytes int64
			if _, err := fmt.Sscan(value, &kilobytes); err != nil {
				return 0, fmt.Errorf("read memory: %w", err)
			}
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("read memory: no %s for process %d", name, pid)
}

// FreePort finds a TCP port on 127.0.0.1 that nobody listens on now.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}
