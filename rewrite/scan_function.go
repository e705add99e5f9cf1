package rewrite

// maxFunctionName is the length of the longest word worth a look-up.
const maxFunctionName = 24

// functionForm says how the arguments of a function are checked.
type functionForm uint8

const (
	formPlain functionForm = iota
	formPairs
	formCast
	formConvert
	formStrToDate
	formUnixTimestamp
	formExact // built in with this number of arguments only: with another one a stored function
)

// function is a built-in function whose result depends on its arguments and
// on session variables alone.
type function struct {
	min, max     int8 // number of arguments; max -1: any
	form         functionForm
	nullFree     bool // never NULL unless an argument is
	mysql, maria int  // the version from which it is built in, never for not at all
	mysqlUntil   int  // the version of MySQL in which it no longer is, 0 for none
}

const never = 1 << 30

// existsIn reports whether the function is built in: where it is not, a stored
// function may have its name (S02).
func (f function) existsIn(dialect Dialect, version int) bool {
	if dialect == MariaDB {
		return version >= f.maria
	}
	return version >= f.mysql && (f.mysqlUntil == 0 || version < f.mysqlUntil)
}

// builtIn reports whether the name alone, with any arguments, is that of the
// built-in function.
func (f function) builtIn(dialect Dialect, version int) bool {
	return f.form != formExact && f.existsIn(dialect, version)
}

// takes reports whether n arguments are a valid number.
func (f function) takes(n int) bool {
	return n >= int(f.min) && (f.max < 0 || n <= int(f.max)) && (f.form != formPairs || n%2 == 0)
}

// currentTime lists the functions that give the current time: with
// parentheses only, or also without.
var currentTime = map[string]uint8{
	"NOW": currentCall, "CURDATE": currentCall, "CURTIME": currentCall,
	"CURRENT_TIMESTAMP": currentBare, "LOCALTIME": currentBare, "LOCALTIMESTAMP": currentBare,
	"CURRENT_DATE": currentBare, "CURRENT_TIME": currentBare,
	"UTC_DATE": currentBare, "UTC_TIME": currentBare, "UTC_TIMESTAMP": currentBare,
}

const (
	currentCall uint8 = iota + 1
	currentBare
)

// isDateOnly reports whether the function of currentTime takes no fraction.
func isDateOnly(name string) bool {
	return name == "CURDATE" || name == "CURRENT_DATE" || name == "UTC_DATE"
}

// functions is the closed list of S02. Not on it, among others: anything that
// reads the session or the clock (USER, DATABASE, CONNECTION_ID, SYSDATE,
// LAST_INSERT_ID), gives another result each time (RAND, UUID), waits, locks
// or reads files, and what gives a TIME: a TIME stored into a date takes the
// current day. RAND(seed) is missing too: its value depends on the position in
// the statement.
var functions = buildFunctions()

func buildFunctions() map[string]function {
	m := make(map[string]function)
	add := func(min, max int8, names ...string) {
		for _, name := range names {
			m[name] = function{min: min, max: max}
		}
	}
	add(1, 1, "UPPER", "UCASE", "LOWER", "LCASE", "LENGTH", "OCTET_LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH",
		"BIT_LENGTH", "TRIM", "LTRIM", "RTRIM", "REVERSE", "SPACE", "ASCII", "ORD", "HEX", "UNHEX", "BIN", "OCT",
		"TO_BASE64", "FROM_BASE64", "QUOTE", "SOUNDEX",
		"ABS", "SIGN", "FLOOR", "CEIL", "CEILING", "SQRT", "EXP", "LN", "LOG2", "LOG10", "SIN", "COS", "TAN", "COT",
		"ASIN", "ACOS", "DEGREES", "RADIANS", "CRC32", "BIT_COUNT", "COMPRESS", "UNCOMPRESS",
		"UNCOMPRESSED_LENGTH", "ISNULL", "INET_ATON", "INET_NTOA", "INET6_ATON", "INET6_NTOA",
		"DATE", "TIMESTAMP", "YEAR", "MONTH", "DAY", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "WEEKDAY", "QUARTER",
		"HOUR", "MINUTE", "SECOND", "MICROSECOND", "TO_DAYS", "TO_SECONDS", "FROM_DAYS", "LAST_DAY", "TIME_TO_SEC")
	add(1, 2, "ROUND", "LOG", "ATAN", "WEEK", "FROM_UNIXTIME", "ST_GEOMFROMTEXT", "ST_POINTFROMTEXT", "ST_GEOMFROMWKB")
	add(2, 2, "LEFT", "RIGHT", "REPEAT", "INSTR", "FIND_IN_SET", "STRCMP", "FORMAT", "TRUNCATE", "MOD", "POW", "POWER",
		"ATAN2", "SHA2", "IFNULL", "NULLIF", "DATEDIFF", "MAKEDATE", "PERIOD_ADD", "PERIOD_DIFF", "DATE_FORMAT")
	add(2, 3, "SUBSTRING", "SUBSTR", "MID", "LOCATE")
	add(3, 3, "IF", "LPAD", "RPAD", "REPLACE", "CONV", "SUBSTRING_INDEX")
	add(4, 4, "INSERT")
	add(0, 0, "PI")
	add(1, -1, "CONCAT", "COALESCE", "CHAR")
	add(2, -1, "CONCAT_WS", "ELT", "FIELD", "MAKE_SET", "GREATEST", "LEAST")
	m["CAST"] = function{form: formCast}
	m["CONVERT"] = function{form: formConvert}
	m["STR_TO_DATE"] = function{min: 2, max: 2, form: formStrToDate}
	m["UNIX_TIMESTAMP"] = function{min: 0, max: 1, form: formUnixTimestamp}
	m["POINT"] = function{min: 2, max: 2, form: formExact}
	for _, name := range []string{"MD5", "SHA", "SHA1"} { // MySQL 9 has them as a component that may be missing
		m[name] = function{min: 1, max: 1, mysqlUntil: 90000}
	}
	m["UUID_TO_BIN"] = function{min: 1, max: 2, mysql: 80000, maria: never}
	m["BIN_TO_UUID"] = function{min: 1, max: 2, mysql: 80000, maria: never}
	m["JSON_OBJECT"] = function{min: 0, max: -1, form: formPairs, mysql: 50708, maria: 100203}
	m["JSON_ARRAY"] = function{min: 0, max: -1, mysql: 50708, maria: 100203}
	m["JSON_QUOTE"] = function{min: 1, max: 1, mysql: 50708, maria: 100203}
	m["JSON_UNQUOTE"] = function{min: 1, max: 1, mysql: 50708, maria: 100203}

	// Never NULL for arguments that are not: what a tail needs to know (S19).
	for _, name := range []string{"UPPER", "UCASE", "LOWER", "LCASE", "LENGTH", "OCTET_LENGTH", "CHAR_LENGTH",
		"CHARACTER_LENGTH", "TRIM", "LTRIM", "RTRIM", "REVERSE", "ABS", "SIGN", "FLOOR", "CEIL", "CEILING", "ROUND",
		"GREATEST", "LEAST", "IF", "IFNULL", "COALESCE", "MD5", "SHA1", "ISNULL"} {
		f := m[name]
		f.nullFree = true
		m[name] = f
	}
	return m
}

// formatHasDate reports whether a format of STR_TO_DATE, given as a plain
// string literal, has a part of a date: without one the result is a TIME.
func formatHasDate(literal []byte) bool {
	if len(literal) < 2 || literal[0] != '\'' && literal[0] != '"' {
		return false
	}
	for i := 1; i < len(literal)-1; i++ {
		if literal[i] == '\\' || literal[i] >= 0x80 {
			return false
		}
		if literal[i] != '%' {
			continue
		}
		i++
		switch literal[i] {
		case 'Y', 'y', 'm', 'c', 'd', 'e', 'M', 'b', 'j':
			return true
		}
	}
	return false
}

// uppered returns word in upper case, in buf; nil when it does not fit.
func uppered(buf *[maxFunctionName]byte, word []byte) []byte {
	if len(word) > len(buf) {
		return nil
	}
	for i, c := range word {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		buf[i] = c
	}
	return buf[:len(word)]
}
