package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-db/sluice/test/demo/stage"
)

// screen is where the demo shows what it does: a line that is redrawn every
// second on a terminal, otherwise a line every few seconds.
type screen struct {
	out      *os.File
	terminal bool
	every    time.Duration
}

func newScreen(out *os.File) *screen {
	s := &screen{out: out, every: 5 * time.Second}
	if info, err := out.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		s.terminal, s.every = true, time.Second
	}
	return s
}

func (s *screen) say(format string, args ...any) {
	fmt.Fprintf(s.out, "demo: "+format+"\n", args...)
}

// watch runs a load and shows how it goes. It owns the goroutine that draws.
func (s *screen) watch(ctx context.Context, name string, load stage.Load) (stage.Loaded, error) {
	var sent atomic.Int64
	var drawing sync.WaitGroup
	drawn, cancel := context.WithCancel(ctx)
	drawing.Go(func() { s.draw(drawn, name, load.Sluice, &sent) })
	loaded, err := load.Run(ctx, func(rows int) { sent.Store(int64(rows)) })
	cancel()
	drawing.Wait()
	if s.terminal {
		fmt.Fprint(s.out, "\r\x1b[K")
	}
	if err != nil {
		return loaded, err
	}
	s.say("%-32s %9s rows %8.1f s %9s rows/s", name, thousands(loaded.Rows), loaded.Total.Seconds(), thousands(int(loaded.Rate())))
	return loaded, nil
}

func (s *screen) draw(ctx context.Context, name string, sluice *stage.Sluice, sent *atomic.Int64) {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	before, then := int64(0), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		rows, now := sent.Load(), time.Now()
		line := fmt.Sprintf("demo: %-32s %9s rows %20s rows/s", name, thousands(int(rows)),
			thousands(int(float64(rows-before)/now.Sub(then).Seconds())))
		before, then = rows, now
		if sluice != nil {
			// A metric that cannot be read here fails the load itself when it must be.
			if pending, err := sluice.Metric(ctx, "sluice_pending_rows"); err == nil {
				line += fmt.Sprintf(", %s pending", thousands(int(pending)))
			}
		}
		if s.terminal {
			fmt.Fprint(s.out, "\r\x1b[K"+line)
		} else {
			fmt.Fprintln(s.out, line)
		}
	}
}

// results prints the table and the last line.
func (s *screen) results(d *demo, legs []*leg, same stage.Same, tableBytes int64) {
	fmt.Fprintf(s.out, "\n%s, buffer pool %s, table of %d MB with %s rows\n\n",
		d.server.Describe(), d.options.bufferPool, tableBytes>>20, thousands(same.Rows))
	fmt.Fprintf(s.out, "%-32s %14s %14s %9s\n", "rows/s", "direct", "sluice", "ratio")
	for i := 0; i < len(legs); i += 2 {
		name, _, _ := strings.Cut(legs[i].name, ", ")
		fmt.Fprintf(s.out, "%-32s %14s %14s %9s\n", name, thousands(int(legs[i].loaded.Rate())),
			thousands(int(legs[i+1].loaded.Rate())), ratio(legs[i], legs[i+1]))
	}
	fmt.Fprintf(s.out, "\ndemo: autocommit %s faster, in transactions %s faster, over %s %s faster, tables identical\n",
		ratio(legs[0], legs[1]), ratio(legs[2], legs[3]), spaced(d.options.delay), ratio(legs[4], legs[5]))
}

func ratio(direct, sluice *leg) string {
	return times(sluice.loaded.Rate() / direct.loaded.Rate())
}

// times writes a ratio with as many digits as mean something.
func times(r float64) string {
	if r < 10 {
		return strconv.FormatFloat(r, 'f', 1, 64) + "x"
	}
	return strconv.FormatFloat(r, 'f', 0, 64) + "x"
}

// spaced writes 5ms as "5 ms".
func spaced(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + " ms"
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
