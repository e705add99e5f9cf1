// Command goload is the demo's Perl loader in Go, for the benchmark: it sends the
// same rows, row by row, and reports in the same words.
//
//	goload literals|arguments|prepared FILE ROWS_PER_TRANSACTION SECONDS
//
// The login comes from DBI_DSN, DBI_USER and DBI_PASS as for the Perl script.
// Literals are statements as the script writes them; arguments are statements
// with placeholders that the driver prepares, runs and closes each time; prepared
// is one server-side statement for all rows.
package main
