package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/sluice-db/sluice/test/demo/stage"
)

// sysbenchPool holds sysbench's tables: these parts measure the way, not the disk.
const (
	sysbenchPool = "256M"
	tableSize    = 100_000
)

// events is what a run of sysbench reports.
type events struct {
	transactions int
	rate         float64 // transactions a second
	queries      float64 // queries a second
	ignored      int     // errors that sysbench does not stop at: deadlocks, for instance
	reconnects   int
	p95          float64 // milliseconds
}

// sysbench runs one command of a script.
func (b *bench) sysbench(ctx context.Context, addr, script, command string, args ...string) (events, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return events{}, fmt.Errorf("sysbench: %w", err)
	}
	all := append([]string{script, "--mysql-host=" + host, "--mysql-port=" + port,
		"--mysql-user=" + appUser, "--mysql-password=" + password, "--mysql-db=" + schema,
		"--threads=" + strconv.Itoa(b.threads), "--time=" + strconv.Itoa(b.seconds)}, args...)
	cmd := exec.CommandContext(ctx, "sysbench", append(all, command)...)
	if slices.Contains(args, overTLS) {
		cmd.Dir = b.tls // where it looks for certificates
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return events{}, fmt.Errorf("sysbench %s %s: %w\n%s", script, command, err, out)
	}
	if command != "run" {
		return events{}, nil
	}
	return parseEvents(out)
}

// overTLS has sysbench log in by TLS.
const overTLS = "--mysql-ssl=on"

var eventPatterns = struct{ transactions, queries, ignored, reconnects, p95 *regexp.Regexp }{
	transactions: regexp.MustCompile(`transactions:\s+(\d+)\s+\(([\d.]+) per sec`),
	queries:      regexp.MustCompile(`queries:\s+\d+\s+\(([\d.]+) per sec`),
	ignored:      regexp.MustCompile(`ignored errors:\s+(\d+)`),
	reconnects:   regexp.MustCompile(`reconnects:\s+(\d+)`),
	p95:          regexp.MustCompile(`95th percentile:\s+([\d.]+)`),
}

func parseEvents(out []byte) (events, error) {
	var e events
	var errs []error
	find := func(pattern *regexp.Regexp, into ...any) {
		match := pattern.FindSubmatch(out)
		if match == nil {
			errs = append(errs, fmt.Errorf("sysbench: no %v in what it printed:\n%s", pattern, out))
			return
		}
		for i := range into {
			if _, err := fmt.Sscan(string(match[i+1]), into[i]); err != nil {
				errs = append(errs, fmt.Errorf("sysbench: %w", err))
			}
		}
	}
	find(eventPatterns.transactions, &e.transactions, &e.rate)
	find(eventPatterns.queries, &e.queries)
	find(eventPatterns.ignored, &e.ignored)
	find(eventPatterns.reconnects, &e.reconnects)
	find(eventPatterns.p95, &e.p95)
	return e, errors.Join(errs...)
}

// startHAProxy starts HAProxy as a plain TCP relay in front of a server.
func (b *bench) startHAProxy(ctx context.Context, backend string) (*stage.Process, string, error) {
	program, err := stage.FindProgram("haproxy")
	if err != nil {
		return nil, "", err
	}
	port, err := stage.FreePort()
	if err != nil {
		return nil, "", err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	config := filepath.Join(b.dir, "haproxy.cfg")
	text := fmt.Sprintf("defaults\n\tmode tcp\n\ttimeout connect 5s\n\ttimeout client 1h\n\ttimeout server 1h\n"+
		"listen relay\n\tbind %s\n\tserver backend %s\n", addr, backend)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, "", fmt.Errorf("start haproxy: %w", err)
	}
	process, err := stage.StartProcess("haproxy", b.dir, exec.Command(program, "-db", "-f", config))
	if err != nil {
		return nil, "", err
	}
	if err := process.WaitReady(ctx, func() error { return login(ctx, addr) }); err != nil {
		return nil, "", errors.Join(err, process.Stop(stopLimit))
	}
	return process, addr, nil
}
