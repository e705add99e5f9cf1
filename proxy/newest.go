package proxy

import (
	"encoding/binary"

	"github.com/sluice-db/sluice/backend/wire"
)

// newest is the statement that the client prepared last. MariaDB takes the id -1 for it,
// so that a client need not wait for the id; after a PREPARE of sluice's own on the same
// connection the server no longer knows it by that name.
// https://mariadb.com/kb/en/com_stmt_execute/
type newest struct {
	id   uint32 // 0: there is none
	lost bool   // sluice has prepared since
}

const lastPrepared = 0xffffffff

// prepared notes the reply to a PREPARE of the client.
func (n *newest) prepared(r *wire.Reply) {
	*n = newest{id: r.Stmt}
	if r.Failed {
		n.id = 0
	}
}

// name writes the statement's own id into a command that is for the newest one, if
// the server would not find it.
func (n *newest) name(command byte, raw []byte) {
	switch command {
	case wire.ComStmtExecute, wire.ComStmtBulkExecute, wire.ComStmtSendLongData, wire.ComStmtReset,
		wire.ComStmtFetch, wire.ComStmtClose:
	default:
		return
	}
	if len(raw) < 9 {
		return
	}
	id := raw[5:9]
	if n.lost && n.id != 0 && binary.LittleEndian.Uint32(id) == lastPrepared {
		binary.LittleEndian.PutUint32(id, n.id)
	}
	if command == wire.ComStmtClose && (binary.LittleEndian.Uint32(id) == n.id || binary.LittleEndian.Uint32(id) == lastPrepared) {
		n.id = 0
	}
}
