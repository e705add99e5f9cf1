package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	driver "github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/test/demo/stage"
)

// What is moved: rows of about 110 bytes.
const (
	transferRows = 1_000_000
	rowText      = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstu"
)

// errTransfer says that a stream did not come through whole.
var errTransfer = errors.New("transfer")

// transfer measures one large result and one large LOAD DATA LOCAL, whose client does
// nothing but read or write: the relay is what is measured.
func (b *bench) transfer(ctx context.Context) error {
	for _, kind := range b.servers {
		err := b.withServer(ctx, kind, sysbenchPool, func(server *stage.Server) error {
			return b.transferOn(ctx, server)
		}, "--local-infile=1")
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

func (b *bench) transferOn(ctx context.Context, server *stage.Server) (err error) {
	sluice, err := b.startSluice(ctx, server.Addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sluice.Stop()) }()
	haproxy, relayed, err := b.startHAProxy(ctx, server.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = haproxy.Stop(stopLimit) }()
	ways := []string{"direct", "HAProxy, TCP mode", "sluice"}
	addrs := []string{server.Addr, relayed, sluice.Addr}
	loads, selects := make([]samples, len(ways)), make([]samples, len(ways))
	for run := range b.runs {
		for i, addr := range addrs {
			load, read, err := measureTransfer(addr)
			if err != nil {
				return fmt.Errorf("%s: %w", ways[i], err)
			}
			say("run %d, %s: LOAD DATA LOCAL %s rows/s, SELECT %s rows/s", run+1, ways[i], number(load), number(read))
			loads[i], selects[i] = append(loads[i], load), append(selects[i], read)
		}
	}
	t := &table{
		title: fmt.Sprintf("transfer: %s, %s rows of 110 bytes, median of %d", server.Describe(), number(transferRows), b.runs),
		head: []string{"way", "LOAD DATA LOCAL rows/s", "spread", "to direct",
			"SELECT rows/s", "spread", "to direct"},
	}
	for i, w := range ways {
		t.add(w, number(loads[i].median()), loads[i].spread(), ratio(loads[i].median(), loads[0].median()),
			number(selects[i].median()), selects[i].spread(), ratio(selects[i].median(), selects[0].median()))
	}
	b.tables = append(b.tables, t.String())
	return nil
}

// measureTransfer loads the rows into an empty table and selects them, in rows/s.
func measureTransfer(addr string) (load, read float64, err error) {
	c, err := driver.Connect(addr, appUser, password, schema, func(c *driver.Conn) error {
		c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES)
		c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
		return c.SetCapability(mysql.CLIENT_LOCAL_FILES)
	})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	s := &wire.Session{Conn: wire.NewConn(c.Conn.Conn), Caps: wire.Caps{Base: wire.ClientProtocol41 | wire.ClientTransactions}}
	for _, sql := range []string{"DROP TABLE IF EXISTS transfer", "CREATE TABLE transfer (id INT PRIMARY KEY, v VARCHAR(100))"} {
		if _, err := s.Query(sql); err != nil {
			return 0, 0, err
		}
	}
	start := time.Now()
	if err := upload(s); err != nil {
		return 0, 0, fmt.Errorf("LOAD DATA LOCAL: %w", err)
	}
	load = transferRows / time.Since(start).Seconds()
	start = time.Now()
	var counted counter
	if err := s.SendQuery([]byte("SELECT * FROM transfer")); err != nil {
		return 0, 0, err
	}
	var r wire.Reply
	r.Begin(wire.ReplyGeneric, s.Caps)
	if readErr, writeErr := s.RelayReply(&counted, &r, nil); readErr != nil || writeErr != nil || r.Failed {
		return 0, 0, fmt.Errorf("SELECT: %w", errors.Join(errTransfer, readErr, writeErr))
	}
	read = transferRows / time.Since(start).Seconds()
	if int64(counted) < transferRows*int64(len(rowText)) {
		return 0, 0, fmt.Errorf("%w: SELECT gave %d bytes", errTransfer, counted)
	}
	return load, read, nil
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// upload sends the rows in packets of 64 KiB.
func upload(s *wire.Session) error {
	if err := s.SendQuery([]byte("LOAD DATA LOCAL INFILE 'rows' INTO TABLE transfer")); err != nil {
		return err
	}
	var r wire.Reply
	r.Begin(wire.ReplyGeneric, s.Caps)
	if readErr, writeErr := s.RelayReply(io.Discard, &r, nil); readErr != nil || writeErr != nil || !r.Infile {
		return errors.Join(errTransfer, readErr, writeErr)
	}
	const packet = 64 << 10
	var rows bytes.Buffer
	seq := byte(2)
	send := func() error {
		_, err := s.Write(wire.AppendPacket(nil, seq, rows.Bytes()))
		seq++
		rows.Reset()
		return err
	}
	for i := range transferRows {
		fmt.Fprintf(&rows, "%d\t%s\n", i, rowText)
		if rows.Len() >= packet {
			if err := send(); err != nil {
				return err
			}
		}
	}
	if err := send(); err != nil {
		return err
	}
	if _, err := s.Write(wire.AppendPacket(nil, seq, nil)); err != nil {
		return err
	}
	res, err := s.ReadResult()
	if err == nil && res.Affected != transferRows {
		err = fmt.Errorf("%w: %d rows", errTransfer, res.Affected)
	}
	return err
}
