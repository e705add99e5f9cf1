package rawclient

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Reply is the decoded packets of the answer to one command.
type Reply []string

func (r Reply) String() string { return strings.Join(r, "\n") }

// Failed reports whether an error packet or the connection's end is among the
// packets.
func (r Reply) Failed() bool {
	for _, line := range r {
		if line == closedLine || strings.Contains(line, " ERR ") {
			return true
		}
	}
	return false
}

const closedLine = "connection closed"

// quote shows bytes exactly; long ones by length and hash.
func quote(b []byte) string {
	if len(b) > 400 {
		return fmt.Sprintf("%d bytes, sha256 %x", len(b), sha256.Sum256(b))
	}
	return strconv.QuoteToASCII(string(b))
}

// describeOK decodes an OK packet with header 0x00 or 0xFE.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_ok_packet.html
func (c *Client) describeOK(payload []byte) string {
	in := &cursor{rest: payload[1:]}
	affected, id := in.lenenc(), in.lenenc()
	status, warnings := in.u16(), in.u16()
	out := fmt.Sprintf("OK affected=%d id=%d status=%04x warnings=%d", affected, id, status, warnings)
	if c.Caps&SessionTrack != 0 {
		if len(in.rest) > 0 {
			out += " info=" + quote(in.lenencString())
		}
		if status&statusTrack != 0 {
			out += " track=" + quote(in.lenencString())
		}
	} else {
		out += " info=" + quote(in.take(len(in.rest)))
	}
	if in.failed || len(in.rest) > 0 {
		out += fmt.Sprintf(" MALFORMED %x", payload)
	}
	return out
}

func (c *Client) describeError(payload []byte) string {
	in := &cursor{rest: payload[1:]}
	code := in.u16()
	state := ""
	if len(in.rest) > 0 && in.rest[0] == '#' {
		state = string(in.take(6)[1:])
	}
	text := statementID.ReplaceAll(in.rest, []byte("$1(id)"))
	return fmt.Sprintf("ERR %d %s %s", code, state, strconv.QuoteToASCII(string(text)))
}

// describeEarlyError decodes an error instead of a greeting: nothing is agreed
// on yet, so it has no SQL state, and clients take all the rest for its text.
func describeEarlyError(payload []byte) string {
	in := &cursor{rest: payload[1:]}
	return fmt.Sprintf("ERR %d %s", in.u16(), strconv.QuoteToASCII(string(in.rest)))
}

// statementID finds the id of a prepared statement in MariaDB's messages: it
// depends on what else was prepared, like the id in the reply itself.
var statementID = regexp.MustCompile(`(statement |handler )\(\d+\)`)

func describeEOF(payload []byte) string {
	in := &cursor{rest: payload[1:]}
	return fmt.Sprintf("EOF warnings=%d status=%04x", in.u16(), in.u16())
}

// describeRow shows a row, with the connection's own thread id masked in a column that is
// named after CONNECTION_ID(): it differs from run to run, and a client must see its own.
func (c *Client) describeRow(payload []byte) string {
	own := strconv.Itoa(int(c.Greeting.ThreadID))
	if c.showsID && string(payload) == string(appendString(nil, []byte(own))) {
		return "ROW own thread id"
	}
	return "ROW " + quote(payload)
}

// endOfReply is what a terminator says about what follows.
type endOfReply struct {
	status uint16
	failed bool
}

// terminator decodes the packet that ends rows or columns, if it is one.
func (c *Client) terminator(payload []byte) (string, endOfReply, bool) {
	switch {
	case len(payload) > 0 && payload[0] == 0xFF:
		return c.describeError(payload), endOfReply{failed: true}, true
	case len(payload) == 0 || payload[0] != 0xFE:
		return "", endOfReply{}, false
	case c.Caps&DeprecateEOF != 0 && len(payload) < MaxPart:
		in := &cursor{rest: payload[1:]}
		in.lenenc()
		in.lenenc()
		return "END " + c.describeOK(payload), endOfReply{status: in.u16()}, true
	case c.Caps&DeprecateEOF == 0 && len(payload) < 9:
		in := &cursor{rest: payload[1:]}
		in.u16()
		return describeEOF(payload), endOfReply{status: in.u16()}, true
	}
	return "", endOfReply{}, false
}

// describeProgress decodes a progress report but for how far the stage is, a matter of time.
func describeProgress(payload []byte) string {
	in := &cursor{rest: payload[3:]}
	count, stage, stages := in.u8(), in.u8(), in.u8()
	in.take(3) // how far, in thousandths of a percent
	out := fmt.Sprintf("stage %d of %d: %s", stage, stages, in.lenencString())
	if in.failed || len(in.rest) > 0 || count != 1 {
		out += fmt.Sprintf(" MALFORMED %x", payload)
	}
	return out
}

// isProgress recognises MariaDB's progress report, which may come at any time.
// https://mariadb.com/kb/en/err_packet/
func isProgress(payload []byte) bool {
	return len(payload) > 3 && payload[0] == 0xFF && payload[1] == 0xFF && payload[2] == 0xFF
}
