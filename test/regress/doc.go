// Package regress holds one test for each fault that was found in sluice's batching
// by reading it: what went wrong, played against real servers.
package regress
