// Package wire reads and writes the MySQL client/server protocol as far as a
// proxy needs it: packet framing, capability flags, the few replies that sluice
// makes or reads itself, and a state machine that knows where a reply ends
// without decoding it.
//
// Source: MySQL Internals "Client/Server Protocol", MariaDB Knowledge Base
// "Clients & Utilities: Client/Server Protocol".
//
// No goroutines live here. A Conn belongs to one goroutine at a time.
package wire
