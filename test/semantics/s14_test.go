package semantics

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestS14FailedTransaction: a held row that fails fails the transaction, which stays
// failed until ROLLBACK; COMMIT gives the error and ends it.
func TestS14FailedTransaction(t *testing.T) {
	each(t, func(s *stage) {
		s.root("CREATE TABLE t (a INT PRIMARY KEY, b INT)", "CREATE TABLE u (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1, 0)")
		const row = "INSERT INTO t (a, b) VALUES (%d, 1)"
		begin := func() *client {
			c := s.through("app")
			c.warm(row)
			c.exec("BEGIN")
			c.warm(row) // an insert of the burst may run first
			c.holds(fmt.Sprintf(row, 10), fmt.Sprintf(row, 1), fmt.Sprintf(row, 11))
			return c
		}
		only := func(c *client, name string) {
			c.Helper()
			require.Equal(s, []string{"1,0"}, s.stored("SELECT * FROM t WHERE a < 1000"), "%s: the transaction left something", name)
			c.close()
		}

		c := begin()
		c.fails(1062, "COMMIT")
		only(c, "COMMIT")

		c = begin()
		c.fails(1062, "SELECT * FROM u")
		c.fails(1062, "INSERT INTO u VALUES (1)")
		c.fails(1062, fmt.Sprintf(row, 12))
		c.fails(1062, "UPDATE t SET b = 2")
		c.fails(1062, "SELECT 1")
		c.fails(1062, "COMMIT")
		only(c, "statements before COMMIT")
		require.Zero(s, s.count("u"))

		c = begin()
		c.fails(1062, "UPDATE t SET b = 2")
		c.exec("ROLLBACK", "INSERT INTO u VALUES (2)")
		require.Equal(s, 1, s.count("u"))
		only(c, "ROLLBACK")

		// Dropped before it was told: nothing has failed.
		c = begin()
		c.exec("ROLLBACK", "INSERT INTO u VALUES (3)")
		only(c, "ROLLBACK at once")

		// What follows is a transaction of its own, or none, and is there when it says so.
		for _, end := range []string{"COMMIT", "SELECT 1"} {
			c = begin()
			c.fails(1062, end)
			if end != "COMMIT" {
				c.fails(1062, "COMMIT")
			}
			c.exec(fmt.Sprintf(row, 20), fmt.Sprintf(row, 21), fmt.Sprintf(row, 22))
			_ = c.conn.Raw(func(any) error { return nil })
			s.flush()
			require.Equal(s, []string{"1", "20", "21", "22"}, s.stored("SELECT a FROM t WHERE a < 1000 ORDER BY a"), "autocommit rows after a failed COMMIT (%s)", end)
			c.exec("ROLLBACK")
			require.Len(s, s.stored("SELECT a FROM t WHERE a < 1000"), 4)
			s.root("DELETE FROM t WHERE a BETWEEN 2 AND 999")
			c.close()
		}
		for _, next := range []string{"BEGIN", "SET autocommit = 0"} {
			c = begin()
			c.fails(1062, "COMMIT")
			c.exec(next, fmt.Sprintf(row, 30), fmt.Sprintf(row, 31), fmt.Sprintf(row, 32), "ROLLBACK")
			only(c, next)
		}
		s.autocommitOff(row)
	})
}

// autocommitOff: the same where transactions begin by themselves.
func (s *stage) autocommitOff(row string) {
	s.Helper()
	c := s.through("app")
	c.exec("SET autocommit = 0")
	c.warm(row)
	c.exec("COMMIT")
	c.warm(row)
	c.holds(fmt.Sprintf(row, 40), fmt.Sprintf(row, 1), fmt.Sprintf(row, 41))
	c.fails(1062, "COMMIT")
	c.exec(fmt.Sprintf(row, 42), fmt.Sprintf(row, 43), "COMMIT")
	require.Equal(s, []string{"1", "42", "43"}, s.stored("SELECT a FROM t WHERE a < 1000"))
	c.close()
}
