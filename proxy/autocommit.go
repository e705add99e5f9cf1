package proxy

import "bytes"

// setsAutocommit recognises SET autocommit alone in the forms that client libraries
// send. Such a statement begins or ends transactions and changes nothing else: Perl's
// DBI sends one before and one after each transaction, and a loader's burst goes on
// over them as it does over BEGIN and COMMIT. Any other form is only not recognised.
func setsAutocommit(text []byte) bool {
	const longest = 64
	if len(text) > longest {
		return false
	}
	words := bytes.Fields(bytes.ToUpper(bytes.TrimRight(text, "; \t\r\n")))
	if len(words) < 2 || string(words[0]) != "SET" {
		return false
	}
	name, value, found := bytes.Cut(bytes.Join(words[1:], nil), []byte("="))
	if !found {
		return false
	}
	switch string(name) {
	case "AUTOCOMMIT", "@@AUTOCOMMIT", "@@SESSION.AUTOCOMMIT", "SESSIONAUTOCOMMIT":
	default:
		return false
	}
	switch string(value) {
	case "0", "1", "ON", "OFF":
		return true
	}
	return false
}
