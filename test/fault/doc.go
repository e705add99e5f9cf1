// Package fault tests what sluice promises when things go wrong: processes
// that are killed, servers that vanish, clients that misbehave, directories and
// configurations that cannot be used.
package fault
