package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// Capability flags, commands and statuses: MySQL Internals, "Client/Server Protocol".
const (
	clientLongPassword   = 1 << 0
	clientFoundRows      = 1 << 1
	clientLongFlag       = 1 << 2
	clientConnectWithDB  = 1 << 3
	clientProtocol41     = 1 << 9
	clientTransactions   = 1 << 13
	clientSecureConn     = 1 << 15
	clientMultiStatement = 1 << 16
	clientMultiResults   = 1 << 17
	clientPluginAuth     = 1 << 19
	capabilities         = clientLongPassword | clientFoundRows | clientLongFlag | clientConnectWithDB |
		clientProtocol41 | clientTransactions | clientSecureConn | clientMultiStatement |
		clientMultiResults | clientPluginAuth

	comQuit        = 0x01
	comQuery       = 0x03
	comStmtPrepare = 0x16
	comStmtClose   = 0x19
	comStmtLong    = 0x18

	statusAutocommit = 2
	utf8mb4          = 45
	typeLongLong     = 8
	typeVarString    = 253
	plugin           = "mysql_native_password"
	version          = "8.0.0-fake"
)

// session is one client, served by one goroutine.
type session struct {
	conn  net.Conn
	id    uint32
	spin  time.Duration
	in    *bufio.Reader
	out   *bufio.Writer
	seq   byte
	body  []byte // of the command being answered
	reply []byte // packets are built here
	done  int    // statements answered with OK
}

func newSession(conn net.Conn, id uint32, spin time.Duration) *session {
	return &session{conn: conn, id: id, spin: spin, out: bufio.NewWriterSize(conn, 16<<10)}
}

// run serves the client until it leaves.
func (s *session) run() error {
	from, err := reader(s.conn, s.spin)
	if err != nil {
		return err
	}
	s.in = bufio.NewReaderSize(from, 64<<10)
	if err := s.login(); err != nil {
		return fmt.Errorf("login: %w", err)
	}
	for {
		if err := s.read(); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		if len(s.body) == 0 {
			return errors.New("empty command")
		}
		switch s.body[0] {
		case comQuit:
			return nil
		case comStmtClose, comStmtLong: // have no answer
		case comStmtPrepare:
			s.prepared(bytes.Count(s.body, []byte{'?'}))
		case comQuery:
			if len(s.body) > 6 && bytes.EqualFold(s.body[1:7], []byte("SELECT")) {
				s.number(s.done)
				break
			}
			s.ok()
		default:
			s.ok()
		}
		if s.in.Buffered() == 0 {
			if err := s.out.Flush(); err != nil {
				return err
			}
		}
	}
}

func (s *session) login() error {
	p := append([]byte{10}, version...)
	p = append(p, 0)
	p = binary.LittleEndian.AppendUint32(p, s.id)
	p = append(p, "abcdefgh\x00"...)
	p = binary.LittleEndian.AppendUint16(p, capabilities&0xffff)
	p = append(p, utf8mb4)
	p = binary.LittleEndian.AppendUint16(p, statusAutocommit)
	p = binary.LittleEndian.AppendUint16(p, capabilities>>16)
	p = append(p, 21)
	p = append(p, make([]byte, 10)...)
	p = append(p, "abcdefghijkl\x00"...)
	p = append(p, plugin+"\x00"...)
	s.packet(p)
	if err := s.out.Flush(); err != nil {
		return err
	}
	if err := s.read(); err != nil {
		return err
	}
	s.ok()
	s.done = 0
	return s.out.Flush()
}

// read reads one command into body, however many packets it comes in.
func (s *session) read() error {
	s.body = s.body[:0]
	for {
		var head [4]byte
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			return err
		}
		length := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		s.seq = head[3] + 1
		at := len(s.body)
		if cap(s.body) < at+length {
			s.body = append(make([]byte, 0, 2*(at+length)), s.body...)
		}
		s.body = s.body[:at+length]
		if _, err := io.ReadFull(s.in, s.body[at:]); err != nil {
			return err
		}
		if length < 1<<24-1 {
			return nil
		}
	}
}

// packet writes one packet. A write that fails shows at the next Flush.
func (s *session) packet(payload []byte) {
	_, _ = s.out.Write([]byte{byte(len(payload)), byte(len(payload) >> 8), byte(len(payload) >> 16), s.seq})
	_, _ = s.out.Write(payload)
	s.seq++
}

// ok says: one row affected, no id, no warnings.
func (s *session) ok() {
	s.done++
	s.packet([]byte{0, 1, 0, statusAutocommit, 0, 0, 0})
}

func (s *session) eof() { s.packet([]byte{0xfe, 0, 0, statusAutocommit, 0}) }

func (s *session) column(name string, kind byte) {
	p := append(s.reply[:0], "\x03def\x00\x00\x00"...)
	p = append(p, byte(len(name)))
	p = append(p, name...)
	p = append(p, 0, 12, utf8mb4, 0, 20, 0, 0, 0, kind, 0, 0, 0, 0, 0)
	s.packet(p)
	s.reply = p
}

// number answers with one row of one column.
func (s *session) number(n int) {
	s.packet([]byte{1})
	s.column("n", typeLongLong)
	s.eof()
	text := strconv.Itoa(n)
	s.packet(append([]byte{byte(len(text))}, text...))
	s.eof()
}

// prepared answers PREPARE for a statement without a result.
func (s *session) prepared(parameters int) {
	p := append(s.reply[:0], 0, 1, 0, 0, 0, 0, 0)
	p = binary.LittleEndian.AppendUint16(p, uint16(parameters))
	s.reply = append(p, 0, 0, 0)
	s.packet(s.reply)
	if parameters == 0 {
		return
	}
	for range parameters {
		s.column("?", typeVarString)
	}
	s.eof()
}
