package servers

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// Metrics reads /metrics. Keys are written as Prometheus prints them, labels
// included: `name{label="value"}`.
func (s *Sluice) Metrics(t testing.TB) map[string]float64 {
	t.Helper()
	body, err := httpGet(s.HTTP + "/metrics")
	if err != nil {
		t.Fatalf("read metrics: %v", err)
	}
	values := map[string]float64{}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		cut := strings.LastIndexByte(line, ' ')
		if cut < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(line[cut+1:], 64)
		if err != nil {
			t.Fatalf("metric line %q: %v", line, err)
		}
		values[line[:cut]] = value
	}
	return values
}

// Metric sums a metric over all its labels; a metric that is not there fails
// the test, since a misspelt name would otherwise read as zero.
func (s *Sluice) Metric(t testing.TB, name string) float64 {
	t.Helper()
	sum, found := 0.0, false
	for key, value := range s.Metrics(t) {
		if base, _, _ := strings.Cut(key, "{"); base == name {
			sum, found = sum+value, true
		}
	}
	if !found {
		t.Fatalf("sluice has no metric %s", name)
	}
	return sum
}

// WaitFor polls until the metric has the value.
func (s *Sluice) WaitFor(t testing.TB, name string, want float64, limit time.Duration) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		got := s.Metric(t, name)
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %v after %s, want %v", name, got, limit, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
