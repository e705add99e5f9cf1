package backend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// identity keeps, beside the journal, which server the journal's rows went to. A
// restored or copied data directory, another server at the same address or a
// checkpoint table that was lost would make exactly once a matter of luck: sluice
// stops and says how to go on (S12).
type identity struct {
	path string // of the file that holds the server's name; removing it adopts another server
}

// ErrOtherServer says that the server is not the one that the journal's rows went to,
// or that it has lost what sluice recorded there.
var ErrOtherServer = errors.New("this is not the server, or not its data, that sluice loaded before")

// verify compares the server with what the journal remembers and notes a server that is
// new; states are the journal's. adopted says that it is new.
func (i identity) verify(c *conn, cp *checkpoint, states []journal.QueueState) (adopted bool, err error) {
	name, adopted, err := i.compare(c, cp, states)
	if err == nil && adopted {
		err = i.adopt(name)
	}
	return adopted, err
}

// compare is verify without a change.
func (i identity) compare(c *conn, cp *checkpoint, states []journal.QueueState) (name string, isNew bool, err error) {
	if name, err = serverName(c); err != nil {
		return "", false, err
	}
	known, err := os.ReadFile(i.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return name, true, nil
	case err != nil:
		return "", false, fmt.Errorf("identity of the server: %w", err)
	}
	history := false
	for _, s := range states {
		history = history || s.Window > 0 || s.Sealed != nil || s.Last > s.Applied
	}
	if !history {
		return name, true, nil
	}
	if was := strings.TrimSpace(string(known)); was != name {
		return "", false, i.otherServer(fmt.Sprintf("it calls itself %s, the other one %s", name, was))
	}
	done, err := cp.last(c)
	var said *wire.Error
	if errors.As(err, &said) && said.Code == 1146 {
		return "", false, i.otherServer("the table " + cp.table() + " is gone")
	}
	if err != nil {
		return "", false, err
	}
	for _, s := range states {
		if s.Window > 0 && done[uint32(s.ID)] < s.Window {
			return "", false, i.otherServer(fmt.Sprintf("window %d of %s, which was committed, is not recorded in %s", s.Window, s.Name, cp.table()))
		}
	}
	return name, false, nil
}

func (i identity) otherServer(why string) error {
	return fmt.Errorf("%w: %s; bring the right server back, or, to go on with this one and what it has, remove %s: "+
		"rows still in the journal are applied to it then, and a window that was under way may be applied twice", ErrOtherServer, why, i.path)
}

// adopt notes the server: temporary file, fsync, rename.
func (i identity) adopt(name string) error {
	tmp := i.path + ".new"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("identity of the server: %w", err)
	}
	_, err = f.WriteString(name + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, i.path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(i.path))
	}
	if err != nil {
		return fmt.Errorf("identity of the server: %w", err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// serverName is what tells a server from every other one: MySQL's server_uuid,
// MariaDB's server_uid.
func serverName(c *conn) (string, error) {
	sql := "SELECT @@server_uuid"
	if c.dialect == rewrite.MariaDB {
		sql = "SELECT @@server_uid"
	}
	r, err := c.Query(sql)
	var said *wire.Error
	if errors.As(err, &said) && said.Code == 1193 {
		r, err = c.Query("SELECT CONCAT(@@hostname, ':', @@port, ' ', @@server_id)")
	}
	if err != nil {
		return "", fmt.Errorf("identity of the server: %w", err)
	}
	return string(r.Rows[0][0]), nil
}

// adopt records on a server that is new for sluice what was done on the one before: the
// next start finds it there.
func (c *checkpoint) adopt(q wire.Querier, states []journal.QueueState) error {
	for _, s := range states {
		if s.Window == 0 {
			continue
		}
		if _, err := q.Query(fmt.Sprintf("INSERT IGNORE INTO %s (journal, queue, win, chunk) VALUES ('%s', %d, %d, 0)",
			c.table(), c.journal, s.ID, s.Window)); err != nil {
			return err
		}
	}
	return nil
}

// last reads the last window of each queue of this journal that the server records.
func (c *checkpoint) last(q wire.Querier) (map[uint32]uint64, error) {
	r, err := q.Query(fmt.Sprintf("SELECT queue, MAX(win) FROM %s WHERE journal = '%s' GROUP BY queue", c.table(), c.journal))
	if err != nil {
		return nil, err
	}
	done := make(map[uint32]uint64, len(r.Rows))
	for _, row := range r.Rows {
		queue, err := strconv.ParseUint(string(row[0]), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("checkpoint table: %w", err)
		}
		if done[uint32(queue)], err = strconv.ParseUint(string(row[1]), 10, 64); err != nil {
			return nil, fmt.Errorf("checkpoint table: %w", err)
		}
	}
	return done, nil
}
