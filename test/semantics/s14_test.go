package semantics

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/stage"
)

// TestS14FailedTransaction: a held row that fails fails the transaction, which stays
// failed until ROLLBACK; COMMIT gives the error and ends it.
func TestS14FailedTransaction(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		s.Root("CREATE TABLE t (a INT PRIMARY KEY, b INT)", "CREATE TABLE u (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1, 0)")
		const row = "INSERT INTO t (a, b) VALUES (%d, 1)"
		begin := func() *stage.Client {
			c := s.Through("app")
			c.Warm(row)
			c.Exec("BEGIN")
			c.Warm(row) // an insert of the burst may run first
			c.Holds(fmt.Sprintf(row, 10), fmt.Sprintf(row, 1), fmt.Sprintf(row, 11))
			return c
		}
		only := func(c *stage.Client, name string) {
			c.Helper()
			require.Equal(s, []string{"1,0"}, s.Stored("SELECT * FROM t WHERE a < 1000"), "%s: the transaction left something", name)
			c.Close()
		}

		c := begin()
		c.Fails(1062, "COMMIT")
		only(c, "COMMIT")

		c = begin()
		c.Fails(1062, "SELECT * FROM u")
		c.Fails(1062, "INSERT INTO u VALUES (1)")
		c.Fails(1062, fmt.Sprintf(row, 12))
		c.Fails(1062, "UPDATE t SET b = 2")
		c.Fails(1062, "SELECT 1")
		c.Fails(1062, "COMMIT")
		only(c, "statements before COMMIT")
		require.Zero(s, s.Count("u"))

		c = begin()
		c.Fails(1062, "UPDATE t SET b = 2")
		c.Exec("ROLLBACK", "INSERT INTO u VALUES (2)")
		require.Equal(s, 1, s.Count("u"))
		only(c, "ROLLBACK")

		// Dropped before it was told: nothing has failed.
		c = begin()
		c.Exec("ROLLBACK", "INSERT INTO u VALUES (3)")
		only(c, "ROLLBACK at once")

		// What follows is a transaction of its own, or none, and is there when it says so.
		for _, end := range []string{"COMMIT", "SELECT 1"} {
			c = begin()
			c.Fails(1062, end)
			if end != "COMMIT" {
				c.Fails(1062, "COMMIT")
			}
			c.Exec(fmt.Sprintf(row, 20), fmt.Sprintf(row, 21), fmt.Sprintf(row, 22))
			_ = c.Conn.Raw(func(any) error { return nil })
			s.Flush()
			require.Equal(s, []string{"1", "20", "21", "22"}, s.Stored("SELECT a FROM t WHERE a < 1000 ORDER BY a"), "autocommit rows after a failed COMMIT (%s)", end)
			c.Exec("ROLLBACK")
			require.Len(s, s.Stored("SELECT a FROM t WHERE a < 1000"), 4)
			s.Root("DELETE FROM t WHERE a BETWEEN 2 AND 999")
			c.Close()
		}
		for _, next := range []string{"BEGIN", "SET autocommit = 0"} {
			c = begin()
			c.Fails(1062, "COMMIT")
			c.Exec(next, fmt.Sprintf(row, 30), fmt.Sprintf(row, 31), fmt.Sprintf(row, 32), "ROLLBACK")
			only(c, next)
		}
		autocommitOff(s, row)
	})
}

// autocommitOff: the same where transactions begin by themselves.
func autocommitOff(s *stage.Stage, row string) {
	s.Helper()
	c := s.Through("app")
	c.Exec("SET autocommit = 0")
	c.Warm(row)
	c.Exec("COMMIT")
	c.Warm(row)
	c.Holds(fmt.Sprintf(row, 40), fmt.Sprintf(row, 1), fmt.Sprintf(row, 41))
	c.Fails(1062, "COMMIT")
	c.Exec(fmt.Sprintf(row, 42), fmt.Sprintf(row, 43), "COMMIT")
	require.Equal(s, []string{"1", "42", "43"}, s.Stored("SELECT a FROM t WHERE a < 1000"))
	c.Close()
}
