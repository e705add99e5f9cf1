package wire

import (
	"encoding/binary"
	"fmt"
)

// MaxChunk is the largest payload of one packet on the wire. A longer payload,
// or one of exactly this length, goes on in the next packet (MySQL Internals
// "Sending More Than 16Mb").
const MaxChunk = 1<<24 - 1

// headerLen is the length of a packet's header: three bytes length, one sequence id.
const headerLen = 4

// First bytes of a reply.
const (
	IsOK     byte = 0x00
	IsMore   byte = 0x01
	IsInfile byte = 0xfb
	IsEOF    byte = 0xfe
	IsErr    byte = 0xff

	IsNextFactor byte = 0x02 // in an authentication
)

// OK holds the fields of an OK packet that sluice reads or writes.
type OK struct {
	Affected uint64
	InsertID uint64
	Status   uint16
	Warnings uint16
	Info     string
}

// AppendOK appends an OK packet with the given sequence id.
// With session tracking the info is a length-encoded string, else the rest of the packet.
func AppendOK(dst []byte, seq byte, ok *OK, caps Caps) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, seq, IsOK)
	dst = AppendLenenc(dst, ok.Affected)
	dst = AppendLenenc(dst, ok.InsertID)
	dst = binary.LittleEndian.AppendUint16(dst, ok.Status)
	dst = binary.LittleEndian.AppendUint16(dst, ok.Warnings)
	if ok.Info != "" {
		if caps.Base&ClientSessionTrack != 0 {
			dst = AppendLenenc(dst, uint64(len(ok.Info)))
		}
		dst = append(dst, ok.Info...)
	}
	return closePacket(dst, at)
}

// AppendErr appends an ERR packet. In place of a greeting (sequence id 0) it has no
// SQLSTATE: nothing has been agreed on yet, and MySQL's client takes it for text.
func AppendErr(dst []byte, seq byte, e *Error) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, seq, IsErr)
	dst = binary.LittleEndian.AppendUint16(dst, e.Code)
	if seq == 0 {
		return closePacket(append(dst, e.Message...), at)
	}
	state := e.State
	if len(state) != 5 {
		state = "HY000"
	}
	dst = append(dst, '#')
	dst = append(dst, state...)
	return closePacket(append(dst, e.Message...), at)
}

// AppendPacket appends payload as a packet; it must be shorter than MaxChunk.
func AppendPacket(dst []byte, seq byte, payload []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, seq)
	return closePacket(append(dst, payload...), at)
}

// closePacket writes the length into the header that starts at at.
func closePacket(dst []byte, at int) []byte {
	n := len(dst) - at - headerLen
	dst[at], dst[at+1], dst[at+2] = byte(n), byte(n>>8), byte(n>>16)
	return dst
}

// AppendLenenc appends a length-encoded integer.
func AppendLenenc(dst []byte, v uint64) []byte {
	switch {
	case v < 251:
		return append(dst, byte(v))
	case v < 1<<16:
		return append(dst, 0xfc, byte(v), byte(v>>8))
	case v < 1<<24:
		return append(dst, 0xfd, byte(v), byte(v>>8), byte(v>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xfe), v)
}

// Lenenc reads a length-encoded integer; n is 0 if b does not hold a whole one.
func Lenenc(b []byte) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	size := 0
	switch b[0] {
	case 0xfc:
		size = 2
	case 0xfd:
		size = 3
	case 0xfe:
		size = 8
	case 0xfb, 0xff:
		return 0, 0
	default:
		return uint64(b[0]), 1
	}
	if len(b) < 1+size {
		return 0, 0
	}
	for i := size; i > 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v, 1 + size
}

// ParseOK reads the fixed part of an OK packet, also of the one with header
// 0xFE that ends a result set.
func ParseOK(p []byte) (OK, error) {
	var ok OK
	if len(p) < 1 {
		return ok, fmt.Errorf("OK packet of %d bytes", len(p))
	}
	at := 1
	var n int
	if ok.Affected, n = Lenenc(p[at:]); n == 0 {
		return ok, fmt.Errorf("OK packet: bad row count")
	}
	at += n
	if ok.InsertID, n = Lenenc(p[at:]); n == 0 {
		return ok, fmt.Errorf("OK packet: bad insert id")
	}
	at += n
	if len(p) < at+4 {
		return ok, fmt.Errorf("OK packet of %d bytes", len(p))
	}
	ok.Status = binary.LittleEndian.Uint16(p[at:])
	ok.Warnings = binary.LittleEndian.Uint16(p[at+2:])
	return ok, nil
}

// ParseErr reads an ERR packet.
func ParseErr(p []byte) *Error {
	e := &Error{State: "HY000"}
	if len(p) < 3 {
		e.Message = "malformed ERR packet"
		return e
	}
	e.Code = binary.LittleEndian.Uint16(p[1:])
	p = p[3:]
	if len(p) >= 6 && p[0] == '#' {
		e.State = string(p[1:6])
		p = p[6:]
	}
	e.Message = string(p)
	return e
}
