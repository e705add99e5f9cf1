package stage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// SluiceOptions says how sluice is started.
type SluiceOptions struct {
	Binary   string
	Dir      string // must exist
	Name     string // of its data directory and log below Dir
	Backend  string // HOST:PORT
	User     string // of the service account
	Password string
	Args     []string // added to the command line of serve
}

// Sluice is a running `sluice serve` with the loader profile.
type Sluice struct {
	*Process
	Addr string // where clients connect

	web    string
	client *http.Client
}

// StartSluice starts sluice and waits until it says that it is ready.
func StartSluice(ctx context.Context, options SluiceOptions) (*Sluice, error) {
	listen, err := FreePort()
	if err != nil {
		return nil, err
	}
	web, err := FreePort()
	if err != nil {
		return nil, err
	}
	s := &Sluice{
		Addr:   fmt.Sprintf("127.0.0.1:%d", listen),
		web:    fmt.Sprintf("127.0.0.1:%d", web),
		client: &http.Client{Timeout: 5 * time.Second},
	}
	args := append([]string{"serve",
		"--backend", "mysql://" + options.User + "@" + options.Backend + "/",
		"--listen", s.Addr, "--http", s.web, "--profile", "loader",
		"--data-dir", filepath.Join(options.Dir, options.Name)}, options.Args...)
	cmd := exec.Command(options.Binary, args...)
	cmd.Env = append(os.Environ(), "SLUICE_BACKEND_PASSWORD="+options.Password)
	if s.Process, err = StartProcess(options.Name, options.Dir, cmd); err != nil {
		return nil, err
	}
	ready := func() error {
		_, err := s.get(ctx, "/readyz")
		return err
	}
	if err := s.WaitReady(ctx, ready); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Stop lets sluice drain; anything but exit status 0 is an error.
func (s *Sluice) Stop() error {
	s.client.CloseIdleConnections()
	return s.Process.Stop(stopLimit)
}

func (s *Sluice) get(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.web+path, nil)
	if err != nil {
		return "", fmt.Errorf("ask sluice: %w", err)
	}
	reply, err := s.client.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask sluice: %w", err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return "", fmt.Errorf("ask sluice: %w", err)
	}
	if reply.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask sluice: GET %s: %s: %s", path, reply.Status, body)
	}
	return string(body), nil
}

// Metrics sums every metric over its labels.
func (s *Sluice) Metrics(ctx context.Context) (map[string]float64, error) {
	body, err := s.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	return sumMetrics(body)
}

// sumMetrics reads Prometheus' text format: NAME{LABELS} VALUE.
func sumMetrics(text string) (map[string]float64, error) {
	sums := map[string]float64{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		space := strings.LastIndexByte(line, ' ')
		if space < 0 {
			return nil, fmt.Errorf("metrics: cannot read %q", line)
		}
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics: cannot read %q: %w", line, err)
		}
		name, _, _ := strings.Cut(line[:space], "{")
		sums[name] += value
	}
	return sums, lines.Err()
}

// Metric gives the sum of one metric, which must be there: a misspelt name
// would otherwise read as zero.
func (s *Sluice) Metric(ctx context.Context, name string) (float64, error) {
	sums, err := s.Metrics(ctx)
	if err != nil {
		return 0, err
	}
	value, found := sums[name]
	if !found {
		return 0, fmt.Errorf("sluice has no metric %s", name)
	}
	return value, nil
}

// Drained waits until no acknowledged row is pending any more.
func (s *Sluice) Drained(ctx context.Context) error {
	for {
		pending, err := s.Metric(ctx, "sluice_pending_rows")
		if err != nil {
			return err
		}
		if pending == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Done():
			return fmt.Errorf("sluice ended with %v rows pending: %w\n%s", pending, s.Err(), s.Tail(15))
		case <-time.After(10 * time.Millisecond):
		}
	}
}
