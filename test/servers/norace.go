//go:build !race

package servers

// Race says that the test, and the sluice that it starts, has the race detector.
const Race = false
