package rawclient

// Capability flags, the two MySQL words and, from bit 32, MariaDB's own.
// https://mariadb.com/kb/en/connection/#capabilities
const (
	LongPassword     uint64 = 1 << 0 // cleared by MariaDB to announce its own flags
	FoundRows        uint64 = 1 << 1
	ConnectWithDB    uint64 = 1 << 3
	Compress         uint64 = 1 << 5
	LocalFiles       uint64 = 1 << 7
	IgnoreSpace      uint64 = 1 << 8
	Protocol41       uint64 = 1 << 9
	Interactive      uint64 = 1 << 10
	SSL              uint64 = 1 << 11
	Transactions     uint64 = 1 << 13
	SecureConnection uint64 = 1 << 15
	MultiStatements  uint64 = 1 << 16
	MultiResults     uint64 = 1 << 17
	PSMultiResults   uint64 = 1 << 18
	PluginAuth       uint64 = 1 << 19
	ConnectAttrs     uint64 = 1 << 20
	LenencAuth       uint64 = 1 << 21
	SessionTrack     uint64 = 1 << 23
	DeprecateEOF     uint64 = 1 << 24
	OptionalMetadata uint64 = 1 << 25
	ZstdCompress     uint64 = 1 << 26
	QueryAttributes  uint64 = 1 << 27
	VerifyCert       uint64 = 1 << 30
	RememberOptions  uint64 = 1 << 31

	Progress         uint64 = 1 << 32
	BulkOperations   uint64 = 1 << 34
	ExtendedMetadata uint64 = 1 << 35
	CacheMetadata    uint64 = 1 << 36
	BulkUnitResults  uint64 = 1 << 37
)

// DefaultCaps is what an ordinary client of today asks for.
const DefaultCaps = LocalFiles | Protocol41 | Transactions | SecureConnection |
	MultiStatements | MultiResults | PSMultiResults | PluginAuth | ConnectAttrs |
	LenencAuth | SessionTrack | DeprecateEOF

// CapNames are the names that scripts use.
var CapNames = map[string]uint64{
	"long_password": LongPassword, "found_rows": FoundRows, "compress": Compress,
	"local_files": LocalFiles, "ignore_space": IgnoreSpace, "interactive": Interactive,
	"transactions": Transactions, "multi_statements": MultiStatements,
	"multi_results": MultiResults, "ps_multi_results": PSMultiResults,
	"plugin_auth": PluginAuth, "connect_attrs": ConnectAttrs, "lenenc_auth": LenencAuth,
	"session_track": SessionTrack, "deprecate_eof": DeprecateEOF,
	"optional_metadata": OptionalMetadata, "query_attributes": QueryAttributes,
	"progress": Progress, "bulk_operations": BulkOperations,
	"extended_metadata": ExtendedMetadata, "cache_metadata": CacheMetadata,
	"bulk_unit_results": BulkUnitResults,
}

// Status flags that decide how a reply goes on.
const (
	statusMoreResults  = 0x0008
	statusCursorExists = 0x0040
	statusTrack        = 0x4000
)
