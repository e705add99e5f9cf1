package compat

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// sizesEnv names the environment variable that has `make soak` send packets of all sizes.
const sizesEnv = "SLUICE_SIZES"

func allSizes() bool { return os.Getenv(sizesEnv) == "all" }

// TestF047 sends and receives payloads around the sizes at which one packet becomes two,
// and two become three.
func TestF047(t *testing.T) {
	t.Parallel()
	sizes := []int{rawclient.MaxPart - 1, rawclient.MaxPart}
	variants := ""
	if allSizes() {
		sizes = []int{2*rawclient.MaxPart - 1, 2 * rawclient.MaxPart, 2*rawclient.MaxPart + 1, 100 << 20}
		for size := 1<<24 - 2; size <= 1<<24+5; size++ {
			sizes = append(sizes, size)
		}
		variants = "# ordinary INSERT INTO t VALUES ($i, 'ordinary')\n"
	}
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		for _, size := range sizes {
			script, err := Parse("f047", variants+largeScript(size, allSizes()))
			require.NoError(t, err)
			t.Run(fmt.Sprint(size), func(t *testing.T) { Run(t, server, sluice, script) })
		}
	})
}

// largeScript has large commands and replies, of exactly this size: those that differ in
// how sluice takes them, or all kinds.
func largeScript(size int, all bool) string {
	// fill pads a command of one byte and the text to the size.
	fill := func(before, after string) string {
		return fmt.Sprintf("%s<61 x%d>%s", before, size-1-len(before)-len(after), after)
	}
	prepare := func(before, after string) string { // the directive is not sent
		return "# prepare p " + fill(before, after)
	}
	// A row of one column that long has its length in four bytes before it,
	// from 16 MiB on in nine.
	cell := size - 4
	if cell >= 1<<24 {
		cell = size - 9
	}
	lines := []string{
		"# modes autocommit",
		"# large",
		"CREATE TABLE t (id INT PRIMARY KEY, b LONGBLOB)",
		"# body",
		fill("INSERT INTO t VALUES (1, '", "')"),
		prepare("SELECT LENGTH('", "')"),
		"# prepare ins INSERT INTO t VALUES (2, ?)",
		fmt.Sprintf("# execute ins blob=<62 x%d>", size-18),
		fmt.Sprintf("SELECT REPEAT('d', %d)", cell),
		fill("SELEKT '", "'"),
	}
	if all {
		lines = append(lines,
			fill("SELECT LENGTH('", "')"),
			"# execute p",
			prepare("SELEKT '", "'"),
			fmt.Sprintf("# long ins 0 <63 x%d>", size-7),
			"# execute ins long",
			"# prepare third INSERT INTO t VALUES (3, ?)",
			fmt.Sprintf("# long third 0 <63 x%d>", size-7),
			"# execute third long",
			fmt.Sprintf("SELECT REPEAT('d', %d), 'second'", cell),
			fmt.Sprintf("# prepare row SELECT REPEAT('d', %d)", cell-2),
			"# execute row",
			"# execute row cursor",
			"# fetch row 2",
			fmt.Sprintf("# infile 4<09>|<65 x%d>", size),
			"LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
			fill("DO '", "'"),
		)
	}
	return strings.Join(append(lines, "SELECT id, LENGTH(b) FROM t WHERE id < 100"), "\n") + "\n"
}

// TestF049 has values by COM_STMT_EXECUTE that need several packets: one that fits its
// column, and one that does not; the sessions of others go on.
func TestF049(t *testing.T) {
	t.Parallel()
	fits, tooLong := 20<<20, 17<<20 // the most of a MEDIUMBLOB is 16 MiB
	if allSizes() {
		fits, tooLong = 40<<20, 106<<20
	}
	text := fmt.Sprintf(`# modes autocommit
# large
CREATE TABLE t (id INT PRIMARY KEY, l LONGBLOB, m MEDIUMBLOB)
# body
# repeat 50 INSERT INTO t (id) VALUES (10$i)
# prepare l INSERT INTO t (id, l) VALUES (?, ?)
# execute l int=1 | blob=<61 x%d>
# prepare m INSERT INTO t (id, m) VALUES (?, ?)
# execute m int=2 | blob=<62 x%d>
SET sql_mode = ''
# execute m int=3 | blob=<62 x%d>
SHOW WARNINGS
# conn other
# repeat 50 INSERT INTO t (id) VALUES (20$i)
# stored SELECT LENGTH(l) FROM t WHERE id = 1 => %d
`, fits, tooLong, tooLong, fits)
	script, err := Parse("f049", text)
	require.NoError(t, err)
	servers.Each(t, func(t *testing.T, server *servers.Server) { Run(t, server, servers.StartSluice(t, server), script) })
}

// TestF051: a statement of more than 65,535 parameters is refused by the server, and rows
// of many columns are stored one by one and in bursts.
func TestF051(t *testing.T) {
	t.Parallel()
	const columns = 40
	rows := 500
	if allSizes() {
		rows = 20_000
	}
	params := strings.TrimSuffix(strings.Repeat("int=$i | ", columns), " | ")
	values := strings.TrimSuffix(strings.Repeat("1000$i, ", columns), ", ")
	definition := "c0 INT PRIMARY KEY"
	for i := range columns - 1 {
		definition += fmt.Sprintf(", c%d INT", i+1)
	}
	text := fmt.Sprintf(`# modes autocommit
# ordinary INSERT INTO t (c0) VALUES ($i)
CREATE TABLE t (%s)
# body
# prepare p INSERT INTO t VALUES (%s)
# repeat %d # execute p %s
# repeat %d INSERT INTO t VALUES (%s)
# prepare most SELECT 1 IN (%s)
# prepare toomany SELECT 1 IN (%s)
SELECT COUNT(*) FROM t
`, definition, strings.TrimSuffix(strings.Repeat("?, ", columns), ", "), rows, params, rows, values,
		strings.TrimSuffix(strings.Repeat("?,", 65_535), ","), strings.TrimSuffix(strings.Repeat("?,", 65_536), ","))
	script, err := Parse("f051", text)
	require.NoError(t, err)
	servers.Each(t, func(t *testing.T, server *servers.Server) { Run(t, server, servers.StartSluice(t, server), script) })
}

// TestSmallServer is for a server that takes little: short packets, few statements.
func TestSmallServer(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Fresh(t, kind, "--max-allowed-packet=1M", "--max-prepared-stmt-count=20000")
			t.Run("F050", func(t *testing.T) { smallPackets(t, server) })
			t.Run("F052", func(t *testing.T) { overflow(t, server) })
			t.Run("F055", func(t *testing.T) { manyStatements(t, server) })
			t.Run("F077", func(t *testing.T) { killedInUpload(t, server) })
		})
	}
}

// smallPackets has rows of 900 bytes by sessions from before and after max_allowed_packet
// was changed, none of which fails, though merged they would not fit; and one that does
// not fit by itself.
func smallPackets(t *testing.T, server *servers.Server) {
	table(t, server, "test_f050")
	sluice := servers.StartSluice(t, server, "--burst", "1")
	connect := func(addr string) *rawclient.Client {
		c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: "test_f050"})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	row, next := strings.Repeat("r", 900), 0
	load := func(c *rawclient.Client, rows int) {
		for range rows {
			next++
			do(t, c, fmt.Sprintf("INSERT INTO t VALUES (%d, '%s')", next, row))
		}
	}
	before := connect(sluice.Addr)
	load(before, 2300)
	for _, limit := range []int{64 << 10, 300 << 10, 8 << 20} {
		server.Exec(t, fmt.Sprintf("SET GLOBAL max_allowed_packet = %d", limit))
		for _, id := range queryRows(t, server.Open(t), "SELECT id FROM information_schema.processlist WHERE user = 'sluice_svc'") {
			_, _ = server.Open(t).Exec("KILL " + id) // it may be gone already
		}
		load(before, 300)
		after := connect(sluice.Addr)
		load(after, 300)
		do(t, after, "BEGIN")
		load(after, 300)
		do(t, after, "COMMIT")
	}
	server.Exec(t, fmt.Sprintf("SET GLOBAL max_allowed_packet = %d", 1<<20))
	tooLarge := func(c *rawclient.Client) rawclient.Reply {
		reply, err := c.Do(c.Query([]byte("INSERT INTO t VALUES (0, '" + strings.Repeat("x", 1_200_000) + "')")))
		require.NoError(t, err)
		return reply
	}
	for _, c := range []*rawclient.Client{connect(server.Addr), before, connect(sluice.Addr)} {
		reply := tooLarge(c)
		require.True(t, strings.Contains(reply.String(), "ERR 1153 08S01") || strings.Contains(reply.String(), "connection closed"), reply)
		reply, err := c.Do(c.Query([]byte("SELECT 1")))
		require.True(t, err != nil || reply.Failed(), "the connection goes on: %s", reply)
	}
	last := connect(sluice.Addr)
	load(last, 50)
	do(t, last, "SELECT COUNT(*) FROM t")
	require.Equal(t, next, count(t, server, "SELECT COUNT(*) FROM test_f050.t"))
	require.Zero(t, int(sluice.Metrics(t)[rejectsMetric]))
}

// overflow has long data that is longer than max_allowed_packet in all, and in one chunk.
func overflow(t *testing.T, server *servers.Server) {
	script, err := Parse("f052_overflow", `# ordinary INSERT INTO t VALUES ($i, 'ordinary')
CREATE TABLE t (a INT PRIMARY KEY, s LONGBLOB)
# body
# prepare p INSERT INTO t VALUES (?, ?)
# long p 1 <61 x600000>
# long p 1 <62 x600000>
# execute p int=1 | long
# execute p int=2 | blob=after
`)
	require.NoError(t, err)
	sluice := servers.StartSluice(t, server)
	Run(t, server, sluice, script)
	// A chunk that is too long ends the connection; whether the error is seen is a race.
	for _, addr := range []string{server.Addr, sluice.Addr} {
		c := dial(t, addr)
		_, err := c.Do(rawclient.Prepare([]byte("SELECT ?")))
		require.NoError(t, err)
		reply, err := c.Do(rawclient.LongData(c.PreparedID(), 0, make([]byte, 1<<20)))
		require.NoError(t, err)
		if !reply.Failed() {
			reply, err = c.Do(c.Execute(c.PreparedID(), false, true, []rawclient.Param{{Type: 0xFC, Long: true}}))
			require.NoError(t, err)
		}
		require.True(t, strings.Contains(reply.String(), "ERR 1153 08S01") || strings.Contains(reply.String(), "connection closed"), reply)
		do(t, dial(t, addr), "SELECT 1")
	}
}

// manyStatements prepares up to max_prepared_stmt_count, not one less than it says, also
// where sluice has rows to check and to load.
func manyStatements(t *testing.T, server *servers.Server) {
	const most, group = 20_000, 500
	table(t, server, "test_f055_many")
	sluice := servers.StartSluice(t, server, "--burst", "1")
	connect := func(addr string) *rawclient.Client {
		c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: "test_f055_many"})
		require.NoError(t, err)
		return c
	}
	prepared := func() int {
		var n int
		require.NoError(t, server.Open(t).QueryRow("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").Scan(new(string), &n))
		return n
	}
	prepare := rawclient.Prepare([]byte("INSERT INTO t VALUES (?, ?)"))
	// fill prepares until the server refuses, and returns how many it took.
	fill := func(c *rawclient.Client) (taken int) {
		batch := make([]rawclient.Command, group)
		for i := range batch {
			batch[i] = prepare
		}
		for refused := false; !refused; {
			require.NoError(t, c.Send(batch...))
			for range batch {
				reply, err := c.Receive(prepare)
				require.NoError(t, err)
				if reply.Failed() {
					require.Contains(t, reply.String(), "ERR 1461 42000")
					refused = true
				} else {
					taken++
				}
			}
		}
		return taken
	}
	loader := connect(sluice.Addr)
	defer func() { _ = loader.Close() }()
	ordinary(t, loader, 1)
	do(t, loader, "SELECT COUNT(*) FROM t")
	require.Zero(t, prepared(), "statements that sluice has left open")
	c := connect(sluice.Addr)
	defer func() { _ = c.Close() }()
	require.Equal(t, most, fill(c))
	ordinary(t, loader, 100) // cannot be checked: relayed
	ordinary(t, c, 200)
	id := c.PreparedID()
	execute := c.Execute(id, false, true, []rawclient.Param{
		{Type: 3, Value: []byte{255, 1, 0, 0}}, {Type: 0xFD, Value: rawclient.LenencString([]byte("prepared"))},
	})
	reply, err := c.Do(execute)
	require.NoError(t, err)
	require.False(t, reply.Failed(), reply)
	require.NoError(t, c.Send(rawclient.CloseStatement(id)))
	reply, err = c.Do(prepare)
	require.NoError(t, err)
	require.False(t, reply.Failed(), reply)
	do(t, loader, "SELECT COUNT(*) FROM t")
	require.Equal(t, most, prepared())
	require.Equal(t, 151, count(t, server, "SELECT COUNT(*) FROM test_f055_many.t"))
}

// dial logs in at the schema test.
func dial(t *testing.T, addr string) *rawclient.Client {
	t.Helper()
	c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: "test"})
	if err != nil {
		t.Fatalf("log in at %s: %v", addr, err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
