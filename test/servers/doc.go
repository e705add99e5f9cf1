// Package servers gives tests private MariaDB and MySQL servers and sluice
// processes in front of them.
//
// A server listens on a free port of 127.0.0.1, has a data directory of its
// own and ends with the test (or, when it is shared, with the test process).
// Each test process has at most one shared server of a kind; tests that change
// global state or kill the server start a fresh one. Nothing is ever skipped:
// a server that is not installed fails the test and says how to install it.
//
// Every child process is owned by the value that started it (Server, Sluice):
// one goroutine waits for it, and stopping waits for that goroutine. Children
// die with the test process, also when that is killed.
//
// A package that uses shared servers must run its tests by Main:
//
//	func TestMain(m *testing.M) { servers.Main(m) }
package servers
