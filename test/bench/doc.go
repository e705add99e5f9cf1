// Command bench measures sluice against private servers and says at the end
// what it found as tables. Start it by the script run beside it; RESULTS.md has
// the figures of the last complete run.
//
// Its parts are
//
//	ceiling          row-by-row clients against a server that answers OK at once
//	perl-autocommit  the Perl loader: that server, the real server, sluice
//	relay            sysbench point selects and read-only transactions, with and without TLS: direct,
//	                 HAProxy in TCP mode, sluice
//	transfer         a large result and a large LOAD DATA LOCAL, the same ways
//	oltp             sysbench oltp_read_write, oltp_insert and inserts with explicit keys through sluice
//
// Figures are medians of several runs whose legs alternate. A figure never
// decides the exit status; a table that is not equal, an error or inserts that
// were not batched do.
package main
