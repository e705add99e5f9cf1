//go:build race

package servers

// raceEnabled: sluice is built with the race detector when the test is.
const raceEnabled = true
