package wire

import (
	"errors"
	"fmt"
)

// resultLimit bounds what sluice's own queries may return.
const resultLimit = 64 << 20

// Session is a logged-in connection to a server on which sluice can run
// statements of its own, between those that it relays.
type Session struct {
	*Conn
	Caps Caps
}

var _ Querier = (*Session)(nil)

// noAttributes is what precedes the text of COM_QUERY when query attributes are
// agreed on and there are none (MySQL Internals "COM_QUERY").
var noAttributes = []byte{0, 1}

// Query runs one statement by the text protocol.
func (s *Session) Query(sql string) (*Result, error) {
	if err := s.SendQuery([]byte(sql)); err != nil {
		return nil, err
	}
	return s.ReadResult()
}

// SendQuery writes a COM_QUERY without waiting for its result.
func (s *Session) SendQuery(sql ...[]byte) error {
	if s.Caps.Base&ClientQueryAttributes != 0 {
		return s.WriteCommand(ComQuery, append([][]byte{noAttributes}, sql...)...)
	}
	return s.WriteCommand(ComQuery, sql...)
}

// Check has the server PREPARE a statement and close it again: syntax, tables,
// columns and privileges are checked, nothing is executed. A server's refusal
// comes back as *Error.
func (s *Session) Check(sql []byte) error {
	if err := s.WriteCommand(ComStmtPrepare, sql); err != nil {
		return err
	}
	var r Reply
	r.Begin(ReplyPrepare, s.Caps)
	for first := true; ; first = false {
		p, _, err := s.ReadPacket(resultLimit)
		if err != nil {
			return err
		}
		done := r.Feed(len(p), p)
		if first && r.Failed {
			return ParseErr(p)
		}
		if done {
			break
		}
	}
	id := r.Stmt
	return s.WriteCommand(ComStmtClose, []byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)})
}

var errUnexpected = errors.New("unexpected reply from the server")

// ReadResult reads the reply to one COM_QUERY.
func (s *Session) ReadResult() (*Result, error) {
	p, err := s.reply()
	if err != nil {
		return nil, err
	}
	if len(p) == 0 {
		return nil, errUnexpected
	}
	switch p[0] {
	case IsOK:
		ok, err := ParseOK(p)
		if err != nil {
			return nil, err
		}
		return &Result{Affected: ok.Affected, InsertID: ok.InsertID, Status: ok.Status, Warnings: ok.Warnings}, nil
	case IsInfile:
		return nil, fmt.Errorf("%w: it asks for a file", errUnexpected)
	}
	n, _ := Lenenc(p)
	res := &Result{Columns: make([]string, n)}
	for i := range res.Columns {
		if p, err = s.reply(); err != nil {
			return nil, err
		}
		res.Columns[i] = columnName(p)
	}
	if !s.Caps.DeprecateEOF() {
		if _, err = s.reply(); err != nil {
			return nil, err
		}
	}
	for {
		if p, err = s.reply(); err != nil {
			return nil, err
		}
		if len(p) > 0 && p[0] == IsEOF && (s.Caps.DeprecateEOF() || len(p) < 9) {
			var end Reply
			end.Begin(ReplyRows, s.Caps)
			end.Feed(len(p), p)
			res.Status, res.Warnings = end.Status, end.Warnings
			return res, nil
		}
		row := make([][]byte, n)
		for i := range row {
			if len(p) > 0 && p[0] == 0xfb {
				p = p[1:]
				continue
			}
			l, k := Lenenc(p)
			if k == 0 || l > uint64(len(p)-k) {
				return nil, fmt.Errorf("%w: malformed row", errUnexpected)
			}
			row[i] = p[k : k+int(l) : k+int(l)]
			p = p[k+int(l):]
		}
		res.Rows = append(res.Rows, row)
	}
}

// reply reads the next packet; ERR becomes *Error, progress reports are passed over.
func (s *Session) reply() ([]byte, error) {
	for {
		p, _, err := s.ReadPacket(resultLimit)
		if err != nil {
			return nil, err
		}
		if len(p) == 0 || p[0] != IsErr {
			return p, nil
		}
		e := ParseErr(p)
		if e.Code != 0xffff {
			return nil, e
		}
	}
}

// columnName is the fifth string of a column definition.
func columnName(p []byte) string {
	for i := 0; ; i++ {
		l, n := Lenenc(p)
		if n == 0 || l > uint64(len(p)-n) {
			return ""
		}
		if i == 4 {
			return string(p[n : n+int(l)])
		}
		p = p[n+int(l):]
	}
}
