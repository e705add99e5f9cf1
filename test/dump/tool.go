package dump

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// patience bounds one dump or replay, which takes seconds: it ends a test that
// hangs, also where a server ends the waiting for a lock after a minute or more.
const patience = time.Minute

// tools are the programs of a kind of server, and what its dump tool has to be
// told so that the dump has everything and only depends on the schema.
type tools struct {
	client, dump string
	options      []string
}

var toolsOf = map[servers.Kind]tools{
	servers.KindMariaDB: {"mariadb", "mariadb-dump", []string{"--routines", "--events", "--skip-dump-date"}},
	servers.KindMySQL: {"mysql", "mysqldump",
		[]string{"--routines", "--events", "--skip-dump-date", "--no-tablespaces", "--set-gtid-purged=OFF"}},
}

// dump runs the dump tool against an address.
func dump(t *testing.T, kind servers.Kind, address string, args ...string) []byte {
	t.Helper()
	return run(t, kind, toolsOf[kind].dump, address, nil, append(toolsOf[kind].options, args...)...)
}

// replay runs the client with a script as its input.
func replay(t *testing.T, kind servers.Kind, address string, script []byte, args ...string) {
	t.Helper()
	run(t, kind, toolsOf[kind].client, address, script, args...)
}

func run(t *testing.T, kind servers.Kind, name, address string, input []byte, args ...string) []byte {
	t.Helper()
	argv, err := servers.Program(kind, name)
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	argv = append(argv, "--no-defaults", "--user=root", "--protocol=TCP", "--host="+host, "--port="+port)
	argv = append(argv, args...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Stdin = bytes.NewReader(input)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	require.NoError(t, err, "%s\n%s", strings.Join(argv, " "), complaints.String())
	return out
}

// inserts counts the INSERT and REPLACE statements of a dump. The tools write
// line ends within values as \n, so that each begins a line and no value does.
func inserts(script []byte) int {
	count := 0
	for line := range bytes.Lines(script) {
		if bytes.HasPrefix(line, []byte("INSERT ")) || bytes.HasPrefix(line, []byte("REPLACE ")) {
			count++
		}
	}
	return count
}
