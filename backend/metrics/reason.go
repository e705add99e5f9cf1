package metrics

// Reason says what caused a flush.
type Reason uint8

// The reasons.
const (
	FlushRows    Reason = iota // the window has its rows
	FlushBytes                 // the window has its bytes
	FlushDelay                 // the window's first row has waited long enough
	FlushMemory                // a transaction holds as much as it may
	FlushBarrier               // a statement could see the rows
	FlushCommit                // the transaction ends
	FlushReplay                // the rows were in the journal at the start
	FlushDrain                 // sluice ends
	reasons
)

var reasonNames = [reasons]string{
	"rows", "bytes", "delay", "memory", "barrier", "commit", "replay", "drain",
}

// String returns the value of the label.
func (r Reason) String() string { return reasonNames[r] }

// commandKinds names the commands of the protocol by their first byte:
// https://dev.mysql.com/doc/dev/mysql-server/latest/my__command_8h.html and, for
// the last one, https://mariadb.com/kb/en/com_stmt_bulk_execute/.
var commandKinds = map[byte]string{
	0x01: "quit",
	0x02: "init_db",
	0x03: "query",
	0x04: "field_list",
	0x05: "create_db",
	0x06: "drop_db",
	0x07: "refresh",
	0x08: "shutdown",
	0x09: "statistics",
	0x0a: "process_info",
	0x0c: "process_kill",
	0x0d: "debug",
	0x0e: "ping",
	0x11: "change_user",
	0x12: "binlog_dump",
	0x13: "table_dump",
	0x15: "register_slave",
	0x16: "stmt_prepare",
	0x17: "stmt_execute",
	0x18: "stmt_send_long_data",
	0x19: "stmt_close",
	0x1a: "stmt_reset",
	0x1b: "set_option",
	0x1c: "stmt_fetch",
	0x1e: "binlog_dump_gtid",
	0x1f: "reset_connection",
	0x20: "clone",
	0x21: "subscribe_group_replication_stream",
	0xfa: "stmt_bulk_execute",
}
