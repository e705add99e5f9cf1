// Package backend is the server side: it takes what sessions batched and makes
// it rows in MySQL, each exactly once.
//
// An Engine has one queue per table (tables joined by foreign keys share one).
// Submit appends a client's statement to the journal and returns when it may be
// acknowledged. A queue gathers a window while its previous one is being
// applied; a due window is sealed in the journal, read back, put in order and
// applied in chunks, each a transaction whose first statement is its
// checkpoint (semantics S11), whose last before COMMIT is the check that the
// target is still the table that the rows were meant for (S01).
//
// Goroutines: one worker per queue that has rows, owned by the Engine and
// awaited by Close. Everything else runs on its caller's goroutine.
package backend
