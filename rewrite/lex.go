package rewrite

// Dialect is the server family whose rules apply.
type Dialect uint8

// The server families.
const (
	MySQL Dialect = iota
	MariaDB
)

// Lex is everything outside the text itself that decides how the server reads
// the bytes of a statement (MySQL manual, "Lexical structure" and "Server SQL
// modes").
type Lex struct {
	Dialect            Dialect
	Version            int    // 101119 for 10.11.19, 90704 for 9.7.4: decides which /*!NNNNN bodies are code
	ANSIQuotes         bool   // sql_mode ANSI_QUOTES: "x" is an identifier
	NoBackslashEscapes bool   // sql_mode NO_BACKSLASH_ESCAPES: \ is an ordinary byte
	IgnoreSpace        bool   // sql_mode IGNORE_SPACE
	PipesAsConcat      bool   // sql_mode PIPES_AS_CONCAT
	Charset            string // character_set_client, lower case: utf8mb4, latin1, gbk ...
}

// Reason says why a statement is relayed and not batched; empty means that it
// may be batched. The text is shown to users as it is.
type Reason string
