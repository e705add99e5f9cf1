package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// describeMachine says what the figures depend on, without naming the machine:
// cores, memory, and how long the disk takes to make one small write durable.
// The load shows whether anything else ran.
func describeMachine(dir string) string {
	return fmt.Sprintf("%s: %d virtual cores, %s of memory, flush of one block %v (median), load %s before the run, %s",
		time.Now().Format(time.DateOnly), runtime.NumCPU(), memory(), flushTime(dir), load(), runtime.Version())
}

// load is the average over the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}

func memory() string {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return "unknown size"
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "MemTotal:"); found {
			var kilobytes int64
			if _, err := fmt.Sscan(value, &kilobytes); err == nil {
				return fmt.Sprintf("%.0f GiB", float64(kilobytes)/(1<<20))
			}
		}
	}
	return "unknown size"
}

// flushTime writes blocks into a file that has its size already, as a log does.
func flushTime(dir string) string {
	const blocks = 200
	file, err := os.CreateTemp(dir, "flush")
	if err != nil {
		return "unknown"
	}
	defer func() { _ = os.Remove(file.Name()) }() // the whole directory goes at the end
	defer file.Close()
	block := make([]byte, 512)
	if _, err := file.Write(make([]byte, blocks*len(block))); err != nil || file.Sync() != nil {
		return "unknown"
	}
	var times []time.Duration
	for i := range blocks {
		start := time.Now()
		if _, err := file.WriteAt(block, int64(i*len(block))); err != nil || file.Sync() != nil {
			return "unknown"
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[blocks/2].Round(time.Microsecond).String()
}
