// Package rewrite decides what may be batched and writes the batches.
//
// Everything here is a pure function of its arguments: no I/O, no goroutines,
// no clock. The path of a statement through the package:
//
//	Classify   what kind of statement is this, what could it see or change
//	Split      head, rows and tail of an INSERT or REPLACE; the row scanner
//	ParseForm  the grammar of head and tail, once per shape (TiDB parser)
//	NewPlan    form x table x session state: may it be batched, in which order
//	Plan.Check the rows of one statement: may these be batched
//	Plan.Key   the primary key of a row, comparable as bytes
//	Sort       the order of a window
//	Render     the merged statements
//
// Whatever is not proven safe yields a Reason and is relayed as it came.
package rewrite
