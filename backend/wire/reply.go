package wire

import "encoding/binary"

// ReplyKind says what a command is answered with.
type ReplyKind uint8

// The kinds of replies.
const (
	ReplyNone    ReplyKind = iota // nothing: STMT_CLOSE, SEND_LONG_DATA, QUIT
	ReplyGeneric                  // OK, ERR, EOF, LOCAL INFILE or result sets
	ReplyOne                      // one packet, whatever it is: STATISTICS
	ReplyPrepare                  // STMT_PREPARE's own form
	ReplyRows                     // rows up to EOF: STMT_FETCH; and column definitions: FIELD_LIST
	ReplyAuth                     // CHANGE_USER: an exchange, not a reply
	ReplyStream                   // no end that sluice knows: BINLOG_DUMP
	ReplyUnknown                  // ERR, or something that sluice does not know
)

// ReplyTo tells the kind of the reply to a command.
func ReplyTo(command byte) ReplyKind {
	switch command {
	case ComQuit, ComStmtClose, ComStmtSendLongData:
		return ReplyNone
	case ComStatistics:
		return ReplyOne
	case ComStmtPrepare:
		return ReplyPrepare
	case ComStmtFetch, ComFieldList:
		return ReplyRows
	case ComChangeUser:
		return ReplyAuth
	case ComBinlogDump, ComBinlogDumpGTID, ComTableDump:
		return ReplyStream
	case ComInitDB, ComQuery, ComCreateDB, ComDropDB, ComRefresh, ComShutdown, ComProcessInfo,
		ComProcessKill, ComDebug, ComPing, ComRegisterSlave, ComStmtExecute, ComStmtReset,
		ComSetOption, ComResetConnection, ComStmtBulkExecute,
		ComSleep, ComConnect, ComTime, ComDelayedInsert, ComConnectOut, ComDaemon:
		return ReplyGeneric
	}
	return ReplyUnknown
}

// phase is where in a reply the next packet stands.
type phase uint8

const (
	atFirst       phase = iota // first packet of a result
	inColumns                  // left column definitions
	atColumnsEOF               // the EOF after them
	inRows                     // rows up to the end
	inParams                   // PREPARE: left parameter definitions
	atParamsEOF                // PREPARE: the EOF after them
	inPrepColumns              // PREPARE: left column definitions
	atPrepEOF                  // PREPARE: the EOF after them
)

// Reply follows a reply packet by packet, from the first bytes of each, so that
// it can be forwarded as it is.
type Reply struct {
	caps  Caps
	kind  ReplyKind
	phase phase
	left  int // definitions still to come
	cols  int // PREPARE: column definitions after the parameters
	part  bool

	Status   uint16 // status flags of the last OK or EOF
	HasFlags bool   // Status is from this reply
	Warnings uint16
	Failed   bool // the reply ended in ERR
	Code     uint16
	OK       OK // the last OK packet
	HasOK    bool
	Infile   bool // the server asks for a file: send it, then go on feeding
	Unknown  bool // ReplyUnknown that was not an ERR
	First    byte // first byte of the first packet
	started  bool
	Stmt     uint32 // PREPARE: the statement's id
	Seq      byte   // sequence id of the last packet, where RelayReply follows
}

// prefixLen is how much of a packet Feed needs to see: an OK packet's fixed part.
const prefixLen = 24

// Begin starts to follow the reply to a command.
func (r *Reply) Begin(kind ReplyKind, caps Caps) { *r = Reply{caps: caps, kind: kind} }

// Feed takes the next packet of the reply: its payload's length and its first
// bytes (prefixLen of them, or all if it has fewer). It tells whether the reply is over.
func (r *Reply) Feed(length int, p []byte) (done bool) {
	if r.part { // the rest of a payload of 16 MiB and more
		r.part = length == MaxChunk
		return false
	}
	r.part = length == MaxChunk
	var first byte
	if len(p) > 0 {
		first = p[0]
	}
	if !r.started {
		r.started, r.First = true, first
	}
	if first == IsErr && length > 2 && len(p) > 2 && !r.inDefinitions() {
		code := binary.LittleEndian.Uint16(p[1:])
		if code == 0xffff { // MariaDB's progress report
			return false
		}
		r.Failed, r.Code = true, code
		return true
	}
	switch r.kind {
	case ReplyOne:
		return true
	case ReplyUnknown:
		r.Unknown = true
		return true
	case ReplyPrepare:
		return r.feedPrepare(p)
	case ReplyRows:
		return r.feedRow(length, p, first)
	}
	return r.feedResult(length, p, first)
}

func (r *Reply) inDefinitions() bool {
	switch r.phase {
	case inColumns, inParams, inPrepColumns:
		return true
	}
	return false
}

func (r *Reply) feedResult(length int, p []byte, first byte) bool {
	switch r.phase {
	case atFirst:
		switch first {
		case IsOK:
			return r.ok(p)
		case IsEOF: // no count of columns: there are not that many
			return r.feedRow(length, p, first)
		case IsInfile:
			r.Infile = true
			return false
		}
		n, size := Lenenc(p)
		r.left, r.phase = int(n), inColumns
		if r.caps.Maria&MariaCacheMeta != 0 && size < len(p) && p[size] == 0 {
			r.left = 0 // the client has the definitions from PREPARE
		}
		if r.left == 0 {
			r.afterColumns()
		}
	case inColumns:
		if r.left--; r.left == 0 {
			r.afterColumns()
		}
	case atColumnsEOF:
		r.status(p)
		r.phase = inRows
		if r.Status&StatusCursorExists != 0 {
			return r.end()
		}
	case inRows:
		return r.feedRow(length, p, first)
	}
	return false
}

func (r *Reply) afterColumns() {
	r.phase = atColumnsEOF
	if r.caps.DeprecateEOF() {
		r.phase = inRows
	}
}

// feedRow handles a row or the packet that ends the rows. A row can begin with
// 0xFE only if its first value has 16 MiB or more.
func (r *Reply) feedRow(length int, p []byte, first byte) bool {
	if first != IsEOF || r.part {
		return false
	}
	if length < 9 && (length == 5 || !r.caps.DeprecateEOF()) {
		return r.eof(p)
	}
	if r.caps.DeprecateEOF() {
		return r.ok(p)
	}
	return false
}

func (r *Reply) feedPrepare(p []byte) bool {
	switch r.phase {
	case atFirst:
		if len(p) < 9 {
			return true
		}
		r.Stmt = binary.LittleEndian.Uint32(p[1:])
		r.cols = int(binary.LittleEndian.Uint16(p[5:]))
		r.left = int(binary.LittleEndian.Uint16(p[7:]))
		if r.left > 0 {
			r.phase = inParams
			return false
		}
		return r.prepareColumns()
	case inParams:
		if r.left--; r.left > 0 {
			return false
		}
		if !r.caps.DeprecateEOF() {
			r.phase = atParamsEOF
			return false
		}
		return r.prepareColumns()
	case atParamsEOF:
		return r.prepareColumns()
	case inPrepColumns:
		if r.left--; r.left > 0 {
			return false
		}
		if !r.caps.DeprecateEOF() {
			r.phase = atPrepEOF
			return false
		}
	}
	return true
}

func (r *Reply) prepareColumns() bool {
	if r.cols == 0 {
		return true
	}
	r.left, r.phase = r.cols, inPrepColumns
	return false
}

func (r *Reply) ok(p []byte) bool {
	ok, err := ParseOK(p)
	if err != nil {
		return true // malformed: the client will say so
	}
	r.OK, r.HasOK = ok, true
	r.Status, r.Warnings, r.HasFlags = ok.Status, ok.Warnings, true
	return r.end()
}

func (r *Reply) eof(p []byte) bool {
	r.status(p)
	return r.end()
}

func (r *Reply) status(p []byte) {
	if len(p) >= 5 {
		r.Warnings = binary.LittleEndian.Uint16(p[1:])
		r.Status = binary.LittleEndian.Uint16(p[3:])
		r.HasFlags = true
	}
}

// end closes a result; another one may follow.
func (r *Reply) end() bool {
	if r.kind == ReplyGeneric && r.Status&StatusMoreResults != 0 {
		r.phase, r.Infile = atFirst, false
		return false
	}
	return true
}
