package sysbench

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

const (
	patience  = 3 * time.Minute // for one run; it is there to end a test that hangs
	tableSize = 1000
)

func TestMain(m *testing.M) { servers.Main(m) }

// TestReadWrite runs the transactions of oltp_read_write, prepared and as text. It has
// one thread: two would lose deadlocks, which sysbench counts as ignored errors.
func TestReadWrite(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.run(t, "oltp_read_write", "prepare", tables...)
		for _, mode := range []string{"disable", "auto"} {
			const events = 300
			printed := b.run(t, "oltp_read_write", "run", append(tables, "--threads=1", "--db-ps-mode="+mode, limit(events))...)
			require.EqualValues(t, events, number(t, printed, `transactions:\s+(\d+)`), printed)
			unbroken(t, printed)
		}
		require.EqualValues(t, tableSize, b.count(t, "sbtest1"))
		b.run(t, "oltp_read_write", "cleanup", tables...)
	})
}

// TestInsert runs oltp_insert: its keys are generated, so each row is there by
// the server's own doing.
func TestInsert(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		const events = 1500
		b.run(t, "oltp_insert", "prepare", tables...)
		for i, mode := range []string{"disable", "auto"} {
			printed := b.run(t, "oltp_insert", "run", append(tables, "--db-ps-mode="+mode, limit(events))...)
			unbroken(t, printed)
			require.EqualValues(t, tableSize+(i+1)*events, b.count(t, "sbtest1"))
		}
		b.run(t, "oltp_insert", "cleanup", tables...)
	})
}

// TestExplicitInsert runs inserts with explicit keys: nearly all are batched,
// with at least a hundred rows a flush.
func TestExplicitInsert(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		const events, script = 20_000, "../bench/explicit_insert.lua"
		b.run(t, script, "prepare")
		printed := b.run(t, script, "run", limit(events))
		unbroken(t, printed)
		b.sluice.WaitFor(t, "sluice_pending_rows", 0, patience)
		require.EqualValues(t, events, b.count(t, "sbexplicit"))
		require.Zero(t, b.sluice.Metric(t, "sluice_rejects_total"))
		in := b.sluice.Metric(t, "sluice_rows_in_total")
		out := b.sluice.Metric(t, "sluice_rows_out_total")
		flushes := b.sluice.Metric(t, "sluice_flushes_total")
		t.Logf("%.0f rows batched of %d, in %.0f flushes", in, events, flushes)
		require.Equal(t, in, out)
		require.Greater(t, in, float64(events)*95/100)
		require.GreaterOrEqual(t, in, 100*flushes)
		b.run(t, script, "cleanup")
	})
}

// tables are the options of sysbench's own scripts.
var tables = []string{"--tables=1", "--table-size=" + strconv.Itoa(tableSize)}

// limit ends a run by its number of events and not by a clock.
func limit(events int) string { return fmt.Sprintf("--events=%d --time=0", events) }

// bench is sysbench with a sluice and a schema of its own.
type bench struct {
	server *servers.Server
	sluice *servers.Sluice
	schema string
}

func each(t *testing.T, run func(*testing.T, *bench)) {
	t.Helper()
	schema := "test_" + strings.ToLower(t.Name())
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		server.Exec(t, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema)
		run(t, &bench{server: server, sluice: servers.StartSluice(t, server), schema: schema})
	})
}

// run runs a command of a script and returns what it printed.
func (b *bench) run(t *testing.T, script, command string, options ...string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(b.sluice.Addr)
	require.NoError(t, err)
	argv := []string{script, "--db-driver=mysql", "--mysql-host=" + host, "--mysql-port=" + port,
		"--mysql-user=app", "--mysql-password=app", "--mysql-db=" + b.schema, "--threads=2"}
	for _, o := range options {
		argv = append(argv, strings.Fields(o)...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "sysbench", append(argv, command)...).CombinedOutput()
	require.NoError(t, err, "sysbench %s %s (is it installed? .ci/install does that)\n%s", script, command, out)
	require.NotContains(t, string(out), "FATAL")
	return string(out)
}

// unbroken holds that no statement failed and no connection was lost: sysbench
// carries on after both.
func unbroken(t *testing.T, printed string) {
	t.Helper()
	require.Zero(t, number(t, printed, `ignored errors:\s+(\d+)`), printed)
	require.Zero(t, number(t, printed, `reconnects:\s+(\d+)`), printed)
}

// count counts the rows directly on the server.
func (b *bench) count(t *testing.T, table string) int {
	t.Helper()
	var n int
	require.NoError(t, b.server.Open(t).QueryRow("SELECT COUNT(*) FROM "+b.schema+"."+table).Scan(&n))
	return n
}

func number(t *testing.T, printed, pattern string) int {
	t.Helper()
	match := regexp.MustCompile(pattern).FindStringSubmatch(printed)
	require.NotNil(t, match, "no %s in what sysbench printed:\n%s", pattern, printed)
	n, err := strconv.Atoi(match[1])
	require.NoError(t, err)
	return n
}
