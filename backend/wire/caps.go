package wire

// Capability flags of the handshake (MySQL Internals "Capabilities Flags").
const (
	ClientMySQL           uint32 = 1 << 0 // CLIENT_LONG_PASSWORD; MariaDB 10.2+ clears it to announce its extended flags
	ClientFoundRows       uint32 = 1 << 1
	ClientConnectWithDB   uint32 = 1 << 3
	ClientCompress        uint32 = 1 << 5
	ClientLocalFiles      uint32 = 1 << 7
	ClientProtocol41      uint32 = 1 << 9
	ClientSSL             uint32 = 1 << 11
	ClientTransactions    uint32 = 1 << 13
	ClientSecureConn      uint32 = 1 << 15
	ClientMultiStatements uint32 = 1 << 16
	ClientMultiResults    uint32 = 1 << 17
	ClientPluginAuth      uint32 = 1 << 19
	ClientConnectAttrs    uint32 = 1 << 20
	ClientAuthLenenc      uint32 = 1 << 21
	ClientSessionTrack    uint32 = 1 << 23
	ClientDeprecateEOF    uint32 = 1 << 24
	ClientOptionalMeta    uint32 = 1 << 25
	ClientZstd            uint32 = 1 << 26
	ClientQueryAttributes uint32 = 1 << 27
	ClientMultiFactor     uint32 = 1 << 28
	clientKnown           uint32 = 1<<29 - 1
)

// MariaDB's extended capability flags, the upper half of its 64 bits.
const (
	MariaProgress     uint32 = 1 << 0
	MariaBulk         uint32 = 1 << 2
	MariaExtMeta      uint32 = 1 << 3
	MariaCacheMeta    uint32 = 1 << 4
	MariaUnitResults  uint32 = 1 << 5
	mariaRelayed             = MariaProgress | MariaBulk | MariaExtMeta | MariaCacheMeta | MariaUnitResults
	relayedMaskedBits        = ClientSSL | ClientCompress | ClientZstd | ClientOptionalMeta
)

// Relayed masks what sluice does not relay out of a side's flags: TLS and
// compression end at sluice, and a flag that it does not know could change the
// framing of replies.
func Relayed(base, maria uint32) (uint32, uint32) {
	return base & clientKnown &^ relayedMaskedBits, maria & mariaRelayed
}

// Caps is what client and server agreed on: it decides the framing of replies.
type Caps struct {
	Base  uint32
	Maria uint32
}

// DeprecateEOF says whether result sets end in an OK packet rather than an EOF packet.
func (c Caps) DeprecateEOF() bool { return c.Base&ClientDeprecateEOF != 0 }

// Server status flags (MySQL Internals "Status Flags").
const (
	StatusInTrans            uint16 = 1 << 0
	StatusAutocommit         uint16 = 1 << 1
	StatusMoreResults        uint16 = 1 << 3
	StatusCursorExists       uint16 = 1 << 6
	StatusLastRowSent        uint16 = 1 << 7
	StatusNoBackslashEscapes uint16 = 1 << 9
	StatusSessionState       uint16 = 1 << 14
	StatusInTransReadonly    uint16 = 1 << 13
)

// Commands (MySQL Internals "Command Phase"; MariaDB "COM_STMT_BULK_EXECUTE").
const (
	ComSleep            byte = 0x00
	ComQuit             byte = 0x01
	ComInitDB           byte = 0x02
	ComQuery            byte = 0x03
	ComFieldList        byte = 0x04
	ComCreateDB         byte = 0x05
	ComDropDB           byte = 0x06
	ComRefresh          byte = 0x07
	ComShutdown         byte = 0x08
	ComStatistics       byte = 0x09
	ComProcessInfo      byte = 0x0a
	ComConnect          byte = 0x0b
	ComProcessKill      byte = 0x0c
	ComDebug            byte = 0x0d
	ComPing             byte = 0x0e
	ComTime             byte = 0x0f
	ComDelayedInsert    byte = 0x10
	ComChangeUser       byte = 0x11
	ComBinlogDump       byte = 0x12
	ComTableDump        byte = 0x13
	ComConnectOut       byte = 0x14
	ComRegisterSlave    byte = 0x15
	ComStmtPrepare      byte = 0x16
	ComStmtExecute      byte = 0x17
	ComStmtSendLongData byte = 0x18
	ComStmtClose        byte = 0x19
	ComStmtReset        byte = 0x1a
	ComSetOption        byte = 0x1b
	ComStmtFetch        byte = 0x1c
	ComDaemon           byte = 0x1d
	ComBinlogDumpGTID   byte = 0x1e
	ComResetConnection  byte = 0x1f
	ComStmtBulkExecute  byte = 0xfa
)
