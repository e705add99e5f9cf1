package stream

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// most is how much more than idle sluice may take for all that is under way.
const most = 64 << 20

// memory watches the resident memory of a process.
type memory struct {
	pid  int
	idle int64
}

// watch takes what the process has now for its idle memory.
func watch(t *testing.T, pid int) *memory {
	t.Helper()
	idle, err := status(pid, "VmRSS")
	if err != nil {
		t.Fatal(err)
	}
	return &memory{pid: pid, idle: idle}
}

// check holds the largest that the process has ever been against the bound.
func (m *memory) check(t *testing.T, what string) {
	t.Helper()
	peak, err := status(m.pid, "VmHWM")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %.1f MiB idle, %.1f MiB at most", what, float64(m.idle)/(1<<20), float64(peak)/(1<<20))
	if peak-m.idle >= most {
		t.Errorf("%s: %d MiB more than idle, at most %d are allowed", what, (peak-m.idle)>>20, most>>20)
	}
}

// status reads one of the sizes in /proc/PID/status (proc(5)).
func status(pid int, name string) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		if key, value, _ := strings.Cut(line, ":"); key == name {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read memory: %w", err)
			}
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("no %s of process %d", name, pid)
}
