package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Greeting is the server's first packet (MySQL Internals "HandshakeV10").
type Greeting struct {
	Version  string // as the server writes it, with MariaDB's 5.5.5- prefix
	ThreadID uint32
	Base     uint32 // capability flags
	Maria    uint32 // MariaDB's extended flags
	Charset  byte
	Status   uint16
	Plugin   string
	Salt     []byte

	raw               []byte
	baseLow, baseHigh int // offsets of the flags in raw
	mariaAt           int
}

// ErrNotMySQL says that what answered is not a MySQL server.
var ErrNotMySQL = errors.New("the backend does not speak the MySQL protocol (no version 10 greeting)")

// ParseGreeting reads the payload of the server's first packet. p is kept.
func ParseGreeting(p []byte) (*Greeting, error) {
	if len(p) > 0 && p[0] == IsErr {
		return nil, ParseErr(p)
	}
	end := bytes.IndexByte(p, 0)
	if len(p) < 1 || p[0] != 10 || end < 2 {
		return nil, ErrNotMySQL
	}
	at := end + 1
	// thread id 4, salt 8, filler 1, flags 2, charset 1, status 2, flags 2, salt length 1, reserved 10
	if len(p) < at+31 {
		return nil, ErrNotMySQL
	}
	g := &Greeting{Version: string(p[1:end]), raw: p}
	g.ThreadID = binary.LittleEndian.Uint32(p[at:])
	g.Salt = append(g.Salt, p[at+4:at+12]...)
	g.baseLow = at + 13
	g.Charset = p[at+15]
	g.Status = binary.LittleEndian.Uint16(p[at+16:])
	g.baseHigh = at + 18
	saltLen := int(p[at+20])
	g.mariaAt = at + 27
	g.Base = uint32(binary.LittleEndian.Uint16(p[g.baseLow:])) | uint32(binary.LittleEndian.Uint16(p[g.baseHigh:]))<<16
	if g.Base&ClientMySQL == 0 {
		g.Maria = binary.LittleEndian.Uint32(p[g.mariaAt:])
	}
	if g.Base&ClientProtocol41 == 0 {
		return nil, fmt.Errorf("%w: protocol older than 4.1", ErrNotMySQL)
	}
	at += 31
	if rest := max(13, saltLen-8); len(p) >= at+rest {
		g.Salt = append(g.Salt, bytes.TrimRight(p[at:at+rest], "\x00")...)
		at += rest
	}
	if at < len(p) {
		g.Plugin = string(bytes.TrimRight(p[at:], "\x00"))
	}
	return g, nil
}

// Mask removes the flags that sluice does not relay, in g and in the packet.
// It returns the payload to send to the client.
func (g *Greeting) Mask() []byte {
	g.Base, g.Maria = Relayed(g.Base, g.Maria)
	binary.LittleEndian.PutUint16(g.raw[g.baseLow:], uint16(g.Base))
	binary.LittleEndian.PutUint16(g.raw[g.baseHigh:], uint16(g.Base>>16))
	if g.Base&ClientMySQL == 0 {
		binary.LittleEndian.PutUint32(g.raw[g.mariaAt:], g.Maria)
	}
	return g.raw
}

// IsMariaDB says whether the server is of the MariaDB family.
func (g *Greeting) IsMariaDB() bool { return strings.Contains(g.Version, "MariaDB") }

// VersionNumber is 101119 for 10.11.19 and 90704 for 9.7.4, 0 if it cannot be read.
func (g *Greeting) VersionNumber() int {
	v := strings.TrimPrefix(g.Version, "5.5.5-")
	var n, part int
	for range 3 {
		end := strings.IndexFunc(v, func(r rune) bool { return r < '0' || r > '9' })
		digits := v
		if end >= 0 {
			digits = v[:end]
		}
		var err error
		if part, err = strconv.Atoi(digits); err != nil {
			return 0
		}
		n = n*100 + part
		v = strings.TrimPrefix(v[len(digits):], ".")
	}
	return n
}

// Login is the client's answer to the greeting (MySQL Internals "HandshakeResponse41").
type Login struct {
	Base, Maria uint32
	Charset     byte
	User        string
	Schema      string
	Plugin      string
	raw         []byte
}

// ErrBadHandshake says that a client's first packet is not a login.
var ErrBadHandshake = errors.New("bad handshake")

// ParseLogin reads the payload of the client's first packet. p is kept.
func ParseLogin(p []byte) (*Login, error) {
	if len(p) < 33 {
		return nil, ErrBadHandshake
	}
	l := &Login{raw: p, Base: binary.LittleEndian.Uint32(p), Charset: p[8]}
	if l.Base&ClientProtocol41 == 0 {
		return nil, ErrBadHandshake
	}
	if l.Base&ClientMySQL == 0 {
		l.Maria = binary.LittleEndian.Uint32(p[28:])
	}
	rest := p[32:]
	var ok bool
	if l.User, rest, ok = cutString(rest); !ok {
		return nil, ErrBadHandshake
	}
	var skip int
	switch {
	case l.Base&ClientAuthLenenc != 0:
		v, n := Lenenc(rest)
		if n == 0 || v > uint64(len(rest)-n) {
			return nil, ErrBadHandshake
		}
		skip = n + int(v)
	case l.Base&ClientSecureConn != 0:
		if len(rest) < 1 || len(rest) < 1+int(rest[0]) {
			return nil, ErrBadHandshake
		}
		skip = 1 + int(rest[0])
	default:
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			return nil, ErrBadHandshake
		}
		skip = end + 1
	}
	rest = rest[skip:]
	if l.Base&ClientConnectWithDB != 0 {
		// Some clients leave the final zero out when nothing follows.
		l.Schema, rest, _ = cutString(rest)
	}
	if l.Base&ClientPluginAuth != 0 {
		l.Plugin, _, _ = cutString(rest)
	}
	return l, nil
}

// Mask removes the flags that the server was not offered with, in l and in the
// packet, and returns the payload to send to the server.
func (l *Login) Mask(offered *Greeting) []byte {
	l.Base &= offered.Base | 1<<30 | ClientConnectWithDB | ClientFoundRows // flags that only the client sets
	l.Maria &= offered.Maria
	binary.LittleEndian.PutUint32(l.raw, l.Base)
	if l.Base&ClientMySQL == 0 && offered.Base&ClientMySQL == 0 {
		binary.LittleEndian.PutUint32(l.raw[28:], l.Maria)
	}
	return l.raw
}

func cutString(p []byte) (s string, rest []byte, ok bool) {
	end := bytes.IndexByte(p, 0)
	if end < 0 {
		return string(p), nil, false
	}
	return string(p[:end]), p[end+1:], true
}

// DeniedLogin is the payload of a login that any server refuses: it ends a
// handshake that the client broke off, so that the server does not count it
// against sluice's host (max_connect_errors).
func DeniedLogin(g *Greeting) []byte {
	p := make([]byte, 32, 96)
	binary.LittleEndian.PutUint32(p, (ClientProtocol41|ClientSecureConn|ClientPluginAuth|ClientMySQL)&(g.Base|ClientMySQL))
	binary.LittleEndian.PutUint32(p[4:], MaxChunk)
	p[8] = g.Charset
	p = append(p, "sluice-broken-handshake\x00"...)
	p = append(p, 0)
	return append(append(p, g.Plugin...), 0)
}
