// Package sysbench runs Debian's sysbench through sluice on both servers:
// its own read-write and insert loads, whose statements are prepared or need
// generated ids and so pass as they are, and an insert load with explicit keys,
// which must be batched.
package sysbench
