package wire

import "fmt"

// Result is a whole reply that sluice asked for itself, held in memory: for the
// small queries about tables and variables, never for a client's own reply.
type Result struct {
	Columns  []string
	Rows     [][][]byte // nil is NULL
	Affected uint64
	InsertID uint64
	Status   uint16
	Warnings uint16
	Info     string
}

// Error is an ERR packet: the server's own words.
type Error struct {
	Code    uint16
	State   string // SQLSTATE, five characters
	Message string
}

// Error gives the code, the SQLSTATE and the message as the command-line client shows them.
func (e *Error) Error() string {
	return fmt.Sprintf("ERROR %d (%s): %s", e.Code, e.State, e.Message)
}

// Querier runs one statement and returns its whole result. A server's ERR
// comes back as *Error; any other error means that the connection is broken.
type Querier interface {
	Query(sql string) (*Result, error)
}
