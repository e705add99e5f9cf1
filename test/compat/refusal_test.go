package compat

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestRefusalOfALargeCommand: sluice's own error to a command of several packets has the
// sequence id after that of the last one. A held row fails at the barrier.
func TestRefusalOfALargeCommand(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		const schema = "test_refusal"
		table(t, server, schema)
		sluice := eager(t, server)
		c, err := rawclient.Dial(sluice.Addr, rawclient.Options{User: "app", Password: "app", Schema: schema})
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		do(t, c, "INSERT INTO t VALUES (0, 'there')")
		for _, size := range []int{100, 200 << 10, rawclient.MaxPart - 1, rawclient.MaxPart, rawclient.MaxPart + 1, 2 * rawclient.MaxPart} {
			const head, tail = "SELECT LENGTH('", "')"
			large := c.Query([]byte(head + strings.Repeat("a", size-1-len(head)-len(tail)) + tail))
			require.Len(t, large.Payload, size)
			do(t, c, "BEGIN")
			ordinary(t, c, 1)
			do(t, c, "INSERT INTO t VALUES (0, 'twice')")
			for range 2 { // and again: the transaction has failed
				reply, err := c.Do(large)
				require.NoError(t, err)
				require.Contains(t, reply.String(), "ERR 1062 23000", size)
			}
			do(t, c, "ROLLBACK")
			ordinary(t, c, 1)
			do(t, c, "DELETE FROM t WHERE a > 0")
		}
	})
}

// TestCutShortStatementCommands: COM_STMT_CLOSE and COM_STMT_SEND_LONG_DATA have no
// reply, unless they are too short, and then on MySQL only. What follows is in step.
func TestCutShortStatementCommands(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		const schema = "test_cut_short"
		sluice := eager(t, server)
		answer := func(addr string, payload []byte) []byte {
			table(t, server, schema)
			c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: schema})
			require.NoError(t, err)
			defer func() { _ = c.Close() }()
			do(t, c, "BEGIN")
			ordinary(t, c, 1)
			require.NoError(t, c.Send(rawclient.Command{Payload: payload}, c.Query([]byte("COMMIT")),
				c.Query([]byte("SELECT COUNT(*), 'the end' FROM t"))))
			var got []byte
			require.NoError(t, c.Conn().SetReadDeadline(time.Now().Add(rawclient.Deadline)))
			for buffer := make([]byte, 1000); !bytes.Contains(got, []byte("\x0250\x07the end")); {
				n, err := c.Conn().Read(buffer)
				got = append(got, buffer[:n]...)
				if err != nil {
					return append(got, "closed"...)
				}
			}
			return got[:bytes.Index(got, []byte("\x0250\x07the end"))]
		}
		for _, payload := range []string{"\x19", "\x19\x01\x00", "\x18", "\x18\x01\x00\x00\x00\x00"} {
			require.Equal(t, answer(server.Addr, []byte(payload)), answer(sluice.Addr, []byte(payload)), "%x", payload)
		}
	})
}
