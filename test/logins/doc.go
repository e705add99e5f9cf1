// Package logins tries which accounts client libraries can log in to, directly and
// through sluice, with and without TLS on either side. What works directly works through
// sluice, but for the differences that differ.go lists.
//
// Each client is a program of testdata that stays for all its logins. It reads a line for
// each login,
//
//	HOST	PORT	USER	PASSWORD	TLS	COMPRESS
//
// where TLS is 1 for a link that must be encrypted and 0 for one that must not, COMPRESS
// 1 or 0. It logs in, asks the server who it is, and answers with a line
//
//	ok	CURRENT_USER()	CONNECTION_ID()
//	no	CODE	TEXT
//
// whose code is the server's or the library's, 0 if there is none. Between client and
// server each login goes through a tap, which sees what the link is really like.
//
// A program or library that is not installed fails its test. docs/clients.md has the
// outcome as a table; go test ./test/logins -update writes it.
package logins
