package config

import (
	"os"
	"strconv"
	"strings"
	"unsafe"
)

// blankArgument overwrites text[from:to] with stars wherever an argument of
// this process ends in text, and reports whether it did. The strings in os.Args
// point into the memory that the kernel shows as /proc/PID/cmdline; whether one
// does is checked against the bounds that the kernel gives, since writing to
// any other string could end the process.
func blankArgument(text string, from, to int) bool {
	start, end, ok := argumentMemory()
	if !ok {
		return false
	}
	done := false
	for _, arg := range os.Args {
		if !strings.HasSuffix(arg, text) {
			continue
		}
		address := uintptr(unsafe.Pointer(unsafe.StringData(arg)))
		if address < start || address+uintptr(len(arg)) > end {
			continue
		}
		bytes := unsafe.Slice(unsafe.StringData(arg), len(arg))[len(arg)-len(text):]
		for i := from; i < to; i++ {
			bytes[i] = '*'
		}
		done = true
	}
	return done
}

// argumentMemory returns the bounds of the memory that holds the arguments:
// arg_start and arg_end in proc(5), /proc/pid/stat.
func argumentMemory() (start, end uintptr, ok bool) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, false
	}
	// The second field is the program's name in parentheses, which may hold
	// anything; fields are counted from the last one.
	const argStart, argEnd = 48, 49
	i := strings.LastIndexByte(string(stat), ')')
	fields := strings.Fields(string(stat[i+1:])) // fields[0] is field 3
	if i < 0 || len(fields) <= argEnd-3 {
		return 0, 0, false
	}
	a, errA := strconv.ParseUint(fields[argStart-3], 10, 64)
	b, errB := strconv.ParseUint(fields[argEnd-3], 10, 64)
	return uintptr(a), uintptr(b), errA == nil && errB == nil && a > 0 && a < b
}
