package fault

import "os"

// isLong says that there is time for tests of full length (make soak).
var isLong = os.Getenv("SLUICE_LONG") != ""

// long chooses between the short form of a test and the long one.
func long[T any](short, long T) T {
	if isLong {
		return long
	}
	return short
}
