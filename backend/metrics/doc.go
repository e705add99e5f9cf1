// Package metrics holds the counters that sluice publishes.
//
// One Metrics belongs to one running sluice and has a registry of its own, so
// that two in one process, as in tests, do not mix. The package only counts: it
// starts no goroutine, and the proxy serves the registry.
//
// What is counted for each statement is a field or an index into an array, made
// when Metrics is: no label is looked up on the way of a row.
package metrics
