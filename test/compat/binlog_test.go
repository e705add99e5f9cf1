package compat

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestBinlogDump reads a server's binary log to its end, as a replica or a
// change-capture tool does, directly and through sluice.
func TestBinlogDump(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Fresh(t, kind, "--log-bin=binlog", "--server-id=7")
			sluice := servers.StartSluice(t, server)
			server.Exec(t, "CREATE TABLE test.b (id INT PRIMARY KEY, v LONGTEXT)",
				"INSERT INTO test.b VALUES (1, 'x'), (2, REPEAT('y', 17000000)), (3, 'z')")
			direct := dumpBinlog(t, server, server.Addr, rawclient.Compression{})
			require.Greater(t, len(direct), 5)
			require.Equal(t, direct, dumpBinlog(t, server, sluice.Addr, rawclient.Compression{}))
			for _, with := range compressions {
				require.Equal(t, direct, dumpBinlog(t, server, sluice.Addr, with))
			}
		})
	}
}

func dumpBinlog(t *testing.T, server *servers.Server, addr string, with rawclient.Compression) rawclient.Reply {
	t.Helper()
	var file string
	require.NoError(t, server.Open(t).QueryRow("SELECT SUBSTRING_INDEX(@@log_bin_basename, '/', -1)").Scan(&file))
	c, err := rawclient.Dial(addr, rawclient.Options{User: "root", Compression: with})
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	for _, sql := range []string{
		"SET @source_binlog_checksum='NONE', @master_binlog_checksum='NONE'",
		"SET @mariadb_slave_capability=4",
	} {
		reply, err := c.Do(c.Query([]byte(sql)))
		require.NoError(t, err)
		require.False(t, reply.Failed(), reply)
	}
	payload := []byte{rawclient.ComBinlogDump, 4, 0, 0, 0, 1, 0} // from the start, not waiting at the end
	payload = binary.LittleEndian.AppendUint32(payload, 1000)
	payload = append(payload, file+".000001"...)
	reply, err := c.Do(rawclient.Command{Payload: payload, Kind: rawclient.RowsReply})
	require.NoError(t, err)
	require.False(t, reply.Failed(), reply)
	after, err := c.Do(c.Query([]byte("SELECT 1")))
	require.NoError(t, err)
	return append(reply, after...)
}
