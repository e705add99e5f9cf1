package rawclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Infile is the client's answer to one LOCAL INFILE request: its packets, then
// the end, unless Abort drops the connection in the middle of a packet.
type Infile struct {
	Packets [][]byte
	Abort   bool
}

// QueueInfile adds the answer to a coming LOCAL INFILE request. Without one
// the client answers with an empty file.
func (c *Client) QueueInfile(f Infile) { c.infiles = append(c.infiles, f) }

// Kind says what a command's reply looks like.
type Kind int

// The kinds of reply.
const (
	QueryReply   Kind = iota // OK, ERR, LOCAL INFILE or result sets
	PrepareReply             // COM_STMT_PREPARE's
	OneReply                 // exactly one packet
	ColumnsReply             // columns up to a terminator: COM_FIELD_LIST
	RowsReply                // rows up to a terminator: COM_STMT_FETCH
	TextReply                // one packet without a header byte: COM_STATISTICS
	AuthReply                // COM_CHANGE_USER's
	NoReply                  // COM_STMT_CLOSE and COM_STMT_SEND_LONG_DATA
	ClosedReply              // the server ends the connection: COM_QUIT
)

// Receive reads the reply to one command, whose sequence numbers go on where
// the command's packets ended. A connection that the server closes is part of
// the reply; other failures are errors.
func (c *Client) Receive(command Command) (Reply, error) {
	parts := len(command.Payload)/MaxPart + 1
	c.seq = byte(parts)
	if c.packed != nil {
		c.packed.expect(len(command.Payload) + 4*parts)
	}
	reply := Reply{}
	err := c.receive(command.Kind, &reply)
	if err != nil && closedByPeer(err) {
		return append(reply, closedLine), nil
	}
	return reply, err
}

func (c *Client) receive(kind Kind, reply *Reply) error {
	c.Progress = nil
	switch kind {
	case NoReply:
		return nil
	case ClosedReply:
		_, payload, err := c.read()
		if err == nil {
			return fmt.Errorf("%w: a packet after the end: %x", ErrSequence, payload)
		}
		return err
	case PrepareReply:
		return c.receivePrepare(reply)
	case AuthReply:
		err := c.finishAuth((*[]string)(reply))
		if errors.Is(err, ErrRefused) {
			return nil
		}
		return err
	case ColumnsReply:
		_, err := c.receiveUntilEnd(reply, func(p []byte) string { return "COLUMN " + quote(p) })
		return err
	case RowsReply:
		_, err := c.receiveUntilEnd(reply, c.describeRow)
		return err
	case TextReply, OneReply:
		seq, payload, err := c.next()
		if err != nil {
			return err
		}
		reply.add(seq, c.describeSingle(kind, payload))
		return nil
	default:
		return c.receiveResults(reply)
	}
}

func (r *Reply) add(seq byte, text string) { *r = append(*r, fmt.Sprintf("%d %s", seq, text)) }

// next reads a packet, gathering the progress reports before it. How many come is a
// matter of time, so seq is what it would be without them.
func (c *Client) next() (byte, []byte, error) {
	for {
		seq, payload, err := c.read()
		if err != nil || !isProgress(payload) {
			return seq - byte(len(c.Progress)), payload, err
		}
		c.Progress = append(c.Progress, describeProgress(payload))
	}
}

func (c *Client) describeSingle(kind Kind, payload []byte) string {
	switch {
	case len(payload) > 0 && payload[0] == 0xFF:
		return c.describeError(payload)
	case kind == TextReply:
		return "TEXT " + quote(payload)
	case len(payload) > 0 && payload[0] == 0x00:
		return c.describeOK(payload)
	case len(payload) == 5 && payload[0] == 0xFE:
		return describeEOF(payload)
	case len(payload) > 0 && payload[0] == 0xFE:
		return "END " + c.describeOK(payload)
	default:
		return "PACKET " + quote(payload)
	}
}

// receiveResults reads one reply after the other while the server says that
// more follow.
func (c *Client) receiveResults(reply *Reply) error {
	for {
		seq, payload, err := c.next()
		if err != nil {
			return err
		}
		end := endOfReply{}
		switch {
		case len(payload) == 0:
			return fmt.Errorf("%w: empty packet instead of a reply", ErrSequence)
		case payload[0] == 0xFF:
			reply.add(seq, c.describeError(payload))
			return nil
		case payload[0] == 0x00:
			reply.add(seq, c.describeOK(payload))
			in := &cursor{rest: payload[1:]}
			in.lenenc()
			in.lenenc()
			end.status = in.u16()
		case payload[0] == 0xFB:
			reply.add(seq, "LOCAL INFILE "+quote(payload[1:]))
			if err := c.sendInfile(); err != nil {
				return err
			}
			continue
		default:
			if end, err = c.receiveSet(seq, payload, reply); err != nil {
				return err
			}
		}
		if end.failed || end.status&statusMoreResults == 0 {
			return nil
		}
	}
}

// receiveSet reads a result set after its first packet.
func (c *Client) receiveSet(seq byte, head []byte, reply *Reply) (endOfReply, error) {
	reply.add(seq, "RESULT "+quote(head))
	c.showsID = false
	in := &cursor{rest: head}
	follow := true
	columns := in.lenenc()
	if c.Caps&(OptionalMetadata|CacheMetadata) != 0 && len(in.rest) > 0 {
		follow = in.u8() == 1
	}
	if follow {
		if err := c.receiveColumns(columns, reply); err != nil {
			return endOfReply{}, err
		}
	}
	if c.Caps&DeprecateEOF == 0 {
		seq, payload, err := c.next()
		if err != nil {
			return endOfReply{}, err
		}
		text, end, ok := c.terminator(payload)
		if !ok {
			return end, fmt.Errorf("%w: %x instead of the columns' end", ErrSequence, payload)
		}
		reply.add(seq, text)
		if end.failed || end.status&statusCursorExists != 0 {
			return end, nil
		}
	}
	return c.receiveUntilEnd(reply, c.describeRow)
}

func (c *Client) receiveColumns(count uint64, reply *Reply) error {
	for range count {
		seq, payload, err := c.next()
		if err != nil {
			return err
		}
		reply.add(seq, "COLUMN "+quote(payload))
		c.showsID = c.showsID || bytes.Contains(bytes.ToLower(payload), []byte("connection_id"))
	}
	return nil
}

func (c *Client) receiveUntilEnd(reply *Reply, describe func([]byte) string) (endOfReply, error) {
	for {
		seq, payload, err := c.next()
		if err != nil {
			return endOfReply{}, err
		}
		if text, end, ok := c.terminator(payload); ok {
			reply.add(seq, text)
			return end, nil
		}
		reply.add(seq, describe(payload))
	}
}

// receivePrepare reads the reply to COM_STMT_PREPARE; the statement's id is
// left to PreparedID, since it may differ between two servers' histories.
func (c *Client) receivePrepare(reply *Reply) error {
	seq, payload, err := c.next()
	if err != nil {
		return err
	}
	if len(payload) == 0 || payload[0] != 0 {
		reply.add(seq, c.describeSingle(OneReply, payload))
		return nil
	}
	in := &cursor{rest: payload[1:]}
	c.preparedID = in.u32()
	columns, params := in.u16(), in.u16()
	reply.add(seq, fmt.Sprintf("PREPARED columns=%d params=%d rest=%x",
		columns, params, in.rest))
	in.take(3) // filler and warnings
	follow := c.Caps&OptionalMetadata == 0 || in.u8() == 1
	for _, count := range []uint16{params, columns} {
		if count == 0 {
			continue
		}
		if follow {
			if err := c.receiveColumns(uint64(count), reply); err != nil {
				return err
			}
		}
		if c.Caps&DeprecateEOF == 0 {
			seq, payload, err := c.next()
			if err != nil {
				return err
			}
			reply.add(seq, describeEOF(payload))
		}
	}
	return nil
}

// sendInfile answers a LOCAL INFILE request with the next queued file.
func (c *Client) sendInfile() error {
	var file Infile
	if len(c.infiles) > 0 {
		file, c.infiles = c.infiles[0], c.infiles[1:]
	}
	if !file.Abort {
		return c.write(append(file.Packets, nil)...)
	}
	if err := c.write(file.Packets...); err != nil {
		return err
	}
	if _, err := c.conn.Write([]byte{100, 0, 0, c.seq, 'x'}); err != nil {
		return fmt.Errorf("write part of a packet: %w", err)
	}
	if err := c.conn.Close(); err != nil {
		return fmt.Errorf("drop the connection: %w", err)
	}
	return io.ErrUnexpectedEOF
}
