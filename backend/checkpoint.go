package backend

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-db/sluice/backend/wire"
)

// errApplied says that a chunk is on the server already.
var errApplied = errors.New("chunk is applied already")

// checkpoint is the table on the server that says which chunks are applied: the
// first statement of each chunk's transaction inserts its row (S11). A doubt
// after a lost connection is resolved by doing the chunk again: if the old
// transaction is alive the insert waits for it, if it was committed the insert
// is a duplicate.
type checkpoint struct {
	schema  string
	journal string // the journal's id, in hexadecimal
}

const checkpointTable = "applied"

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (c *checkpoint) table() string { return quote(c.schema) + "." + quote(checkpointTable) }

// create makes the table if it is not there.
func (c *checkpoint) create(q wire.Querier) error {
	sql := "CREATE TABLE IF NOT EXISTS " + c.table() + ` (
  journal CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  queue INT UNSIGNED NOT NULL,
  win BIGINT UNSIGNED NOT NULL,
  chunk INT UNSIGNED NOT NULL,
  PRIMARY KEY (journal, queue, win, chunk)
) ENGINE=InnoDB COMMENT='sluice: chunks of journaled rows that are applied; do not edit'`
	if _, err := q.Query(sql); err != nil {
		return fmt.Errorf("create %s: %w", c.table(), err)
	}
	return nil
}

// check says what is wrong with the table, nil if it can be used.
func (c *checkpoint) check(q wire.Querier) error {
	_, err := q.Query("SELECT journal, queue, win, chunk FROM " + c.table() + " LIMIT 0")
	return err
}

// mark inserts the chunk's row: the first statement of its transaction.
func (c *checkpoint) mark(q wire.Querier, queue uint32, window uint64, chunk int) error {
	_, err := q.Query(fmt.Sprintf("INSERT INTO %s (journal, queue, win, chunk) VALUES ('%s', %d, %d, %d)",
		c.table(), c.journal, queue, window, chunk))
	var e *wire.Error
	if errors.As(err, &e) && e.Code == 1062 {
		return errApplied
	}
	return err
}

// tidy removes the rows of earlier windows of the queue, within the transaction
// of a later window's last chunk: they are done, and the journal knows.
func (c *checkpoint) tidy(q wire.Querier, queue uint32, window uint64) error {
	_, err := q.Query(fmt.Sprintf("DELETE FROM %s WHERE journal = '%s' AND queue = %d AND win < %d",
		c.table(), c.journal, queue, window))
	return err
}
