package fault

import (
	"bytes"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestUnread: clients that ask and never read what they get cost a bounded amount of
// memory and disturb nobody, and their sessions end when they go.
func TestUnread(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		server.Exec(t, "DROP TABLE IF EXISTS test.wide, test.unread", "CREATE TABLE test.wide (v VARCHAR(1000))",
			"CREATE TABLE test.unread (n BIGINT)", "INSERT INTO test.wide VALUES "+strings.Repeat("(REPEAT('x', 1000)),", 999)+"('')")
		sluice := servers.StartSluice(t, server)
		working := startHealthy(t, server, sluice)
		before := usageOf(t, sluice)
		var clients []net.Conn
		clients = append(clients, pour(t, sluice.Addr, "INSERT INTO unread VALUES (123456789012345)"))
		for range long(3, 20) {
			clients = append(clients, pour(t, sluice.Addr, "SELECT 1"))
			for _, o := range []rawclient.Options{
				{}, {TLS: &tls.Config{InsecureSkipVerify: true}}, {Compression: rawclient.Compression{Algorithm: rawclient.Zlib}},
			} {
				o.User, o.Password, o.Schema = "app", "app", "test"
				c, err := rawclient.Dial(sluice.Addr, o)
				require.NoError(t, err)
				require.NoError(t, c.Send(c.Query([]byte("SELECT a.v FROM wide a, wide b"))))
				clients = append(clients, c.Conn())
			}
		}
		collect(t, sluice)
		staysWithin(t, sluice, 256*mib)
		require.InDelta(t, len(clients)+1, sluice.Metric(t, "sluice_sessions"), 0)
		for _, conn := range clients {
			_ = conn.Close()
		}
		settlesTo(t, sluice, before, 1)
		require.NotContains(t, sluice.Log(1000), "panic")
		working.check(t, server, sluice)
	})
}

// pour logs in and sends a statement again and again until nobody takes it any more, 16 MiB
// at most.
func pour(t *testing.T, addr, sql string) net.Conn {
	t.Helper()
	conn := login(t, addr).Conn()
	piece := bytes.Repeat(append([]byte{byte(len(sql) + 1), 0, 0, 0, rawclient.ComQuery}, sql...), 1000)
	for sent := 0; sent < 16*mib; sent += len(piece) {
		require.NoError(t, conn.SetWriteDeadline(time.Now().Add(time.Second)))
		if _, err := conn.Write(piece); err != nil {
			break
		}
	}
	return conn
}
