package servers

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	sluiceStartLimit = 30 * time.Second
	sluiceStopLimit  = 60 * time.Second
)

// Sluice is a running `sluice serve`. Its methods are not for concurrent use.
type Sluice struct {
	Addr    string // the client side, 127.0.0.1:PORT
	HTTP    string // http://127.0.0.1:PORT
	DataDir string // kept by Kill9 and Restart, removed at the end
	PID     int

	dir  string
	args []string
	proc *process

	lastLog string // kept when the directory is removed
}

// StartSluice starts sluice in front of the backend with the loader profile on
// free ports; args are added to the command line, where later flags win.
// At the test's end it must drain and exit 0.
func StartSluice(t testing.TB, backend *Server, args ...string) *Sluice {
	t.Helper()
	s, err := startSluice(backend, args)
	if err != nil {
		t.Fatalf("start sluice: %v", err)
	}
	t.Cleanup(func() {
		err := s.remove()
		if err != nil {
			t.Errorf("stop sluice: %v", err)
		}
		if t.Failed() {
			t.Logf("end of sluice's log:\n%s", s.lastLog)
		}
	})
	return s
}

func startSluice(backend *Server, args []string) (*Sluice, error) {
	if _, err := buildBinary(); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	dir, err := os.MkdirTemp("", "sluice-proxy-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	s := &Sluice{dir: dir, DataDir: filepath.Join(dir, "data")}
	for attempt := 0; ; attempt++ {
		if err = s.choosePorts(); err == nil {
			s.args = append([]string{"serve",
				"--backend", backend.BackendURL(),
				"--listen", s.Addr,
				"--http", s.HTTP[len("http://"):],
				"--data-dir", s.DataDir,
				"--profile", "loader",
			}, args...)
			err = s.launch()
		}
		if err == nil {
			return s, nil
		}
		if attempt == 2 || !errors.Is(err, errExitedEarly) { // an early exit may be a taken port
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
}

func (s *Sluice) choosePorts() error {
	client, err := freePort()
	if err != nil {
		return err
	}
	web, err := freePort()
	if err != nil {
		return err
	}
	s.Addr = fmt.Sprintf("127.0.0.1:%d", client)
	s.HTTP = fmt.Sprintf("http://127.0.0.1:%d", web)
	return nil
}

// Begin starts sluice again without waiting until it serves: for what happens
// during start-up. Await waits, Kill9 and Stop end it as usual.
func (s *Sluice) Begin(t testing.TB) {
	t.Helper()
	if err := s.begin(); err != nil {
		t.Fatalf("start sluice again: %v", err)
	}
}

// Await waits until a sluice that was begun serves.
func (s *Sluice) Await(t testing.TB) {
	t.Helper()
	if err := s.await(); err != nil {
		t.Fatalf("start sluice again: %v", err)
	}
}

func (s *Sluice) launch() error {
	if err := s.begin(); err != nil {
		return err
	}
	return s.await()
}

func (s *Sluice) begin() error {
	path, err := buildBinary()
	if err != nil {
		return err
	}
	var password []string
	for i, arg := range s.args {
		if arg == "--backend" { // the last one counts; without a service account there is no password
			password = nil
			if strings.Contains(s.args[i+1], "@") {
				password = []string{"SLUICE_BACKEND_PASSWORD=" + ServicePassword}
			}
		}
	}
	s.proc, err = startProcess(filepath.Join(s.dir, "log"), append([]string{path}, s.args...), password...)
	if err != nil {
		return err
	}
	s.PID = s.proc.pid()
	return nil
}

// await waits for /healthz rather than for the client port: a connection that
// is opened and dropped there would be a login attempt on the backend.
func (s *Sluice) await() error {
	if err := s.proc.waitReady(sluiceStartLimit, s.healthy); err != nil {
		s.proc.kill9()
		return fmt.Errorf("%w\n%s", err, s.proc.logTail(30))
	}
	return nil
}

func (s *Sluice) healthy() error {
	body, err := httpGet(s.HTTP + "/healthz")
	if err != nil {
		return fmt.Errorf("%w: %s", err, body)
	}
	return nil
}

// httpGet uses a connection of its own each time: a kept one would outlive a
// kill and delay a drain.
func httpGet(url string) (string, error) {
	client := http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true},
	}
	reply, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return "", err
	}
	if reply.StatusCode != http.StatusOK {
		return string(body), fmt.Errorf("GET %s: %s", url, reply.Status)
	}
	return string(body), nil
}

// DSN is a data source name for go-sql-driver/mysql through sluice.
func (s *Sluice) DSN(user, password, schema string) string {
	return dsn(s.Addr, user, password, schema)
}

// Open opens a pool of connections through sluice as the user app; it is
// closed at the test's end.
func (s *Sluice) Open(t testing.TB, schema string) *sql.DB {
	t.Helper()
	return openDB(t, s.DSN("app", "app", schema))
}

// Log returns the last lines that sluice wrote.
func (s *Sluice) Log(lines int) string { return s.proc.logTail(lines) }

// Signal sends a signal without waiting for its effect.
func (s *Sluice) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if !s.proc.signal(signal) {
		t.Fatalf("signal %s: sluice is not running", signal)
	}
}

// Kill9 kills sluice as a crash would; the data directory stays.
func (s *Sluice) Kill9(t testing.TB) {
	t.Helper()
	s.proc.kill9()
}

// Stop drains sluice by SIGTERM; anything but exit status 0 fails the test.
func (s *Sluice) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatalf("stop sluice: %v\n%s", err, s.proc.logTail(30))
	}
}

// Restart starts sluice again on its ports and data directory, draining it
// first if it still runs.
func (s *Sluice) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	if err := s.launch(); err != nil {
		t.Fatalf("restart sluice: %v", err)
	}
}

func (s *Sluice) stop() error {
	if s.proc == nil || s.proc.exited() {
		return nil
	}
	s.proc.signal(syscall.SIGCONT) // in case a test left it paused
	return s.proc.stop(sluiceStopLimit)
}

func (s *Sluice) remove() error {
	err := s.stop()
	s.lastLog = s.proc.logTail(30)
	return errors.Join(err, os.RemoveAll(s.dir))
}
