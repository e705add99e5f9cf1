package compat

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestBinlogServer is for a server with a binary log, whose administrator is the client.
func TestBinlogServer(t *testing.T) {
	t.Parallel()
	options := map[servers.Kind][]string{
		servers.KindMariaDB: {"--log-bin=binlog", "--server-id=7"},
		servers.KindMySQL:   {"--log-bin=binlog", "--server-id=7", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"},
	}
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Fresh(t, kind, options[kind]...)
			sluice := servers.StartSluice(t, server, "--burst", "1")
			t.Run("dump", func(t *testing.T) { binlogDump(t, server, sluice) })
			t.Run("replica", func(t *testing.T) { replica(t, server, sluice) })
			t.Run("GTID", func(t *testing.T) { trackedGTID(t, server, sluice) })
			if kind == servers.KindMySQL {
				t.Run("attributes", func(t *testing.T) { readAttributes(t, server, sluice) })
			}
			t.Run("commands", func(t *testing.T) { administratorsCommands(t, server, sluice) })
			t.Run("shutdown", func(t *testing.T) { shutdown(t, server, sluice) })
		})
	}
}

// binlogDump reads a server's binary log to its end, as a change-capture tool does,
// directly and through sluice.
func binlogDump(t *testing.T, server *servers.Server, sluice *servers.Sluice) {
	server.Exec(t, "CREATE TABLE test.b (id INT PRIMARY KEY, v LONGTEXT)",
		"INSERT INTO test.b VALUES (1, 'x'), (2, REPEAT('y', 17000000)), (3, 'z')")
	direct := dumpBinlog(t, server, server.Addr, rawclient.Compression{})
	require.Greater(t, len(direct), 5)
	require.Equal(t, direct, dumpBinlog(t, server, sluice.Addr, rawclient.Compression{}))
	for _, with := range compressions {
		require.Equal(t, direct, dumpBinlog(t, server, sluice.Addr, with))
	}
}

func dumpBinlog(t *testing.T, server *servers.Server, addr string, with rawclient.Compression) rawclient.Reply {
	t.Helper()
	var file string
	require.NoError(t, server.Open(t).QueryRow("SELECT SUBSTRING_INDEX(@@log_bin_basename, '/', -1)").Scan(&file))
	c, err := rawclient.Dial(addr, rawclient.Options{User: "root", Compression: with})
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	do(t, c, "SET @source_binlog_checksum='NONE', @master_binlog_checksum='NONE'", "SET @mariadb_slave_capability=4", notSlow)
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

// dialectOf are the statements of replication, which the two servers name differently.
var dialectOf = map[servers.Kind]struct{ follow, position, start, stop, status, compress, plain string }{
	servers.KindMariaDB: {
		"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%s, MASTER_USER='root', MASTER_USE_GTID=slave_pos",
		"CHANGE MASTER TO MASTER_USE_GTID=no", "START SLAVE", "STOP SLAVE", "SHOW SLAVE STATUS",
		"SET GLOBAL slave_compressed_protocol = 1", "SET GLOBAL slave_compressed_protocol = 0",
	},
	servers.KindMySQL: {
		"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=%s, SOURCE_USER='root'," +
			" SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1",
		"CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION=0", "START REPLICA", "STOP REPLICA", "SHOW REPLICA STATUS",
		"CHANGE REPLICATION SOURCE TO SOURCE_COMPRESSION_ALGORITHMS='zstd'", "CHANGE REPLICATION SOURCE TO SOURCE_COMPRESSION_ALGORITHMS='uncompressed'",
	},
}

// replica has a server follow the other one through sluice: by GTID and by position,
// stopped and started, and with acknowledgements of its own (semi-synchronous).
func replica(t *testing.T, server *servers.Server, sluice *servers.Sluice) {
	options := []string{"--server-id=8", "--log-bin=relayed"}
	if server.Kind == servers.KindMySQL {
		options = append(options, "--gtid-mode=ON", "--enforce-gtid-consistency=ON")
	}
	follower := servers.Fresh(t, server.Kind, options...)
	words := dialectOf[server.Kind]
	_, port, _ := strings.Cut(sluice.Addr, ":")
	follower.Exec(t, fmt.Sprintf(words.follow, port), words.start)
	sum := func(db *sql.DB) (all string) {
		err := db.QueryRow("SELECT CONCAT_WS(' ', COUNT(*), SUM(CRC32(v)), SUM(id)) FROM test.b").Scan(&all)
		if err != nil {
			return err.Error()
		}
		return all
	}
	there, here := follower.Open(t), server.Open(t)
	follows := func(what string) {
		t.Helper()
		want := sum(here)
		deadline := time.Now().Add(rawclient.Deadline)
		for sum(there) != want {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the replica has %s, want %s: %s", what, sum(there), want, queryRows(t, there, words.status))
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	follows("what was there")
	c := connectTo(t, sluice.Addr, "test")
	next := 100
	load := func() {
		for range 60 {
			next += 2
			do(t, c, fmt.Sprintf("INSERT INTO b VALUES (%d, 'through sluice')", next))
		}
		server.Exec(t, fmt.Sprintf("INSERT INTO test.b VALUES (%d, 'directly')", next+1))
		do(t, c, "SELECT COUNT(*) FROM b")
	}
	load()
	follows("rows")
	follower.Exec(t, words.stop)
	load()
	follower.Exec(t, words.start)
	follows("rows while it was stopped")
	compressed := servers.StartSluice(t, server, "--protocol-compression-algorithms=zlib,zstd")
	_, compressedPort, _ := strings.Cut(compressed.Addr, ":")
	follower.Exec(t, words.stop, words.compress, fmt.Sprintf(words.follow, compressedPort), words.start)
	load()
	server.Exec(t, "UPDATE test.b SET v = REPEAT('z', 20000000) WHERE id = 1")
	follows("compressed")
	follower.Exec(t, words.stop, words.plain, fmt.Sprintf(words.follow, port), words.start)
	load()
	follows("plain again")
	follower.Exec(t, words.stop, words.position, words.start)
	load()
	follows("by position")
	server.Exec(t, "UPDATE test.b SET v = REPEAT('w', 20000000) WHERE id = 1")
	follows("an event of several packets")
	if server.Kind == servers.KindMariaDB {
		server.Exec(t, "SET GLOBAL rpl_semi_sync_master_enabled = 1")
		follower.Exec(t, "SET GLOBAL rpl_semi_sync_slave_enabled = 1", words.stop, words.start)
		status := func(name string) (n int) {
			require.NoError(t, here.QueryRow("SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(new(string), &n))
			return n
		}
		require.Eventually(t, func() bool { return status("Rpl_semi_sync_master_clients") == 1 }, rawclient.Deadline, 50*time.Millisecond)
		load()
		follows("semi-synchronous")
		acknowledged := status("Rpl_semi_sync_master_yes_tx")
		require.Positive(t, acknowledged, "transactions that the replica acknowledged")
		follower.Exec(t, words.stop, words.compress, words.start)
		require.Eventually(t, func() bool { return status("Rpl_semi_sync_master_clients") == 1 }, rawclient.Deadline, 50*time.Millisecond)
		load()
		follows("semi-synchronous and compressed")
		require.Greater(t, status("Rpl_semi_sync_master_yes_tx"), acknowledged)
		server.Exec(t, "SET GLOBAL rpl_semi_sync_master_enabled = 0")
	}
	follower.Exec(t, words.stop)
}

// trackedGTID: a client that asks for the GTID of each of its transactions gets it.
func trackedGTID(t *testing.T, server *servers.Server, sluice *servers.Sluice) {
	track := map[servers.Kind]string{
		servers.KindMariaDB: "SET SESSION session_track_system_variables = 'last_gtid'",
		servers.KindMySQL:   "SET SESSION session_track_gtids = 'OWN_GTID'",
	}[server.Kind]
	number := regexp.MustCompile(`track=.*[-:](\d+)"`)
	table(t, server, "test_gtid")
	c := connectTo(t, sluice.Addr, "test_gtid")
	do(t, c, track)
	last := 0
	for i := range 20 {
		reply, err := c.Do(c.Query([]byte(fmt.Sprintf("INSERT INTO t VALUES (%d, 'x')", i))))
		require.NoError(t, err)
		found := number.FindStringSubmatch(reply.String())
		require.NotNil(t, found, reply)
		n, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		if last != 0 {
			require.Equal(t, last+1, n)
		}
		last = n
	}
}

// readAttributes has statements read the attributes that came with them.
func readAttributes(t *testing.T, server *servers.Server, sluice *servers.Sluice) {
	server.Exec(t, "INSTALL COMPONENT 'file://component_query_attributes'")
	script, err := Parse("read_attributes", `# servers mysql
# modes autocommit
CREATE TABLE t (a INT PRIMARY KEY, s VARCHAR(20))
# body
# conn named caps=+query_attributes
# attributes a=b c=d : SELECT mysql_query_attribute_string('a'), mysql_query_attribute_string('c'), mysql_query_attribute_string('x')
# repeat 20 # attributes a=v$i : INSERT INTO t VALUES ($i, mysql_query_attribute_string('a'))
# repeat 20 INSERT INTO t VALUES (10$i, mysql_query_attribute_string('a'))
# repeat 20 # attributes a=w$i : INSERT INTO t VALUES (20$i, 'a literal')
SELECT * FROM t ORDER BY a
`)
	require.NoError(t, err)
	Run(t, server, sluice, script)
}

// administratorsCommands are those for which the user of TestCommandMatrix has no rights.
func administratorsCommands(t *testing.T, server *servers.Server, sluice *servers.Sluice) {
	text := "# modes autocommit\nCREATE TABLE t (a INT)\n# body\n"
	for i, payload := range []string{
		"05 6E6577", "06 6E6577",
		"07 01", "07 02", "07 04", "07 08", "07 10", "07 20", "07 40", "07 7F",
		"0C FFFFFF7F", "0D", "15 02000000 00 00 00 0000 00000000 00000000", "20", "21", "1D", "0F",
	} {
		text += fmt.Sprintf("# conn c%d user=root password=\n# cmd raw %s\nSELECT 1\n", i, payload)
	}
	text += "# conn root user=root password=\n# mask\n# cmd process_info\n# mask\n# cmd statistics\nSELECT 1\n"
	script, err := Parse("administrator", text+"# conn main\n"+alive)
	require.NoError(t, err)
	Run(t, server, sluice, script)
}

// shutdown ends the server by COM_SHUTDOWN, which MySQL no longer has.
func shutdown(t *testing.T, server *servers.Server, sluice *servers.Sluice) {
	c, err := rawclient.Dial(sluice.Addr, rawclient.Options{User: "root"})
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	reply, err := c.Do(rawclient.Simple(8, rawclient.OneReply, 0))
	require.NoError(t, err)
	if server.Kind == servers.KindMySQL {
		require.Contains(t, reply.String(), "ERR 1047")
		reply, err = c.Do(c.Query([]byte("SHUTDOWN")))
		require.NoError(t, err)
	}
	require.False(t, reply.Failed(), reply)
	require.Eventually(t, func() bool {
		reply, err := c.Do(c.Query([]byte("SELECT 1")))
		return err != nil || reply.Failed()
	}, rawclient.Deadline, 50*time.Millisecond)
	server.Restart(t)
}
