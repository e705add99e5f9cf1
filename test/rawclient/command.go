package rawclient

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Command bytes.
// https://dev.mysql.com/doc/dev/mysql-server/latest/my__command_8h.html
const (
	ComQuit           byte = 0x01
	ComInitDB         byte = 0x02
	ComQuery          byte = 0x03
	ComFieldList      byte = 0x04
	ComStatistics     byte = 0x09
	ComProcessInfo    byte = 0x0A
	ComPing           byte = 0x0E
	ComChangeUser     byte = 0x11
	ComBinlogDump     byte = 0x12
	ComRegisterSlave  byte = 0x15
	ComPrepare        byte = 0x16
	ComExecute        byte = 0x17
	ComLongData       byte = 0x18
	ComClose          byte = 0x19
	ComReset          byte = 0x1A
	ComSetOption      byte = 0x1B
	ComFetch          byte = 0x1C
	ComResetSession   byte = 0x1F
	ComBulkExecute    byte = 0xFA // MariaDB
	LastPrepared           = 0xFFFFFFFF
	cursorReadOnly    byte = 1
	paramCountPresent byte = 8
)

// Command is a payload and the kind of reply to it.
type Command struct {
	Payload []byte
	Kind    Kind
}

// Do sends a command and reads its reply.
func (c *Client) Do(command Command) (Reply, error) {
	if err := c.Send(command); err != nil {
		if closedByPeer(err) {
			return Reply{closedLine}, nil
		}
		return nil, err
	}
	return c.Receive(command)
}

// Send writes commands in one piece without reading anything.
func (c *Client) Send(commands ...Command) error {
	var framed []byte
	if err := c.conn.SetWriteDeadline(time.Now().Add(Deadline)); err != nil {
		return fmt.Errorf("set deadline: %w", err)
	}
	for i, command := range commands {
		seq := byte(0)
		framed = frame(framed, &seq, command.Payload)
		if c.packed != nil {
			c.packed.restart()
		} else if i < len(commands)-1 {
			continue
		}
		if _, err := c.conn.Write(framed); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		framed = framed[:0]
	}
	return nil
}

// Query is COM_QUERY, with no attributes where those are agreed on.
func (c *Client) Query(sql []byte) Command {
	payload := []byte{ComQuery}
	if c.Caps&QueryAttributes != 0 {
		payload = append(payload, 0, 1)
	}
	return Command{Payload: append(payload, sql...), Kind: QueryReply}
}

// Simple is a command of one byte and a rest.
func Simple(code byte, kind Kind, rest ...byte) Command {
	return Command{Payload: append([]byte{code}, rest...), Kind: kind}
}

// PreparedID is the id in the newest reply to Prepare.
func (c *Client) PreparedID() uint32 { return c.preparedID }

func onStatement(code byte, kind Kind, id uint32, rest ...byte) Command {
	payload := binary.LittleEndian.AppendUint32([]byte{code}, id)
	return Command{Payload: append(payload, rest...), Kind: kind}
}

// Prepare is COM_STMT_PREPARE.
func Prepare(sql []byte) Command { return Simple(ComPrepare, PrepareReply, sql...) }

// CloseStatement is COM_STMT_CLOSE.
func CloseStatement(id uint32) Command { return onStatement(ComClose, NoReply, id) }

// ResetStatement is COM_STMT_RESET.
func ResetStatement(id uint32) Command { return onStatement(ComReset, OneReply, id) }

// LongData is COM_STMT_SEND_LONG_DATA.
func LongData(id uint32, param uint16, data []byte) Command {
	rest := binary.LittleEndian.AppendUint16(nil, param)
	return onStatement(ComLongData, NoReply, id, append(rest, data...)...)
}

// Fetch is COM_STMT_FETCH.
func Fetch(id, rows uint32) Command {
	return onStatement(ComFetch, RowsReply, id, binary.LittleEndian.AppendUint32(nil, rows)...)
}

// Param is one parameter of COM_STMT_EXECUTE: its type, unsigned flag and its
// value in wire form. Long parameters were sent before by LongData.
type Param struct {
	Type     byte
	Unsigned bool
	Null     bool
	Long     bool
	Value    []byte
}

// Execute is COM_STMT_EXECUTE. Without bind the types of the execution before
// hold.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html
func (c *Client) Execute(id uint32, cursor, bind bool, params []Param) Command {
	flags := byte(0)
	if cursor {
		flags = cursorReadOnly
	}
	attributes := c.Caps&QueryAttributes != 0
	if attributes {
		flags |= paramCountPresent
	}
	rest := []byte{flags, 1, 0, 0, 0}
	if attributes {
		rest = appendLenenc(rest, uint64(len(params)))
	}
	if len(params) > 0 {
		nulls := make([]byte, (len(params)+7)/8)
		for i, p := range params {
			if p.Null {
				nulls[i/8] |= 1 << (i % 8)
			}
		}
		rest = append(rest, nulls...)
		rest = append(rest, boolByte(bind))
		if bind {
			for _, p := range params {
				rest = append(rest, p.Type, boolByte(p.Unsigned)<<7)
				if attributes {
					rest = append(rest, 0) // no name
				}
			}
		}
		for _, p := range params {
			if !p.Null && !p.Long {
				rest = append(rest, p.Value...)
			}
		}
	}
	return onStatement(ComExecute, QueryReply, id, rest...)
}

// BulkExecute is MariaDB's COM_STMT_BULK_EXECUTE with types sent.
// https://mariadb.com/kb/en/com_stmt_bulk_execute/
func BulkExecute(id uint32, rows [][]Param) Command {
	rest := []byte{128, 0}
	for _, p := range rows[0] {
		rest = append(rest, p.Type, boolByte(p.Unsigned)<<7)
	}
	for _, row := range rows {
		for _, p := range row {
			rest = append(rest, boolByte(p.Null)) // the indicator: 0 a value, 1 NULL
			if !p.Null {
				rest = append(rest, p.Value...)
			}
		}
	}
	return onStatement(ComBulkExecute, QueryReply, id, rest...)
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// ChangeUser is COM_CHANGE_USER with the plug-in that is in force; UsePlugin changes it.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_change_user.html
func (c *Client) ChangeUser(user, password, schema string) Command {
	c.password = password
	rest := append([]byte(user), 0)
	answer := c.firstAnswer()
	rest = append(append(rest, byte(len(answer))), answer...)
	rest = append(append(rest, schema...), 0)
	rest = append(rest, 45, 0)
	if c.Caps&PluginAuth != 0 {
		rest = append(append(rest, c.plugin...), 0)
	}
	if c.Caps&ConnectAttrs != 0 {
		rest = appendString(rest, connectAttrs())
	}
	return Simple(ComChangeUser, AuthReply, rest...)
}
