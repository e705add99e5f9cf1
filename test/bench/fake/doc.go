// Command fake is a server that answers OK at once and does nothing: what a
// row-by-row client gets from it is the most that this client can ever get.
//
// It lets everybody in without looking at the password, answers every statement
// with OK and one affected row, a SELECT with the number of statements that this
// session has run, and knows server-side prepared statements. With --spin its
// sessions poll busily for the next command for so long before they sleep,
// which saves the client the time it takes to wake a thread.
//
// Each session is one goroutine; main owns them and the accept loop, and ends
// with the process.
package main
