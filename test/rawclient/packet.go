package rawclient

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"
)

// MaxPart is the most that one packet header can describe; a payload of this
// size or more goes on in the next packet.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html
const MaxPart = 1<<24 - 1

// Deadline is how long one reply may take before it counts as a hang.
const Deadline = 60 * time.Second

// ErrSequence says that a packet came out of turn.
var ErrSequence = errors.New("packet out of sequence")

// write sends payloads, each in as many packets as it needs, at once, the first with
// the connection's next sequence number. Under compression client libraries go on from
// the number of the compressed packet instead, which nobody checks, and so does this.
func (c *Client) write(payloads ...[]byte) error {
	var framed []byte
	first := c.seq
	if c.packed != nil {
		first = c.packed.next
	}
	seq := first
	for _, payload := range payloads {
		framed = frame(framed, &seq, payload)
	}
	c.seq += seq - first
	if err := c.conn.SetWriteDeadline(time.Now().Add(Deadline)); err != nil {
		return fmt.Errorf("set deadline: %w", err)
	}
	if _, err := c.conn.Write(framed); err != nil {
		return fmt.Errorf("write packet: %w", err)
	}
	return nil
}

// frame appends the payload with its headers.
func frame(out []byte, seq *byte, payload []byte) []byte {
	out = slices.Grow(out, len(payload)+4*(len(payload)/MaxPart+1))
	for {
		part := payload[:min(len(payload), MaxPart)]
		out = append(out, byte(len(part)), byte(len(part)>>8), byte(len(part)>>16), *seq)
		out = append(out, part...)
		*seq++
		payload = payload[len(part):]
		if len(part) < MaxPart {
			return out
		}
	}
}

// read returns the next payload, joined from its parts, and the sequence
// number of its first part.
func (c *Client) read() (seq byte, payload []byte, err error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(Deadline)); err != nil {
		return 0, nil, fmt.Errorf("set deadline: %w", err)
	}
	first := c.seq
	for {
		var header [4]byte
		if _, err := io.ReadFull(c.reader, header[:]); err != nil {
			return 0, nil, fmt.Errorf("read header: %w", err)
		}
		if header[3] != c.seq && c.packed == nil {
			return 0, nil, fmt.Errorf("%w: got %d, want %d", ErrSequence, header[3], c.seq)
		}
		c.seq++
		size := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
		start := len(payload)
		payload = append(payload, make([]byte, size)...)
		if _, err := io.ReadFull(c.reader, payload[start:]); err != nil {
			return 0, nil, fmt.Errorf("read payload: %w", err)
		}
		if size < MaxPart {
			return first, payload, nil
		}
	}
}

// cursor takes fields off a payload. After the first short read everything
// else is zero and failed is set.
type cursor struct {
	rest   []byte
	failed bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.failed = true
		c.rest = nil
		return make([]byte, max(0, min(n, 8)))
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *cursor) u8() byte    { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }

// lenenc reads a length-encoded integer.
func (c *cursor) lenenc() uint64 {
	switch first := c.u8(); first {
	case 0xFC:
		return uint64(c.u16())
	case 0xFD:
		b := c.take(3)
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	case 0xFE:
		return binary.LittleEndian.Uint64(c.take(8))
	default:
		return uint64(first)
	}
}

func (c *cursor) lenencString() []byte { return c.take(int(c.lenenc())) }

// nulString reads up to a zero byte, or to the end if there is none.
func (c *cursor) nulString() []byte {
	for i, b := range c.rest {
		if b == 0 {
			s := c.rest[:i]
			c.rest = c.rest[i+1:]
			return s
		}
	}
	return c.take(len(c.rest))
}

// appendLenenc appends a length-encoded integer.
func appendLenenc(out []byte, n uint64) []byte {
	switch {
	case n < 0xFB:
		return append(out, byte(n))
	case n < 1<<16:
		return append(out, 0xFC, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(out, 0xFD, byte(n), byte(n>>8), byte(n>>16))
	default:
		return binary.LittleEndian.AppendUint64(append(out, 0xFE), n)
	}
}

// LenencString is a string with its length before it, as parameters are sent.
func LenencString(s []byte) []byte { return appendString(nil, s) }

// appendString appends a length-encoded string.
func appendString(out, s []byte) []byte {
	return append(appendLenenc(out, uint64(len(s))), s...)
}

// closedByPeer tells an ended connection from a hang or a protocol error.
func closedByPeer(err error) bool {
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return false
	}
	return !errors.Is(err, ErrSequence)
}
