package clients

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// TestClientsCompress has each client that can compress load and read back through a
// sluice that refuses the others. PyMySQL cannot.
func TestClientsCompress(t *testing.T) {
	rows, want, path := makeFile(t)
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Shared(t, kind)
			sluice := servers.StartSluice(t, server, "--protocol-compression-algorithms=zlib,zstd")
			for i, c := range all {
				if c.only != "" && c.only != kind || c.name == "python PyMySQL" {
					continue
				}
				for _, algorithm := range []string{"zlib", "zstd"} {
					if algorithm == "zstd" && c.name != "mysql command line" {
						continue // there is no other one
					}
					t.Run(c.name+" "+algorithm, func(t *testing.T) {
						table := fmt.Sprintf("load_%s_%d", algorithm, i)
						server.Exec(t, "DROP TABLE IF EXISTS test."+table, fmt.Sprintf(createTable, "test."+table))
						l := load{address: sluice.Addr, schema: "test", table: table, file: path, rows: rows, compression: algorithm}
						checkLoad(t, c, l, server, sluice, want)
					})
				}
			}
		})
	}
}

// TestF062Clients has the command line clients upload a file of two lines under
// compression and go on, directly and through sluice: the ids that each numbers its
// packets with after an upload are its own.
func TestF062Clients(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two lines")
	require.NoError(t, os.WriteFile(path, []byte("1\tone\n2\ttwo\n"), 0o600))
	large := filepath.Join(t.TempDir(), "many lines")
	var lines strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&lines, "%d\tline %x\n", i+10, i*7919)
	}
	require.NoError(t, os.WriteFile(large, []byte(lines.String()), 0o600))
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := servers.Shared(t, kind)
			sluice := servers.StartSluice(t, server, "--protocol-compression-algorithms=zlib,zstd")
			for _, c := range []struct {
				kind            servers.Kind
				name, algorithm string
			}{
				{servers.KindMariaDB, "mariadb", "zlib"}, {servers.KindMySQL, "mysql", "zlib"}, {servers.KindMySQL, "mysql", "zstd"},
			} {
				if c.kind == servers.KindMySQL && kind != servers.KindMySQL {
					continue // no plugin for MariaDB's accounts
				}
				var direct string
				for _, addr := range []string{server.Addr, sluice.Addr} {
					server.Exec(t, "DROP TABLE IF EXISTS test.f062", "CREATE TABLE test.f062 (id INT PRIMARY KEY, s VARCHAR(40))")
					got := uploadScript(t, c.kind, c.name, addr, c.algorithm, path, large)
					if addr == server.Addr {
						direct = got
						continue
					}
					require.Equal(t, direct, got, c)
					require.Contains(t, got, "200002\n")
				}
			}
		})
	}
}

func uploadScript(t *testing.T, kind servers.Kind, name, addr, algorithm string, files ...string) string {
	t.Helper()
	argv, err := servers.Program(kind, name)
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	argv = append(argv, "--no-defaults", "--user=app", "--password=app", "--protocol=TCP", "--host="+host, "--port="+port,
		"--local-infile=1", "--batch", "-vv", "--force")
	if kind == servers.KindMySQL {
		argv = append(argv, "--get-server-public-key")
	}
	argv = append(argv, compressFlags(kind, algorithm)...)
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "LOAD DATA LOCAL INFILE '%s' INTO TABLE f062;\nSELECT COUNT(*) FROM f062;\n", f)
	}
	b.WriteString("SELECT * FROM f062 ORDER BY id LIMIT 3;\nSELECT REPEAT('x', 100000);\n")
	return output(t, append(argv, "test"), []byte(b.String()))
}
