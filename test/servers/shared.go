package servers

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is what all tests of one process use together. It is process-wide by
// nature, like the test binary itself; Main ends it.
var shared struct {
	mu      sync.Mutex
	servers map[Kind]*sharedServer
	proxies map[Kind]*sharedSluice
}

type sharedServer struct {
	once   sync.Once
	server *Server
	err    error
}

type sharedSluice struct {
	once   sync.Once
	sluice *Sluice
	err    error
}

// Shared returns the one server of the kind that all tests of this process
// use; the first caller starts it. Tests must keep to schemas of their own
// (named test...) and leave global variables alone.
func Shared(t testing.TB, kind Kind) *Server {
	t.Helper()
	shared.mu.Lock()
	if shared.servers == nil {
		shared.servers = map[Kind]*sharedServer{}
	}
	entry := shared.servers[kind]
	if entry == nil {
		entry = &sharedServer{}
		shared.servers[kind] = entry
	}
	shared.mu.Unlock()
	entry.once.Do(func() { entry.server, entry.err = start(kind, nil) })
	if entry.err != nil {
		t.Fatalf("start the shared %s server: %v", kind, entry.err)
	}
	return entry.server
}

// SharedSluice returns the one sluice in front of the shared server of the
// kind, with default flags and the loader profile.
func SharedSluice(t testing.TB, kind Kind) *Sluice {
	t.Helper()
	backend := Shared(t, kind)
	shared.mu.Lock()
	if shared.proxies == nil {
		shared.proxies = map[Kind]*sharedSluice{}
	}
	entry := shared.proxies[kind]
	if entry == nil {
		entry = &sharedSluice{}
		shared.proxies[kind] = entry
	}
	shared.mu.Unlock()
	entry.once.Do(func() { entry.sluice, entry.err = startSluice(backend, nil) })
	if entry.err != nil {
		t.Fatalf("start the shared sluice for %s: %v", kind, entry.err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the shared sluice's log:\n%s", entry.sluice.proc.logTail(30))
		}
	})
	return entry.sluice
}

// Main runs the tests and stops what they shared. A shared sluice that does
// not drain and exit 0 fails the run.
func Main(m *testing.M) {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "stop what the tests shared:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func stopShared() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	var errs []error
	for _, entry := range shared.proxies {
		if entry.sluice != nil {
			errs = append(errs, entry.sluice.remove())
		}
	}
	for _, entry := range shared.servers {
		if entry.server != nil {
			errs = append(errs, entry.server.remove())
		}
	}
	return errors.Join(append(errs, removeBinary())...)
}
