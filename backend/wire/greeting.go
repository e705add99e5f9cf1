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
	TLS      bool   // the server offers it
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
	g.TLS = g.Base&ClientSSL != 0
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

// Mask removes the flags that sluice does not relay, in g and in the packet, and
// offers TLS or not, and compression. It returns the payload to send to the client.
func (g *Greeting) Mask(tls bool, compression Algorithm) []byte {
	g.Base, g.Maria = Relayed(g.Base, g.Maria)
	if tls {
		g.Base |= ClientSSL
	}
	g.Base |= compression.caps()
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
	Algorithms  Algorithm // of compression, that the client asks for
	ZstdLevel   int       // 0 if not said
	answer

	levelAt int // of its byte in the payload, 0 if there is none
}

// ErrBadHandshake says that a client's first packet is not a login.
var ErrBadHandshake = errors.New("bad handshake")

// requestLen is the length of an SSLRequest's payload, which a login begins with too.
const requestLen = 32

// IsSSLRequest says whether a client's first packet asks for TLS (MySQL Internals
// "SSLRequest"). As on a server, what follows the flags does not matter.
func IsSSLRequest(p []byte) bool {
	const flags = ClientSSL | ClientProtocol41
	return len(p) >= requestLen && binary.LittleEndian.Uint32(p)&flags == flags
}

// ParseLogin reads the payload of the client's first packet. p is kept.
func ParseLogin(p []byte) (*Login, error) {
	if len(p) < requestLen+1 {
		return nil, ErrBadHandshake
	}
	l := &Login{Base: binary.LittleEndian.Uint32(p), Charset: p[8]}
	if l.Base&ClientProtocol41 == 0 {
		return nil, ErrBadHandshake
	}
	if l.Base&ClientMySQL == 0 {
		l.Maria = binary.LittleEndian.Uint32(p[28:])
	}
	f := fields{raw: p, at: requestLen}
	l.User = f.text()
	l.raw, l.from = p, f.at
	switch {
	case l.Base&ClientAuthLenenc != 0:
		l.Response = f.lenencBytes()
	case l.Base&ClientSecureConn != 0:
		l.Response = f.shortBytes()
	default:
		l.Response = []byte(f.text())
	}
	l.to = f.at
	if f.failed {
		return nil, ErrBadHandshake
	}
	if l.Base&ClientConnectWithDB != 0 {
		// Some clients leave the final zero out when nothing follows.
		l.Schema = f.text()
	}
	l.named(&f, l.Base)
	if l.Base&ClientConnectAttrs != 0 {
		f.lenencBytes()
	}
	l.Algorithms = algorithms(l.Base)
	if l.Base&ClientZstd != 0 {
		if p := f.skip(1); p != nil {
			l.levelAt, l.ZstdLevel = f.at-1, int(p[0])
		}
	}
	return l, nil
}

// Mask removes the flags that the server was not offered with, in l and in the
// packet, sets the one for TLS to the server or not, and returns the payload to send to
// it. The link to the server is not compressed.
func (l *Login) Mask(offered *Greeting, tls bool) []byte {
	l.Base &= offered.Base | 1<<30 | ClientConnectWithDB | ClientFoundRows // flags that only the client sets
	l.Base &^= ClientSSL | ClientCompress | ClientZstd
	if l.levelAt > 0 {
		l.raw, l.levelAt = l.raw[:l.levelAt], 0
	}
	if tls {
		l.Base |= ClientSSL
	}
	l.Maria &= offered.Maria
	binary.LittleEndian.PutUint32(l.raw, l.Base)
	if l.Base&ClientMySQL == 0 && offered.Base&ClientMySQL == 0 {
		binary.LittleEndian.PutUint32(l.raw[28:], l.Maria)
	}
	return l.raw
}

// SSLRequest is the packet that asks for TLS before a login whose payload is given. It
// has the same flags: MySQL reads them only once.
func SSLRequest(login []byte) []byte { return AppendPacket(nil, 1, login[:requestLen]) }
