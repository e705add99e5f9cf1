package compat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestLargePackets sends and receives payloads around the sizes at which one
// packet becomes two and two become three.
func TestLargePackets(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		sizes := []int{1<<24 - 2, 1<<24 - 1, 1 << 24, 1<<24 + 5, 2 * rawclient.MaxPart}
		for _, size := range sizes {
			script, err := Parse("large", largeScript(size))
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprint(size), func(t *testing.T) { Run(t, server, sluice, script) })
		}
	})
}

// largeScript has every kind of large command and reply, of exactly this size.
func largeScript(size int) string {
	// fill pads a command of one byte and the text to the size.
	fill := func(before, after string) string {
		return fmt.Sprintf("%s<61 x%d>%s", before, size-1-len(before)-len(after), after)
	}
	// A row of one column that long has its length in four bytes before it,
	// from 16 MiB on in nine.
	cell := size - 4
	if cell >= 1<<24 {
		cell = size - 9
	}
	return strings.Join([]string{
		"# modes autocommit",
		"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, b LONGBLOB)",
		"# body",
		fill("SELECT LENGTH('", "')"),
		fill("INSERT INTO t (b) VALUES ('", "')"),
		fill("# prepare p SELECT LENGTH('", "')"),
		"# execute p",
		fill("# prepare bad SELEKT '", "'"),
		"# prepare ins INSERT INTO t (b) VALUES (?)",
		fmt.Sprintf("# execute ins blob=<62 x%d>", size-18),
		fmt.Sprintf("# long ins 0 <63 x%d>", size-7),
		"# execute ins long",
		fmt.Sprintf("SELECT REPEAT('d', %d)", cell),
		fmt.Sprintf("SELECT REPEAT('d', %d), 'second'", cell),
		fmt.Sprintf("# infile <65 x%d>", size),
		"LOAD DATA LOCAL INFILE 'x' INTO TABLE t (b)",
		"SELECT id, LENGTH(b) FROM t",
		fill("DO '", "'"),
		fill("SELEKT '", "'"),
		"SELECT 1",
	}, "\n") + "\n"
}

// TestTooLargePacket holds that a statement above max_allowed_packet gives the
// server's error or its hang-up, and that sluice goes on serving.
func TestTooLargePacket(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Fresh(t, kind, "--max-allowed-packet=1M")
			sluice := servers.StartSluice(t, server)
			for _, addr := range []string{server.Addr, sluice.Addr} {
				c := dial(t, addr)
				reply, err := c.Do(c.Query([]byte("SELECT LENGTH('" + strings.Repeat("a", 2<<20) + "')")))
				if err != nil {
					t.Fatalf("%s: %v", addr, err)
				}
				text := reply.String()
				if !strings.Contains(text, "ERR 1153 08S01") && !strings.Contains(text, "connection closed") {
					t.Errorf("%s: %s", addr, text)
				}
				other := dial(t, addr)
				if reply, err := other.Do(other.Query([]byte("SELECT 1"))); err != nil || reply.Failed() {
					t.Errorf("%s: a session after: %v %v", addr, reply, err)
				}
			}
		})
	}
}

func dial(t *testing.T, addr string) *rawclient.Client {
	t.Helper()
	c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: "test"})
	if err != nil {
		t.Fatalf("log in at %s: %v", addr, err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
