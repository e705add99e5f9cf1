// Package driver runs the tests that github.com/go-sql-driver/mysql has of its own, on
// the servers directly and through sluice: what passes directly passes through sluice.
package driver
