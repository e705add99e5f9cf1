// Package proxy is the client side: listeners, the login relay, the command
// loop and the packet relay.
//
// Each client session is one goroutine, owned by Server.Run, with one backend
// connection of its own. It reads a command, relays it, relays the reply, and
// only then reads the next one, so answers are in order whatever the client
// pipelines. One more goroutine for the whole server watches the backend
// connections of idle sessions for hang-ups (hangup.go).
//
// A client cannot tell sluice from the server except where it batches: packets
// are forwarded as they come and never rebuilt, and capability flags that sluice
// cannot relay are not offered.
package proxy
