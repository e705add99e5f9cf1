package compat

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// compressions are what clients of the tests ask for. The odd piece of one splits packet
// headers over compressed packets. A server without zstd is compared plain.
var compressions = map[string]rawclient.Compression{
	"zlib":        {Algorithm: rawclient.Zlib},
	"zlib pieces": {Algorithm: rawclient.Zlib, Piece: 53},
	"zstd":        {Algorithm: rawclient.Zstd},
}

// compressed is the script played by clients that compress, on schemas of its own.
func compressed(script *Script, name string) *Script {
	s := *script
	s.Name += "_" + strings.ReplaceAll(name, " ", "_")
	s.Compression = compressions[name]
	return &s
}

// TestRelayCompressed plays every command and every kind of reply under compression.
func TestRelayCompressed(t *testing.T) {
	t.Parallel()
	scripts, err := Load("testdata/relay")
	require.NoError(t, err)
	for name := range compressions {
		for _, script := range scripts {
			for _, kind := range script.Servers {
				t.Run(fmt.Sprintf("%s/%s/%s", name, script.Name, kind), func(t *testing.T) {
					t.Parallel()
					Run(t, servers.Shared(t, kind), servers.SharedSluice(t, kind), compressed(script, name))
				})
			}
		}
	}
}

// TestF061 sends and receives what needs one more compressed packet than packets: a
// header of four bytes makes a packet of 2^24-5 bytes and more too long for one.
func TestF061(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		for _, name := range []string{"zlib", "zstd"} {
			for size := 1<<24 - 5; size <= 1<<24+5; size++ {
				if name == "zstd" && size%3 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
					script, err := Parse("f061", edgeScript(size))
					require.NoError(t, err)
					Run(t, server, sluice, compressed(script, name))
				})
			}
		}
	})
}

// edgeScript has a statement, a row and a file of exactly this size.
func edgeScript(size int) string {
	cell := size - 4
	if cell >= 1<<24 {
		cell = size - 9
	}
	return strings.Join([]string{
		"# modes autocommit",
		"CREATE TABLE t (b LONGBLOB)",
		"# body",
		notSlow,
		fmt.Sprintf("SELECT LENGTH('<61 x%d>')", size-len("?SELECT LENGTH('')")),
		fmt.Sprintf("SELECT REPEAT('d', %d)", cell),
		fmt.Sprintf("# infile <65 x%d>", size),
		"LOAD DATA LOCAL INFILE 'x' INTO TABLE t (b)",
		"SELECT LENGTH(b) FROM t",
	}, "\n") + "\n"
}

// notSlow keeps a busy machine out of the status flags.
const notSlow = "SET SESSION long_query_time = 3600"

// TestCompressedLongRows has rows of 40 MiB, both ways.
func TestCompressedLongRows(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		for _, name := range []string{"zlib", "zstd"} {
			script, err := Parse("long", strings.Join([]string{
				"# modes autocommit",
				"CREATE TABLE t (id INT PRIMARY KEY, b LONGBLOB)",
				"# body",
				notSlow,
				"INSERT INTO t VALUES (1, '<61 x41943040>')",
				"SELECT id, b, SHA2(b, 256) FROM t",
				"SELECT 1, REPEAT(SHA2('x', 256), 655360) UNION ALL SELECT 2, REPEAT(SHA2('y', 256), 655360)",
			}, "\n"))
			require.NoError(t, err)
			t.Run(name, func(t *testing.T) { Run(t, server, sluice, compressed(script, name)) })
		}
	})
}

// dialCompressed logs in and makes sure that compression was agreed on.
func dialCompressed(t *testing.T, addr string, with rawclient.Compression) *rawclient.Client {
	t.Helper()
	c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: "test", Compression: with})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	reply, err := c.Do(c.Query([]byte("SELECT 1")))
	require.NoError(t, err)
	require.False(t, reply.Failed())
	require.NotEmpty(t, c.Frames())
	return c
}

func ids(frames []rawclient.Frame) (ids []byte) {
	for _, f := range frames {
		ids = append(ids, f.Seq)
	}
	return ids
}

// TestF062 has the ids of the compressed packets around a LOCAL INFILE: the server's go
// on from the client's last one. Then a normal query.
func TestF062(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		server.Exec(t, "DROP TABLE IF EXISTS test.f062", "CREATE TABLE test.f062 (id INT PRIMARY KEY, s VARCHAR(20))")
		for i, piece := range []int{0, 5} {
			var direct [][]byte
			for j, addr := range []string{server.Addr, sluice.Addr} {
				c := dialCompressed(t, addr, rawclient.Compression{Algorithm: rawclient.Zlib, Piece: piece})
				var got [][]byte
				do := func(sql string) {
					reply, err := c.Do(c.Query([]byte(sql)))
					require.NoError(t, err)
					require.False(t, reply.Failed(), reply)
					got = append(got, ids(c.Frames()))
				}
				file := fmt.Sprintf("%d\tx\n%d\ty\n", i*10+j*100, i*10+j*100+1)
				c.QueueInfile(rawclient.Infile{Packets: [][]byte{[]byte(file)}})
				do("LOAD DATA LOCAL INFILE 'x' INTO TABLE f062")
				do("SELECT COUNT(*) FROM f062")
				c.QueueInfile(rawclient.Infile{Packets: [][]byte{[]byte(strings.ReplaceAll(file, "0\t", "5\t"))}})
				do("SELECT 1; LOAD DATA LOCAL INFILE 'x' IGNORE INTO TABLE f062; SELECT 2")
				do("SELECT 3")
				if addr == server.Addr {
					direct = got
					continue
				}
				require.Equal(t, direct[:2], got[:2])
				require.Equal(t, direct[3], got[3])
			}
		}
	})
}

// TestCompressedTogether has several commands in one compressed packet: each is answered.
func TestCompressedTogether(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		for _, with := range compressions {
			c := dialCompressed(t, servers.SharedSluice(t, server.Kind).Addr, with)
			var stream []byte
			for _, sql := range []string{"SELECT 'one'", "SELECT 'two'", "DO 1"} {
				p := c.Query([]byte(sql)).Payload
				stream = append(append(stream, byte(len(p)), 0, 0, 0), p...)
			}
			_, err := c.Raw().Write(append(rawclient.AppendFrame(nil, rawclient.Frame{Size: len(stream)}), stream...))
			require.NoError(t, err)
			var got []byte
			require.NoError(t, c.Raw().SetReadDeadline(time.Now().Add(rawclient.Deadline)))
			for i := range 3 {
				f, plain, err := c.TakeFrame()
				require.NoError(t, err)
				require.EqualValues(t, i+1, f.Seq)
				got = append(got, plain...)
			}
			require.Contains(t, string(got), "\x03one")
			require.Contains(t, string(got), "\x03two")
		}
	})
}

// TestCompressedLastWords: what a server says unasked after wait_timeout begins with id 0.
func TestCompressedLastWords(t *testing.T) {
	t.Parallel()
	server := servers.MySQL(t)
	sluice := servers.SharedSluice(t, servers.KindMySQL)
	for _, algorithm := range []string{rawclient.Zlib, rawclient.Zstd} {
		var words [][]byte
		for _, addr := range []string{server.Addr, sluice.Addr} {
			c := dialCompressed(t, addr, rawclient.Compression{Algorithm: algorithm})
			_, err := c.Do(c.Query([]byte("SET wait_timeout = 1")))
			require.NoError(t, err)
			require.NoError(t, c.Raw().SetReadDeadline(time.Now().Add(rawclient.Deadline)))
			f, plain, err := c.TakeFrame()
			require.NoError(t, err)
			require.Zero(t, f.Seq)
			words = append(words, plain)
		}
		require.Equal(t, words[0], words[1])
		require.Contains(t, string(words[0]), "\xff\xbf\x0f") // 4031
	}
}

// TestCompressedGarbage: what cannot be unpacked ends the session that sent it, whose
// transaction is gone as with any lost connection, and no other one.
func TestCompressedGarbage(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.StartSluice(t, server, "--log-level=debug")
		server.Exec(t, "DROP TABLE IF EXISTS test.garbage", "CREATE TABLE test.garbage (id INT PRIMARY KEY)")
		healthy := dialCompressed(t, sluice.Addr, compressions["zlib"])
		for what, c := range map[string]struct {
			in   []byte
			want string
		}{
			"content":   {append(rawclient.AppendFrame(nil, rawclient.Frame{Size: 20, Plain: 100}), "this is not packed.."...), "Couldn't uncompress communication packet"},
			"nothing":   {rawclient.AppendFrame(nil, rawclient.Frame{Plain: 100}), "Couldn't uncompress communication packet"},
			"id":        {append(rawclient.AppendFrame(nil, rawclient.Frame{Size: 5, Seq: 77}), "\x01\x00\x00\x00\x0e"...), "Got packets out of order"},
			"all bytes": {bytes.Repeat([]byte{0xff}, 4096), "Got packets out of order"},
		} {
			for _, with := range compressions {
				bad := dialCompressed(t, sluice.Addr, with)
				_, err := bad.Do(bad.Query([]byte("BEGIN")))
				require.NoError(t, err)
				for i := range 20 {
					reply, err := bad.Do(bad.Query(fmt.Appendf(nil, "INSERT INTO garbage VALUES (%d)", i)))
					require.NoError(t, err)
					require.False(t, reply.Failed(), reply)
				}
				_, err = bad.Raw().Write(c.in)
				require.NoError(t, err)
				require.NoError(t, bad.Raw().SetReadDeadline(time.Now().Add(rawclient.Deadline)))
				_, plain, err := bad.TakeFrame()
				require.NoError(t, err, what)
				require.Contains(t, string(plain), "#08S01sluice: "+c.want, what)
				_, _, err = bad.TakeFrame()
				require.Error(t, err)
				reply, err := healthy.Do(healthy.Query([]byte("SELECT COUNT(*) FROM garbage")))
				require.NoError(t, err)
				require.Contains(t, reply.String(), `ROW "\x010"`)
			}
		}
		require.Contains(t, strings.ToLower(sluice.Log(1000)), "couldn't uncompress communication packet")
	})
}

// TestCompressedOrphan: a session under compression goes on inserting while the server
// is down.
func TestCompressedOrphan(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Fresh(t, kind)
			server.Exec(t, "CREATE TABLE test.orphan (id INT PRIMARY KEY, s VARCHAR(100))")
			sluice := servers.StartSluice(t, server)
			c := dialCompressed(t, sluice.Addr, compressions["zstd"])
			rows := 0
			insert := func(n int) {
				for range n {
					reply, err := c.Do(c.Query(fmt.Appendf(nil, "INSERT INTO orphan VALUES (%d, '%s')", rows, strings.Repeat("x", 80))))
					require.NoError(t, err)
					require.False(t, reply.Failed(), reply)
					rows++
				}
			}
			insert(100)
			server.Stop(t)
			time.Sleep(100 * time.Millisecond) // the session notices while it waits
			insert(100)
			server.Restart(t)
			flush(t, server, sluice, []string{"test"})
			require.Equal(t, []string{"200"}, queryRows(t, server.Open(t), "SELECT COUNT(*) FROM test.orphan"))
		})
	}
}

// TestCompressedTLS has compression above TLS on the link to sluice.
func TestCompressedTLS(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		for _, with := range compressions {
			c, err := rawclient.Dial(sluice.Addr, rawclient.Options{User: "app", Password: "app", Schema: "test",
				Compression: with, TLS: &tls.Config{InsecureSkipVerify: true}})
			require.NoError(t, err)
			for _, sql := range []string{"SELECT SHA2('" + strings.Repeat("x", 300_000) + "', 256)", "SELECT REPEAT('x', 300000)", "DO 1"} {
				reply, err := c.Do(c.Query([]byte(sql)))
				require.NoError(t, err)
				require.False(t, reply.Failed(), reply)
				require.NotEmpty(t, c.Frames())
			}
			reply, err := c.Do(rawclient.Simple(rawclient.ComQuit, rawclient.ClosedReply))
			require.NoError(t, err)
			require.Contains(t, reply.String(), "closed")
		}
	})
}

// TestCompressionAgreed holds what is offered, and what is refused, against a MySQL with
// the same protocol_compression_algorithms; sluice's server is another one, which has
// its default.
func TestCompressionAgreed(t *testing.T) {
	t.Parallel()
	model := servers.Fresh(t, servers.KindMySQL)
	set, err := model.Open(t).Conn(t.Context()) // a new connection could be refused
	require.NoError(t, err)
	defer set.Close()
	for _, algorithms := range []string{"zlib", "zstd", "uncompressed", "zstd,uncompressed", "zlib,zstd"} {
		warmUp(t, model)
		_, err := set.ExecContext(t.Context(), "SET GLOBAL protocol_compression_algorithms = '"+algorithms+"'")
		require.NoError(t, err)
		for _, kind := range servers.Kinds {
			server := servers.Shared(t, kind)
			warmUp(t, server)
			sluice := servers.StartSluice(t, server, "--protocol-compression-algorithms="+algorithms)
			for _, with := range []rawclient.Compression{
				{}, {Algorithm: rawclient.Zlib}, {Algorithm: rawclient.Zstd, Level: 1}, {Algorithm: rawclient.Zstd, Level: 22}, {Algorithm: rawclient.Zstd, Level: 23},
			} {
				require.Equal(t, agreed(t, model.Addr, 0, with), agreed(t, sluice.Addr, 0, with), "%s: %s: %+v", algorithms, kind, with)
			}
			if algorithms == "zlib,zstd" { // both asked for: it is zlib
				with := compressions["zlib"]
				require.Equal(t, agreed(t, model.Addr, rawclient.ZstdCompress, with), agreed(t, sluice.Addr, rawclient.ZstdCompress, with))
			}
		}
		_, err = set.ExecContext(t.Context(), "SET GLOBAL protocol_compression_algorithms = DEFAULT")
		require.NoError(t, err)
	}
}

// agreed tells what a login with an algorithm comes to.
func agreed(t *testing.T, addr string, more uint64, with rawclient.Compression) string {
	t.Helper()
	c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Caps: rawclient.DefaultCaps | more, Compression: with})
	require.NotNil(t, c, err)
	defer func() { _ = c.Close() }()
	const flags = rawclient.Compress | rawclient.ZstdCompress
	last := c.Login[len(c.Login)-1]
	outcome := fmt.Sprintf("offered %x, used %x, ", c.Greeting.Caps&flags, c.Caps&flags)
	if err != nil {
		return outcome + last[:strings.Index(last, `"`)]
	}
	reply, err := c.Do(c.Query([]byte("SELECT 1")))
	require.NoError(t, err)
	require.False(t, reply.Failed())
	return outcome + fmt.Sprintf("%d", ids(c.Frames()))
}
