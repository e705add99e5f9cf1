// Package compat holds sluice to its main promise: a client cannot tell it
// from the server. A script (testdata/*/*.sql) is played twice on the same
// server, directly and through sluice, each time on fresh schemas. Every reply
// packet is compared field by field, and so are all tables afterwards.
//
// # Scripts
//
// A line is one COM_QUERY, sent as it stands without its line end. <48 69> is
// bytes in hexadecimal, <61 x5> is a byte repeated, $S is the schema's name.
// Lines starting with "## " are comments, lines starting with "# " directives:
//
//	servers mariadb           only on these kinds of server
//	schema b                  one more schema, called $S_b
//	global name=value         a global variable for the time of the script
//	modes autocommit          only in these transaction modes
//	ordinary INSERT ... $i    the row that wraps the body in the wrapped variant
//	relayed                   these rows cannot be batched (generated ids)
//	large                     slow to play: not as a parked session
//	late                      errors of inserts may come later: compare tables only
//	stored [KIND] SQL => R    what SQL must give after the unwrapped direct run
//	body                      what was before is set-up, in autocommit mode
//	conn NAME [key=value]     go on on this connection, opened at first use with
//	                          user, password, schema, charset, plugin, caps=+a,-b
//	cmd NAME ARGS             a command other than COM_QUERY, see commands.go
//	attributes A=B : SQL      a COM_QUERY with attributes
//	prepare NAME SQL          and execute, long, fetch, bulk, reset, close
//	infile BYTES|BYTES        the packets for a coming LOCAL INFILE request
//	infile-abort BYTES        the same, but the client vanishes in the middle
//	pipeline ... end          send what stands between at once, then read
//	repeat N LINE             the line N times, $i counting from 1
//	mask                      do not compare the rows of the next reply
//	sleep DURATION
package compat
