package config

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// draft is a Config while its sources are read, with what only Load needs.
type draft struct {
	*Config
	named       bool              // the source being read names the backend
	urlPassword Secret            // the password inside the backend's URL, in the same source
	meant       []string          // keys that unknown names are close to
	origin      map[string]string // where each key was given: file and line, variable or flag
}

// setting is one row of the table that the file's keys, the environment
// variables and the flags are made from.
type setting struct {
	key     string
	hint    string // what stands for the value in a flag's help
	usage   string
	repeat  bool // may have several values
	secret  bool // its text is in no error
	noFlag  bool // not offered as a flag
	at      func(*draft) value
	relaxed func(*Config) string // a warning about a value that is allowed and unwise
}

// env is the environment variable of a setting.
func (s *setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// flag is the flag of a setting, without its dashes.
func (s *setting) flag() string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(s.key)
}

const (
	envPrefix  = "SLUICE_"
	fileFlag   = "config" // names the file; the only flag that is no setting
	fileEnv    = envPrefix + "CONFIG"
	rulesKey   = "rules" // only in the file
	longest    = 24 * time.Hour
	most       = math.MaxInt64 // bytes: what the disk has is the bound
	backendKey = "backend"
)

var settings = []*setting{
	{key: backendKey, hint: "URL", secret: true,
		usage: "server: mysql://USER[:PASSWORD]@HOST:PORT/[?tls=MODE], mysql://USER@unix(PATH)/, or HOST:PORT without a service account; USER is the service account, MODE true, skip-verify, preferred or false",
		at:    func(d *draft) value { return backendValue(d) }},
	{key: "backend.password", secret: true, noFlag: true,
		usage: "password of the service account",
		at:    func(d *draft) value { return secretValue(&d.Backend.Password) }},
	{key: "backend.password_file", hint: "FILE",
		usage: "file whose content is the password of the service account",
		at:    func(d *draft) value { return textValue(&d.Backend.PasswordFile) }},
	{key: "backend.tls.ca", hint: "FILE",
		usage: "CAs that the server's certificate is verified with (?tls=true in the backend's URL); the system's if empty",
		at:    func(d *draft) value { return textValue(&d.Backend.TLS.CA) }},
	{key: "backend.tls.cert", hint: "FILE",
		usage: "sluice's own certificate, shown to a server that asks for one",
		at:    func(d *draft) value { return textValue(&d.Backend.TLS.Cert) }},
	{key: "backend.tls.key", hint: "FILE",
		usage: "its private key",
		at:    func(d *draft) value { return textValue(&d.Backend.TLS.Key) }},
	{key: "backend.tls.server_name", hint: "NAME",
		usage: "name in the server's certificate; the backend's host if empty",
		at:    func(d *draft) value { return textValue(&d.Backend.TLS.ServerName) }},
	{key: "listen", hint: "ADDR", repeat: true,
		usage: "HOST:PORT or unix:PATH for clients, with ,profile=NAME if not the default one; repeatable",
		at:    func(d *draft) value { return listenValue{&d.Listen} }},
	{key: "tls.mode", hint: "MODE",
		usage: "TLS towards clients: off, on (offered) or require (all but clients of a unix socket)",
		at:    func(d *draft) value { return enumValue(&d.TLS.Mode, TLSOff, TLSOn, TLSRequire) }},
	{key: "tls.cert", hint: "FILE",
		usage: "certificate shown to clients, with its chain; a self-signed one is made and kept if empty",
		at:    func(d *draft) value { return textValue(&d.TLS.Cert) }},
	{key: "tls.key", hint: "FILE",
		usage: "its private key",
		at:    func(d *draft) value { return textValue(&d.TLS.Key) }},
	{key: "tls.ca", hint: "FILE",
		usage: "CAs that clients' certificates are verified with; none is asked for if empty",
		at:    func(d *draft) value { return textValue(&d.TLS.CA) }},
	{key: "tls.verify_client", hint: "WHEN",
		usage: "clients' certificates: optional (verified if there is one) or require",
		at:    func(d *draft) value { return enumValue(&d.TLS.VerifyClient, VerifyOptional, VerifyRequire) }},
	{key: "protocol_compression_algorithms", hint: "LIST",
		usage: "what clients may compress their link to sluice with: zlib, zstd and uncompressed, separated by commas; without uncompressed they have to",
		at:    func(d *draft) value { return compressionValue(&d.ProtocolCompressionAlgorithms) }},
	{key: "profile", hint: "NAME",
		usage: "what an OK means: loader, or off to relay everything; app and migrate are not built yet",
		at:    func(d *draft) value { return profileValue(&d.Profile) }},
	{key: "data_dir", hint: "DIR",
		usage: "directory of the journal and the reject log",
		at:    func(d *draft) value { return textValue(&d.DataDir) }},
	{key: "http", hint: "ADDR",
		usage: "HOST:PORT of /healthz, /readyz and /metrics; /debug/pprof too on a loopback address; none if empty",
		at:    func(d *draft) value { return addressValue(&d.HTTP) }},
	{key: "log.level", hint: "LEVEL",
		usage: "trace, debug, info, warn or error",
		at: func(d *draft) value {
			return enumValue(&d.Log.Level, "trace", "debug", "info", "warn", "error")
		}},
	{key: "log.format", hint: "FORMAT",
		usage: "console, json, or auto: console on a terminal",
		at:    func(d *draft) value { return enumValue(&d.Log.Format, LogAuto, LogJSON, LogConsole) }},
	{key: "journal.sync", hint: "WHEN",
		usage: "what an acknowledged row survives: always (power loss), 1s (power loss but for the last second) or os (a crash of sluice)",
		at:    func(d *draft) value { return enumValue(&d.Journal.Sync, SyncAlways, SyncSecond, SyncOS) }},
	{key: "journal.max_bytes", hint: "SIZE",
		usage: "size of the journal above which inserts get an error",
		at:    func(d *draft) value { return bytesValue(&d.Journal.MaxBytes, 64*MiB, most) }},
	{key: "journal.keep", hint: "TIME",
		usage: "how long applied parts of the journal stay on disk",
		at:    func(d *draft) value { return durationValue(&d.Journal.Keep, 0, 365*longest) }},
	{key: "memory.max", hint: "SIZE",
		usage: "memory for held rows and for windows on their way",
		at:    func(d *draft) value { return bytesValue(&d.Memory.Max, 32*MiB, most) }},
	{key: "window.rows", hint: "N",
		usage: "rows of a table that are sorted and applied together, or auto: by the table's size",
		at:    func(d *draft) value { return rowsValue(&d.Window.Rows) }},
	{key: "window.bytes", hint: "SIZE",
		usage: "the same in bytes",
		at:    func(d *draft) value { return bytesValue(&d.Window.Bytes, 64*KiB, most) }},
	{key: "window.delay", hint: "TIME",
		usage: "how long a row may stay invisible to readers that do not go through sluice",
		at:    func(d *draft) value { return durationValue(&d.Window.Delay, time.Millisecond, longest) }},
	{key: "window.max_delay", hint: "TIME",
		usage: "what window.rows: auto may extend window.delay to, in a burst into a table larger than the buffer pool",
		at:    func(d *draft) value { return durationValue(&d.Window.MaxDelay, time.Millisecond, longest) }},
	{key: "chunk.rows", hint: "N",
		usage: "rows of a transaction",
		at:    func(d *draft) value { return countValue(&d.Chunk.Rows, 1, 1_000_000) },
		relaxed: func(c *Config) string {
			return outside(c.Chunk.Rows, 10_000, 100_000, "smaller transactions are slow, larger ones slow to roll back")
		}},
	{key: "chunk.bytes", hint: "SIZE",
		usage: "the same in bytes",
		at:    func(d *draft) value { return bytesValue(&d.Chunk.Bytes, 64*KiB, GiB) }},
	{key: "statement.bytes", hint: "SIZE",
		usage: "size of a merged statement, never more than the server's max_allowed_packet",
		at:    func(d *draft) value { return bytesValue(&d.Statement.Bytes, 4*KiB, MiB) },
		relaxed: func(c *Config) string {
			return outside(c.Statement.Bytes, 64e3, 256*KiB, "smaller and larger statements are slower")
		}},
	{key: "burst", hint: "N",
		usage: "inserts of a shape without a barrier between them that are relayed before batching starts",
		at:    func(d *draft) value { return countValue(&d.Burst, 1, 1_000_000) }},
	{key: "apply.connections", hint: "N",
		usage: "connections of the service account that apply windows",
		at:    func(d *draft) value { return countValue(&d.Apply.Connections, 1, 64) }},
	{key: "consistency", hint: "LEVEL",
		usage: "whose pending rows a read flushes first: strict (all sessions') or session (its own)",
		at:    func(d *draft) value { return enumValue(&d.Consistency, Strict, Session) }},
	{key: "barrier.timeout", hint: "TIME",
		usage: "how long a statement waits for rows that it could see while the server refuses the service account; then it gets an error",
		at:    func(d *draft) value { return durationValue(&d.Barrier.Timeout, 0, longest) }},
	{key: "on_error", hint: "WHAT",
		usage: "a row that fails in a transaction: error (COMMIT fails) or reject (the row goes to the reject log)",
		at:    func(d *draft) value { return enumValue(&d.OnError, OnErrorFail, OnErrorReject) }},
	{key: "affected_rows", hint: "WHAT",
		usage: "affected rows of INSERT IGNORE, REPLACE and ON DUPLICATE KEY UPDATE: per-row (1 for each row) or exact (they are not batched)",
		at:    func(d *draft) value { return enumValue(&d.AffectedRows, AffectedPerRow, AffectedExact) }},
	{key: "drain.timeout", hint: "TIME",
		usage: "how long the end waits for sessions and flushes; what is not applied stays in the journal",
		at:    func(d *draft) value { return durationValue(&d.Drain.Timeout, 0, longest) }},
	{key: "max_sessions", hint: "N",
		usage: "client sessions at a time; 0 leaves it to the server's own limit",
		at:    func(d *draft) value { return countValue(&d.MaxSessions, 0, 1_000_000) }},
	{key: "login.timeout", hint: "TIME",
		usage: "how long a client may take to log in; at most 9/10 of the server's connect_timeout, which would count it against sluice's host",
		at:    func(d *draft) value { return durationValue(&d.Login.Timeout, 100*time.Millisecond, longest) }},
	{key: "checkpoint.schema", hint: "NAME",
		usage: "schema on the server for the table that records applied chunks",
		at:    func(d *draft) value { return schemaValue(&d.Checkpoint.Schema) }},
}

// keys lists the keys of the file, rules included.
func keys() []string {
	list := make([]string, 0, len(settings)+1)
	for _, s := range settings {
		list = append(list, s.key)
	}
	return append(list, rulesKey)
}

// outside returns a warning for a value that is not in the recommended range.
func outside[T int | Bytes](v, least, most T, why string) string {
	if v >= least && v <= most {
		return ""
	}
	return fmt.Sprintf("%v is outside the recommended %v to %v: %s", v, least, most, why)
}
