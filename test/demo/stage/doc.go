// Package stage holds what a demo or benchmark run stands on: private servers,
// sluice itself, a relay that adds distance, the Perl loader, and the
// comparison of two tables.
//
// Everything listens on 127.0.0.1 only, on a free port, and keeps its files
// below one directory of the run. A Process owns the goroutine that waits for
// its child; the Relay owns the goroutines of its connections; each Stop or
// Close returns only when they have ended. A child whose parent is killed
// outright is killed by the kernel.
package stage
