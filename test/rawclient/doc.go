// Package rawclient is a MySQL client for tests that shows every packet.
//
// It shares no code with sluice, so that both cannot be wrong in the same way.
// It hides nothing: a reply is the list of its packets with their sequence
// numbers, decoded field by field into text, so that two replies are equal
// exactly when their texts are. A Client has no goroutines; every read and
// write has a deadline, so that a hang becomes an error.
package rawclient
