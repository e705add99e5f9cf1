package stage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Load is one run of a loader: load.pl beside the demo, or a program that takes
// the same arguments and reports in the same words.
type Load struct {
	Command        []string      // to which FILE, ROWS_PER_TRANSACTION and SECONDS are added
	File           string        // the rows
	PerTransaction int           // 0 is autocommit
	Limit          time.Duration // stop early when it has passed; 0 is never
	Addr           string        // of the server or of what stands in front of it
	Schema         string
	User, Password string
	Sluice         *Sluice // when it stands in front: the clock stops when it has drained
}

// Loaded is what a load took.
type Loaded struct {
	Rows  int           // sent by the client
	Count int           // in the table afterwards, counted by the same session
	Sent  time.Duration // until the client had its last answer
	Total time.Duration // until the rows were counted and nothing was pending
}

// Rate is rows a second over the whole time.
func (l Loaded) Rate() float64 { return float64(l.Rows) / l.Total.Seconds() }

// SentRate is rows a second as the client saw them acknowledged.
func (l Loaded) SentRate() float64 { return float64(l.Rows) / l.Sent.Seconds() }

// Run runs the loader. Progress is called with the number of rows sent a few
// times a second, from the goroutine that called Run.
func (l Load) Run(ctx context.Context, progress func(rows int)) (Loaded, error) {
	var loaded Loaded
	host, port, _ := strings.Cut(l.Addr, ":")
	args := append(l.Command[1:len(l.Command):len(l.Command)],
		l.File, fmt.Sprint(l.PerTransaction), fmt.Sprint(l.Limit.Seconds()))
	cmd := exec.CommandContext(ctx, l.Command[0], args...)
	cmd.Env = append(os.Environ(),
		fmt.Sprintf("DBI_DSN=dbi:mysql:database=%s;host=%s;port=%s", l.Schema, host, port),
		"DBI_USER="+l.User, "DBI_PASS="+l.Password)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return loaded, fmt.Errorf("start the loader: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return loaded, fmt.Errorf("start the loader: %w", err)
	}
	var start time.Time
	counted := false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		var readErr error
		switch word {
		case "ready":
			start = time.Now()
		case "rows":
			_, readErr = fmt.Sscan(rest, &loaded.Rows)
			progress(loaded.Rows)
		case "sent":
			var seconds float64
			_, readErr = fmt.Sscan(rest, &loaded.Rows, &seconds)
			loaded.Sent = time.Duration(seconds * float64(time.Second))
			progress(loaded.Rows)
		case "count":
			_, readErr = fmt.Sscan(rest, &loaded.Count)
			loaded.Total = time.Since(start)
			counted = true
		}
		if readErr != nil {
			err = fmt.Errorf("the loader said %q: %w", lines.Text(), readErr)
		}
	}
	if err := errors.Join(err, lines.Err(), cmd.Wait()); err != nil {
		if ctx.Err() != nil {
			return loaded, ctx.Err()
		}
		return loaded, fmt.Errorf("load: %w\n%s", err, bytes.TrimSpace(complaint.Bytes()))
	}
	if !counted {
		return loaded, errors.New("load: the loader ended without counting its rows")
	}
	if l.Sluice != nil {
		if err := l.Sluice.Drained(ctx); err != nil {
			return loaded, err
		}
		loaded.Total = time.Since(start)
	}
	return loaded, nil
}
