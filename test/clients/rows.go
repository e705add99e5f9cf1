package clients

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// rowCount is half in autocommit and half in transactions of a hundred.
const rowCount = 2000

// row is one row of the table; note is NULL where it is nil.
type row struct {
	id      int
	word    string
	score   string
	payload []byte
	note    *string
}

const createTable = `CREATE TABLE %s (
	id INT NOT NULL,
	word VARCHAR(80) CHARACTER SET utf8mb4 NOT NULL,
	score DECIMAL(12,4) NOT NULL,
	payload VARBINARY(300) NOT NULL,
	note VARCHAR(80) CHARACTER SET latin1,
	PRIMARY KEY (id)) ENGINE=InnoDB`

// words have what quoting goes wrong with.
var words = []string{
	`plain`, `it's`, `"double"`, `back\slash`, `trailing\`, `a\'b`, `null\0`, "line\nfeed", "tab\tand\rreturn",
	`VALUES (1, 'x')`, `); -- `, `/* no comment */`, `?`, `%s`, `:name`, "`tick`", "\x1a", "zürich", "京都", "😀", ``,
}

// makeRows gives the rows in an order that is not the key's. The payloads have
// every byte, and every length up to 256.
func makeRows() []row {
	rows := make([]row, rowCount)
	for i := range rows {
		r := &rows[i]
		r.id = i*7919%rowCount + 1
		r.word = fmt.Sprintf("%s %d", words[i%len(words)], i)
		r.score = fmt.Sprintf("%d.%04d", i-rowCount/2, i%10000)
		r.payload = make([]byte, i%257)
		for j := range r.payload {
			r.payload[j] = byte(i + j)
		}
		if i%3 != 0 {
			note := words[i%18]
			if i%2 == 0 {
				note += "é"
			}
			r.note = &note
		}
	}
	return rows
}

// file is what the programs read: the bytes of each column as they are to be
// sent, in hexadecimal, "-" for NULL.
func file(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		note := "-"
		if r.note != nil {
			note = hex.EncodeToString([]byte(*r.note))
		}
		fmt.Fprintf(&b, "%x\t%x\t%x\t%x\t%s\n", fmt.Sprint(r.id), r.word, r.score, r.payload, note)
	}
	return b.String()
}

// expected is what the programs print: the columns as the server stores them.
func expected(rows []row) string {
	sorted := slices.SortedFunc(slices.Values(rows), func(a, b row) int { return a.id - b.id })
	var b strings.Builder
	for _, r := range sorted {
		note := "-"
		if r.note != nil {
			note = fmt.Sprintf("%X", latin1(*r.note))
		}
		fmt.Fprintf(&b, "%X\t%X\t%X\t%X\t%s\n", r.id, r.word, r.score, r.payload, note)
	}
	return b.String()
}

// latin1 encodes a text whose characters are all in that set.
func latin1(text string) []byte {
	var out []byte
	for _, r := range text {
		out = append(out, byte(r))
	}
	return out
}
