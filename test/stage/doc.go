// Package stage sets the scene for tests that look at what is stored and at how
// sluice got there: a server, a sluice in front of it that batches early and flushes
// late, a schema of the test's own, and clients by the text protocol, directly or
// through sluice. What goes wrong fails the test.
package stage
