package servers

import (
	"testing"
	"time"
)

// AwaitExit waits until sluice has ended by itself, after a signal.
func (s *Sluice) AwaitExit(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(sluiceStopLimit); !s.proc.exited(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("sluice does not end\n%s", s.proc.logTail(30))
		}
	}
}
