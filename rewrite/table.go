package rewrite

// Column is one column of a table as the server defines it.
type Column struct {
	Name          string
	Type          string // lower case base type: int, bigint, varchar, varbinary, datetime, enum, decimal ...
	FullType      string // COLUMN_TYPE as information_schema gives it: int(10) unsigned
	Unsigned      bool
	Length        int // characters for char/varchar, bytes for binary/varbinary, 0 if not limited
	Precision     int // decimal precision; fractional seconds for time, datetime, timestamp
	Scale         int // decimal scale
	Charset       string
	Collation     string
	Nullable      bool
	AutoIncrement bool
	Generated     bool // stored or virtual: cannot be supplied
	Invisible     bool // not part of an INSERT without a column list
	Default       DefaultKind
	OnUpdateNow   bool
}

// DefaultKind says what a column gets when a row does not supply it.
type DefaultKind uint8

// The kinds of defaults.
const (
	DefaultNone    DefaultKind = iota // none: error in strict mode
	DefaultLiteral                    // a constant or NULL
	DefaultNow                        // CURRENT_TIMESTAMP without fraction
	DefaultNowFrac                    // CURRENT_TIMESTAMP(n): finer than a second, relayed
	DefaultExpr                       // an expression over literals and other columns of the row, closed list of functions
	DefaultUnsafe                     // depends on session or order: CURRENT_USER, UUID, NEXTVAL ...
)

// KeyPart is one column of a key.
type KeyPart struct {
	Column int  // index into Table.Columns
	Prefix int  // characters or bytes of a prefix key, 0 for the whole column
	Desc   bool // descending
}

// Key is a primary or unique key.
type Key struct {
	Name  string
	Parts []KeyPart // Column is -1 for a functional key part
}

// Table is what the rewriter knows about a target table, read from the server.
type Table struct {
	Schema, Name    string
	Columns         []Column
	Primary         *Key
	Unique          []Key  // unique keys other than the primary key
	Engine          string // InnoDB, MyISAM, Aria, MEMORY, ROCKSDB ...
	Transactional   bool
	Base            bool // a base table, neither view nor temporary nor sequence
	Temporary       bool
	Triggers        bool
	SystemVersioned bool
	Partitioned     bool
	SelfReferencing bool     // a foreign key of the table refers to the table itself
	Parents         []string // "schema.table" that foreign keys of this table refer to
	Children        []string // "schema.table" whose foreign keys refer to this table
	Checks          bool     // has CHECK constraints
	Definition      string   // SHOW CREATE TABLE without AUTO_INCREMENT=n: compared before each COMMIT (S01)
	Rows            uint64   // estimate
	DataLength      uint64   // bytes, estimate
	RowLength       uint64   // average, bytes
}

// Column returns the index of the column called name, without regard to case,
// or -1.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if equalFold(t.Columns[i].Name, name) {
			return i
		}
	}
	return -1
}
