package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the demo's flags.
type options struct {
	dir        string
	sluice     string
	text       string
	rows       int
	delay      time.Duration
	limit      time.Duration
	farLimit   time.Duration
	bufferPool string
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "directory for everything; removed at the end (default: a new one)")
	flag.StringVar(&o.sluice, "sluice", "", "sluice program (default: built from this source tree)")
	flag.StringVar(&o.text, "text", "", "directory of text to index (default: Go's own source tree)")
	flag.IntVar(&o.rows, "rows", 250_000, "rows of the index to load")
	flag.DurationVar(&o.delay, "delay", 5*time.Millisecond, "delay each way of the far server")
	flag.DurationVar(&o.limit, "limit", 40*time.Second, "a load that lasts longer is stopped and compared as far as it came")
	flag.DurationVar(&o.farLimit, "far-limit", 8*time.Second, "the same for a direct load over the delay")
	flag.StringVar(&o.bufferPool, "buffer-pool", "16M", "the server's buffer pool, smaller than the table")
	flag.CommandLine.Init("demo", flag.ContinueOnError)
	if err := flag.CommandLine.Parse(os.Args[1:]); err != nil {
		_ = os.RemoveAll(o.dir) // made by the script run, and empty but for this program
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, o)
	if ctx.Err() != nil {
		fmt.Println("demo: interrupted; everything is stopped and removed")
		os.Exit(130)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo: failed:", err)
		os.Exit(1)
	}
}

// run keeps the directory from the first moment to the last.
func run(ctx context.Context, o options) (err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "sluice-demo."); err != nil {
			return fmt.Errorf("make a directory: %w", err)
		}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	return newDemo(o).run(ctx)
}
