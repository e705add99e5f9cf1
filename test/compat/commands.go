package compat

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sluice-db/sluice/test/rawclient"
)

// verbs is what the directives of a body do.
var verbs map[string]func(p *player, st step) error

func init() { // not a literal: a verb looks verbs up
	verbs = map[string]func(p *player, st step) error{
		"query":        query,
		"conn":         func(p *player, st step) error { return p.use(st.args) },
		"cmd":          command,
		"prepare":      prepare,
		"execute":      execute,
		"long":         longData,
		"fetch":        fetch,
		"bulk":         bulk,
		"reset":        onStatement(rawclient.ResetStatement),
		"close":        onStatement(rawclient.CloseStatement),
		"infile":       infile,
		"infile-abort": infileAbort,
		"pipeline":     func(p *player, _ step) error { p.piping = true; return nil },
		"end":          func(p *player, _ step) error { return p.endPipeline() },
		"attributes":   attributes,
		"mask":         func(p *player, _ step) error { p.mask = true; return nil },
		"sleep":        sleep,
	}
}

func query(p *player, st step) error {
	sql := p.text(st.args)
	c := rawclient.Command{}
	if p.conn != nil {
		c = p.conn.Query(sql)
	}
	return p.do(pending{step: st, insert: isInsert(sql), command: c})
}

// command is any command that has no verb of its own:
//
//	ping, statistics, process_info, reset_connection, quit
//	init_db SCHEMA, field_list TABLE [PATTERN], set_option N
//	change_user USER PASSWORD SCHEMA     "-" stands for an empty one
//	raw HEX                              one reply packet
//	raw_query HEX                        a reply like COM_QUERY's; and others, see rawReplies
func command(p *player, st step) error {
	words := strings.Fields(strings.ReplaceAll(st.args, "$S", p.schema))
	name, args := words[0], words[1:]
	c, err := p.simpleCommand(name, args)
	if err != nil {
		return err
	}
	return p.do(pending{step: st, command: c})
}

func (p *player) simpleCommand(name string, args []string) (rawclient.Command, error) {
	one := func(code byte, rest ...byte) (rawclient.Command, error) {
		return rawclient.Simple(code, rawclient.OneReply, rest...), nil
	}
	switch name {
	case "ping":
		return one(rawclient.ComPing)
	case "reset_connection":
		return one(rawclient.ComResetSession)
	case "statistics":
		return rawclient.Simple(rawclient.ComStatistics, rawclient.TextReply), nil
	case "process_info":
		return rawclient.Simple(rawclient.ComProcessInfo, rawclient.QueryReply), nil
	case "quit":
		return rawclient.Simple(rawclient.ComQuit, rawclient.ClosedReply), nil
	case "init_db":
		return one(rawclient.ComInitDB, []byte(strings.Join(args, " "))...)
	case "field_list":
		rest := append([]byte(args[0]), 0)
		for _, pattern := range args[1:] {
			rest = append(rest, pattern...)
		}
		return rawclient.Simple(rawclient.ComFieldList, rawclient.ColumnsReply, rest...), nil
	case "set_option":
		n, err := strconv.ParseUint(args[0], 10, 16)
		if err != nil {
			return rawclient.Command{}, err
		}
		return one(rawclient.ComSetOption, byte(n), byte(n>>8))
	case "change_user":
		for i := range args {
			args[i] = strings.TrimPrefix(args[i], "-")
		}
		return p.conn.ChangeUser(args[0], args[1], args[2]), nil
	}
	kind, ok := rawReplies[name]
	if !ok {
		return rawclient.Command{}, fmt.Errorf("unknown command %q", name)
	}
	payload, err := hex.DecodeString(strings.Join(args, ""))
	return rawclient.Command{Payload: payload, Kind: kind}, err
}

// rawReplies are the replies to commands that are given as bytes.
var rawReplies = map[string]rawclient.Kind{
	"raw":         rawclient.OneReply,
	"raw_query":   rawclient.QueryReply,
	"raw_prepare": rawclient.PrepareReply,
	"raw_columns": rawclient.ColumnsReply,
	"raw_rows":    rawclient.RowsReply,
	"raw_text":    rawclient.TextReply,
	"raw_none":    rawclient.NoReply,
	"raw_closed":  rawclient.ClosedReply,
}

func prepare(p *player, st step) error {
	name, sql, _ := strings.Cut(st.args, " ")
	text := p.text(sql)
	s := &statement{insert: isInsert(text)}
	p.statements[name] = s
	return p.do(pending{step: st, command: rawclient.Prepare(text), prepare: s})
}

// named splits "NAME rest" and finds the statement. In a pipeline the id is
// not known yet: MariaDB takes -1 for the newest one.
func (p *player) named(args string) (*statement, uint32, string, error) {
	name, rest, _ := strings.Cut(args, " ")
	s := p.statements[name]
	if s == nil {
		return nil, 0, "", fmt.Errorf("no statement %q was prepared", name)
	}
	if p.piping && s.id == 0 {
		return s, rawclient.LastPrepared, rest, nil
	}
	return s, s.id, rest, nil
}

// execute takes parameters separated by " | "; "cursor" before them opens one,
// "nobind" leaves the types out.
func execute(p *player, st step) error {
	s, id, rest, err := p.named(st.args)
	if err != nil {
		return err
	}
	cursor, bind := false, true
	if after, ok := strings.CutPrefix(rest, "cursor"); ok {
		cursor, rest = true, strings.TrimSpace(after)
	}
	if after, ok := strings.CutPrefix(rest, "nobind"); ok {
		bind, rest = false, strings.TrimSpace(after)
	}
	params, err := p.params(rest)
	if err != nil {
		return err
	}
	return p.do(pending{step: st, insert: s.insert, command: p.conn.Execute(id, cursor, bind, params)})
}

func bulk(p *player, st step) error {
	s, id, rest, err := p.named(st.args)
	if err != nil {
		return err
	}
	var rows [][]cell
	for row := range strings.SplitSeq(rest, " || ") {
		cells, err := p.cells(row)
		if err != nil {
			return err
		}
		rows = append(rows, cells)
	}
	return p.do(pending{step: st, insert: s.insert, command: bulkExecute(id, rows)})
}

// bulkExecute is MariaDB's COM_STMT_BULK_EXECUTE with an indicator before each value: 0 a
// value follows, 1 NULL, 2 DEFAULT, 3 the column is left as it is.
// https://mariadb.com/kb/en/com_stmt_bulk_execute/
func bulkExecute(id uint32, rows [][]cell) rawclient.Command {
	const sendTypes = 128
	payload := binary.LittleEndian.AppendUint32([]byte{rawclient.ComBulkExecute}, id)
	payload = append(payload, sendTypes, 0)
	for _, c := range rows[0] {
		payload = append(payload, c.Type, 0)
	}
	for _, row := range rows {
		for _, c := range row {
			payload = append(payload, c.indicator)
			if c.indicator == 0 {
				payload = append(payload, c.Value...)
			}
		}
	}
	return rawclient.Command{Payload: payload, Kind: rawclient.QueryReply}
}

// cell is a value of a bulk execution.
type cell struct {
	rawclient.Param
	indicator byte
}

// cells reads a row of a bulk execution: parameters, or default and ignore.
func (p *player) cells(row string) ([]cell, error) {
	var out []cell
	for field := range strings.SplitSeq(row, " | ") {
		var c cell
		switch field = strings.TrimSpace(field); field {
		case "default":
			c.indicator = 2
		case "ignore":
			c.indicator = 3
		default:
			params, err := p.params(field)
			if err != nil {
				return nil, err
			}
			if c.Param = params[0]; c.Null {
				c.indicator = 1
			}
		}
		out = append(out, c)
	}
	return out, nil
}

func longData(p *player, st step) error {
	_, id, rest, err := p.named(st.args)
	if err != nil {
		return err
	}
	number, data, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return err
	}
	return p.do(pending{step: st, command: rawclient.LongData(id, uint16(n), p.text(data))})
}

func fetch(p *player, st step) error {
	_, id, rest, err := p.named(st.args)
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(rest, 10, 32)
	if err != nil {
		return err
	}
	return p.do(pending{step: st, command: rawclient.Fetch(id, uint32(n))})
}

// attributes is a COM_QUERY with attributes: NAME=VALUE NAME=VALUE : SQL. They stand
// before the text as the parameters of an execution do.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query.html
func attributes(p *player, st step) error {
	named, sql, _ := strings.Cut(st.args, " : ")
	pairs := strings.Fields(named)
	payload := []byte{rawclient.ComQuery, byte(len(pairs)), 1}
	payload = append(payload, make([]byte, (len(pairs)+7)/8)...)
	payload = append(payload, 1)
	var values []byte
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		payload = append(payload, stringTypes["string"], 0)
		payload = append(payload, rawclient.LenencString([]byte(name))...)
		values = append(values, rawclient.LenencString(p.text(value))...)
	}
	text := p.text(sql)
	payload = append(append(payload, values...), text...)
	command := rawclient.Command{Payload: payload, Kind: rawclient.QueryReply}
	return p.do(pending{step: st, insert: isInsert(text), command: command})
}

func onStatement(build func(id uint32) rawclient.Command) func(*player, step) error {
	return func(p *player, st step) error {
		_, id, _, err := p.named(st.args)
		if err != nil {
			return err
		}
		return p.do(pending{step: st, command: build(id)})
	}
}

func infile(p *player, st step) error {
	file := rawclient.Infile{}
	for packet := range strings.SplitSeq(st.args, "|") {
		if raw := p.text(packet); len(raw) > 0 {
			file.Packets = append(file.Packets, raw)
		}
	}
	p.conn.QueueInfile(file)
	return nil
}

func infileAbort(p *player, st step) error {
	p.conn.QueueInfile(rawclient.Infile{Packets: [][]byte{p.text(st.args)}, Abort: true})
	return nil
}

// params reads parameters: null, long, or TYPE=VALUE with a type of simpleType
// or "tXX" for type byte XX and the value in wire form.
func (p *player) params(text string) ([]rawclient.Param, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var params []rawclient.Param
	for field := range strings.SplitSeq(text, " | ") {
		kind, value, _ := strings.Cut(strings.TrimLeft(field, " "), "=")
		param, err := parseParam(kind, p.text(value))
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", field, err)
		}
		params = append(params, param)
	}
	return params, nil
}

var stringTypes = map[string]byte{"str": 0xFD, "varchar": 0x0F, "string": 0xFE, "blob": 0xFC}

func parseParam(kind string, value []byte) (rawclient.Param, error) {
	if code, ok := stringTypes[kind]; ok {
		return rawclient.Param{Type: code, Value: rawclient.LenencString(value)}, nil
	}
	number := func(code byte, size int, unsigned bool) (rawclient.Param, error) {
		var n uint64
		var err error
		if unsigned {
			n, err = strconv.ParseUint(string(value), 10, 64)
		} else {
			var signed int64
			signed, err = strconv.ParseInt(string(value), 10, 64)
			n = uint64(signed)
		}
		return rawclient.Param{
			Type: code, Unsigned: unsigned,
			Value: binary.LittleEndian.AppendUint64(nil, n)[:size],
		}, err
	}
	switch kind {
	case "null":
		return rawclient.Param{Type: 0x06, Null: true}, nil
	case "long":
		return rawclient.Param{Type: 0xFC, Long: true}, nil
	case "tiny":
		return number(0x01, 1, false)
	case "short":
		return number(0x02, 2, false)
	case "int":
		return number(0x03, 4, false)
	case "bigint":
		return number(0x08, 8, false)
	case "ubigint":
		return number(0x08, 8, true)
	case "float":
		f, err := strconv.ParseFloat(string(value), 32)
		return rawclient.Param{
			Type:  0x04,
			Value: binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f))),
		}, err
	case "double":
		f, err := strconv.ParseFloat(string(value), 64)
		return rawclient.Param{
			Type:  0x05,
			Value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)),
		}, err
	}
	code, err := strconv.ParseUint(strings.TrimPrefix(kind, "t"), 16, 8)
	return rawclient.Param{Type: byte(code), Value: value}, err
}
