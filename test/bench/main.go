package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bench is one run with its flags.
type bench struct {
	dir         string
	sluice      string
	mysqlRoot   string
	parts       []string
	servers     []string
	runs        int
	rows        int
	baseRows    int
	bufferPool  string
	directLimit time.Duration
	seconds     int
	threads     int
	relayed     struct{ scripts, threads string }

	tls    string   // directory with the certificates of the part relay
	tables []string // what is printed at the end
}

// part is one kind of measurement.
type part struct {
	name        string
	needsSluice bool
	run         func(*bench, context.Context) error
}

var parts = []part{
	{"ceiling", false, (*bench).ceiling},
	{"perl-autocommit", true, (*bench).perlAutocommit},
	{"relay", true, (*bench).relay},
	{"transfer", true, (*bench).transfer},
	{"oltp", true, (*bench).oltp},
}

// withoutSluice is the value of --sluice for measuring everything but sluice.
const withoutSluice = "none"

func main() {
	b := &bench{}
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&b.dir, "dir", "", "directory for everything; removed at the end (default: a new one)")
	flags.StringVar(&b.sluice, "sluice", "", "sluice program (default: built from this source tree); "+withoutSluice+" leaves sluice out")
	flags.StringVar(&b.mysqlRoot, "mysql-root", envOr("SLUICE_MYSQL_ROOT", "/opt/mysql-sid"), "Debian tree with MySQL (SLUICE_MYSQL_ROOT)")
	chosen := flags.String("parts", strings.Join(names, ","), "what to measure")
	servers := flags.String("servers", "mariadb,mysql", "against which servers")
	flags.IntVar(&b.runs, "runs", 3, "runs whose median counts")
	flags.IntVar(&b.rows, "rows", 500_000, "rows that a loader sends")
	flags.IntVar(&b.baseRows, "base-rows", 1_000_000, "rows that are in the table before")
	flags.StringVar(&b.bufferPool, "buffer-pool", "16M", "the server's buffer pool while rows are loaded, smaller than the table")
	flags.DurationVar(&b.directLimit, "direct-limit", 60*time.Second, "a direct load is stopped after so long; 0 is never")
	flags.IntVar(&b.seconds, "seconds", 10, "length of a run of sysbench")
	flags.IntVar(&b.threads, "threads", 16, "threads of sysbench in the part oltp")
	flags.StringVar(&b.relayed.threads, "relay-threads", "1,16,64", "threads of sysbench in the part relay")
	flags.StringVar(&b.relayed.scripts, "relay-scripts", "oltp_point_select,oltp_read_only", "scripts of sysbench in the part relay")
	if err := flags.Parse(os.Args[1:]); err != nil {
		_ = os.RemoveAll(b.dir) // made by the script run, and empty but for this program
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		os.Exit(2)
	}
	b.parts, b.servers = strings.Split(*chosen, ","), strings.Split(*servers, ",")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := b.run(ctx)
	if ctx.Err() != nil {
		fmt.Println("bench: interrupted; everything is stopped and removed")
		os.Exit(130)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: failed:", err)
		os.Exit(1)
	}
}

func envOr(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "sluice-bench."); err != nil {
			return fmt.Errorf("make a directory: %w", err)
		}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	for _, name := range b.parts {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is no part %q", name)
		}
	}
	machine := describeMachine(b.dir)
	// The tables of the parts that were measured are shown even if a later one fails.
	defer func() {
		fmt.Printf("\n%s\n", machine)
		for _, table := range b.tables {
			fmt.Printf("\n%s", table)
		}
	}()
	for _, p := range parts {
		if !slices.Contains(b.parts, p.name) {
			continue
		}
		if p.needsSluice && b.sluice == "" {
			if b.sluice, err = b.build(ctx, "sluice", "."); err != nil {
				return err
			}
		}
		say("%s", p.name)
		if err := p.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// build builds a program of this source tree into the run's directory.
func (b *bench) build(ctx context.Context, name, from string) (string, error) {
	path := filepath.Join(b.dir, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, from)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return path, nil
}

func say(format string, args ...any) { fmt.Printf("bench: "+format+"\n", args...) }
