// Package clients has the same short load run by the client libraries that row
// by row loaders are written with: rows in autocommit, rows in transactions, and
// all of them read back in the same session. Each goes through sluice over TCP
// and over a unix socket, to MariaDB and to MySQL.
//
// The programs are in testdata. Each reads the rows from a file of hexadecimal
// columns, quotes them by its own library's means, inserts them one statement a
// row by the text protocol, and prints what it reads back in the form of that
// file. A program or library that is not installed fails its test.
package clients
