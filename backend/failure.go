package backend

import (
	"errors"
	"io/fs"

	"github.com/sluice-db/sluice/backend/wire"
)

// failure says what a server's error means for the statement that got it (S13).
type failure uint8

const (
	rowFailure   failure = iota // the values are to blame: bisect, reject what fails alone
	shapeFailure                // the statement is to blame whatever its values: missing table, column, privilege
	retryFailure                // neither: wait and try the whole chunk again
)

// shapeErrors fail every row of a shape alike (MySQL manual "Server Error Message
// Reference"; MariaDB "Error Codes").
var shapeErrors = map[uint16]bool{
	1044: true, // access denied to the schema
	1049: true, // unknown schema
	1054: true, // unknown column
	1064: true, // syntax
	1109: true, // unknown table
	1110: true, // column twice
	1136: true, // column count
	1142: true, // command denied on the table
	1143: true, // command denied on the column
	1146: true, // no such table
	1305: true, // no such function
	1347: true, // not a base table
	1356: true, // view invalid
	1393: true, // join view
	1471: true, // target not insertable
	1748: true, // row not in the named partition
}

// retryErrors pass by themselves, or when somebody mends the server.
var retryErrors = map[uint16]bool{
	1021: true,                         // disk full
	1037: true, 1038: true, 1041: true, // out of memory
	1040: true,             // too many connections
	1053: true,             // shutdown in progress
	1099: true, 1100: true, // table locked
	1105: true,                         // unknown error: also what a plugin says when it is not ready
	1114: true,                         // table is full
	1129: true, 1130: true, 1045: true, // host blocked, access of the service account
	1180: true, 1181: true, // error during COMMIT, ROLLBACK
	1158: true, 1159: true, 1160: true, 1161: true, // network
	1203: true, 1226: true, // connection and resource limits
	1205: true,             // lock wait timeout
	1206: true,             // lock table full
	1213: true,             // deadlock
	1223: true,             // read lock
	1020: true,             // record has changed since it was read
	1036: true,             // table is read only (innodb_force_recovery)
	1135: true, 1637: true, // no thread, too many transactions
	1194: true, 1195: true, // crashed table
	1119: true, 1436: true, // stack overrun
	1197: true, 1598: true, // binary log: cache too small, impossible
	1820: true, 1862: true, // the service account's password has expired
	1874: true, 3032: true, // InnoDB is read-only, the server is off line
	1290: true,             // read_only and other options
	1317: true,             // query interrupted
	1047: true,             // Galera: not ready; unknown command
	1412: true,             // table definition has changed, retry
	1614: true,             // transaction must be rolled back
	1792: true,             // read-only transaction
	1836: true,             // read-only mode
	1927: true,             // connection killed
	1969: true, 3024: true, // statement time
	3100: true, 3101: true, // group replication
	3169: true,                                     // session killed
	3572: true,                                     // nowait
	4031: true,                                     // idle
	1016: true, 1017: true, 1023: true, 1026: true, // files
	1030: true,             // error from the storage engine
	1296: true, 1297: true, // NDB
}

// accessErrors say that the service account itself is refused: at its login, or for what
// it lacks. They last until somebody mends the account.
var accessErrors = map[uint16]bool{
	1044: true, 1045: true, 1130: true, 1698: true, // no such account, password or host
	1142: true, 1143: true, 1227: true, 1370: true, // privileges
	1251: true, 1275: true, 1524: true, 3159: true, // how it logs in
	1820: true, 1862: true, 3118: true, 4151: true, // password has expired, account is locked
}

// denied says whether an error is of the service account.
func denied(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && accessErrors[e.Code]
}

// Passes says whether an error of New or Inspect can pass by itself, so that serve waits
// for the server.
func Passes(err error) bool {
	var said *wire.Error
	var file *fs.PathError
	switch {
	case errors.Is(err, ErrTLS), errors.Is(err, ErrExcess), errors.Is(err, ErrOtherServer), errors.As(err, &file):
		return false
	case errors.As(err, &said):
		return said.Code == 1040 || said.Code == 1053 // too many connections, shutdown
	}
	return true
}

// failureOf classifies the error of a statement. What is not the server's word
// (a broken connection) is retried.
func failureOf(err error) failure {
	var e *wire.Error
	switch {
	case !errors.As(err, &e):
		return retryFailure
	case shapeErrors[e.Code]:
		return shapeFailure
	case retryErrors[e.Code]:
		return retryFailure
	}
	return rowFailure
}
