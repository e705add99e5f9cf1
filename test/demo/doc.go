// Command demo shows what sluice does to an ordinary row-by-row loader: the same
// Perl script loads the same rows directly and through sluice, in autocommit and
// in transactions, near the server and 5 ms away from it, and the tables are
// compared row for row. Start it by the script run beside it.
//
// It ends with one line that a program can read; its exit status is 0 only when
// every table is as it must be.
package main
