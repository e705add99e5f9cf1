// Package schema reads from the server what the rest of sluice must know about
// tables: columns, keys, defaults, foreign keys, triggers (Load), whether a
// session sees the base table under a name (OwnView), whether a table is still
// what it was when its rows were accepted (Unchanged), which tables a name
// could reach (Graph), how large a table is (Sizes), and what the service
// account lacks or holds too much of (Missing).
//
// All of it works over wire.Querier and trusts nothing but the server's answer:
// what cannot be proven is an error, an unsafe default or an incomplete
// closure, and the caller relays or flushes everything.
//
// # Connections
//
// Load, Unchanged, Sizes and Graph run on connections of the service account on
// which the statement of Settings has been run once. They tolerate the state
// that such a connection takes on for a shape: any sql_mode, any
// character_set_client that contains ASCII. They rely on character_set_results
// staying as Settings set it, so the pool sets the client's character set by
// variable and not by SET NAMES. OwnView runs on a client's own connection and
// relies on nothing.
//
// # Privileges of the service account
//
// information_schema shows an account only what it has privileges on:
//
//   - a trigger is invisible without TRIGGER on its table. Load refuses a table
//     whose triggers it could not see (PrivilegeError);
//   - a foreign key is invisible without a privilege on the child table.
//     REFERENCES ON *.* makes all of them visible and permits next to nothing
//     else; on MariaDB PROCESS does so faster (INNODB_SYS_FOREIGN, instead of
//     opening every table). Without either Graph calls no closure complete;
//   - the text of a view is invisible without SHOW VIEW and SELECT. Without them
//     a closure through the view is incomplete.
//
// Besides these it needs SELECT, INSERT, UPDATE and DELETE on the target schemas
// and CREATE, SELECT, INSERT, UPDATE and DELETE on the checkpoint schema. It must
// not hold what passes a server's read_only or connection limit (S05).
//
// # Transactions
//
// On MySQL information_schema is read through the transaction's snapshot under
// REPEATABLE READ: a trigger committed after the snapshot was taken does not
// show, though SHOW CREATE TABLE is always current. Unchanged says what follows.
//
// No goroutines live here.
package schema
