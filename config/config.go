package config

import (
	"strconv"
	"strings"
	"time"
)

// Config is every setting of sluice. The field for the key a.b_c is A.BC.
type Config struct {
	Backend                       Backend
	Listen                        []Listener
	TLS                           TLS
	ProtocolCompressionAlgorithms Compression
	Profile                       Profile
	DataDir                       string
	HTTP                          string
	Log                           Log
	Journal                       Journal
	Memory                        Memory
	Window                        Window
	Chunk                         Chunk
	Statement                     Statement
	Burst                         int
	Apply                         Apply
	Consistency                   Consistency
	Barrier                       Barrier
	OnError                       OnError
	AffectedRows                  AffectedRows
	Drain                         Drain
	MaxSessions                   int
	Login                         Login
	Checkpoint                    Checkpoint
	Rules                         []Rule
}

// Log says what is logged, and how.
type Log struct {
	Level  LogLevel
	Format LogFormat
}

// Journal bounds the durable log of acknowledged rows.
type Journal struct {
	Sync     Sync
	MaxBytes Bytes
	Keep     time.Duration // how long applied segments stay on disk
}

// Memory bounds what all sessions and queues hold together.
type Memory struct {
	Max Bytes
}

// Window bounds what gathers for one table before it is sorted and applied.
type Window struct {
	Rows     Rows
	Bytes    Bytes
	Delay    time.Duration // how long a row may stay invisible to a direct reader
	MaxDelay time.Duration // what rows: auto may extend Delay to
}

// Chunk bounds one transaction of a window.
type Chunk struct {
	Rows  int
	Bytes Bytes
}

// Statement bounds one merged statement.
type Statement struct {
	Bytes Bytes
}

// Apply says how windows reach the server.
type Apply struct {
	Connections int
}

// Barrier bounds the wait of a statement for rows that it could see.
type Barrier struct {
	Timeout time.Duration // while the server refuses the service account
}

// Drain bounds the orderly end.
type Drain struct {
	Timeout time.Duration
}

// Login bounds a client's handshake.
type Login struct {
	Timeout time.Duration
}

// Checkpoint says where the server records the chunks it has.
type Checkpoint struct {
	Schema string
}

// Profile says what an OK means on a listener.
type Profile string

// The profiles. ProfileOff relays everything.
const (
	ProfileLoader  Profile = "loader"
	ProfileApp     Profile = "app"
	ProfileMigrate Profile = "migrate"
	ProfileOff     Profile = "off"
)

// LogLevel is the least severity that is logged.
type LogLevel string

// LogFormat is how a line of the log looks.
type LogFormat string

// The formats. LogAuto is LogConsole on a terminal and LogJSON elsewhere.
const (
	LogAuto    LogFormat = "auto"
	LogJSON    LogFormat = "json"
	LogConsole LogFormat = "console"
)

// Sync says what an acknowledged row in the journal survives.
type Sync string

// The levels of durability.
const (
	SyncAlways Sync = "always" // power loss
	SyncSecond Sync = "1s"     // a crash of sluice; power loss at most the last second
	SyncOS     Sync = "os"     // a crash of sluice; the system writes when it likes
)

// Consistency says which reads see rows that are still pending.
type Consistency string

// The levels of consistency.
const (
	Strict  Consistency = "strict"  // all sessions of this sluice
	Session Consistency = "session" // the session that inserted them
)

// OnError says what a row that fails in a transaction does.
type OnError string

// The reactions.
const (
	OnErrorFail   OnError = "error"  // the next statement or COMMIT fails
	OnErrorReject OnError = "reject" // the row goes to the reject log, COMMIT succeeds
)

// AffectedRows says what the reply to an INSERT IGNORE, REPLACE or INSERT with ON
// DUPLICATE KEY UPDATE counts. That of a plain INSERT is exact in any case.
type AffectedRows string

// The ways to count.
const (
	AffectedPerRow AffectedRows = "per-row" // 1 for each row, whatever becomes of it
	AffectedExact  AffectedRows = "exact"   // as the server counts: the statement is not batched
)

// Rows is a number of rows, or RowsAuto.
type Rows int64

// RowsAuto derives the number from the size of the table.
const RowsAuto Rows = 0

// Auto reports whether the number follows the size of the table.
func (r Rows) Auto() bool { return r == RowsAuto }

// String returns the form that is configured.
func (r Rows) String() string {
	if r.Auto() {
		return "auto"
	}
	return strconv.FormatInt(int64(r), 10)
}

// Default returns the settings before any source has spoken.
func Default() *Config {
	return &Config{
		Listen:                        []Listener{{Network: "tcp", Address: "127.0.0.1:3307"}},
		TLS:                           TLS{Mode: TLSOn, VerifyClient: VerifyOptional},
		ProtocolCompressionAlgorithms: Zlib | Zstd | Uncompressed,
		Profile:                       ProfileLoader,
		DataDir:                       "/var/lib/sluice",
		Log:                           Log{Level: "info", Format: LogAuto},
		Journal:                       Journal{Sync: SyncSecond, MaxBytes: 10 * GiB, Keep: 10 * time.Minute},
		Memory:                        Memory{Max: 512 * MiB},
		Window:                        Window{Rows: RowsAuto, Bytes: 128 * MiB, Delay: time.Second, MaxDelay: time.Minute},
		Chunk:                         Chunk{Rows: 50_000, Bytes: 16 * MiB},
		Statement:                     Statement{Bytes: 128 * KiB},
		Burst:                         8,
		Apply:                         Apply{Connections: 2},
		Consistency:                   Strict,
		Barrier:                       Barrier{Timeout: 10 * time.Second},
		OnError:                       OnErrorFail,
		AffectedRows:                  AffectedPerRow,
		Drain:                         Drain{Timeout: 30 * time.Second},
		Login:                         Login{Timeout: 9 * time.Second},
		Checkpoint:                    Checkpoint{Schema: "sluice"},
	}
}

// String lists every setting, one a line, passwords redacted.
func (c *Config) String() string {
	var b strings.Builder
	for _, s := range settings {
		b.WriteString(s.key + ": " + strings.Join(s.at(&draft{Config: c}).Strings(), " ") + "\n")
	}
	for _, r := range c.Rules {
		b.WriteString("rule: " + r.String() + "\n")
	}
	return b.String()
}
