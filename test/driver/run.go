package driver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// LargestEnv names the environment variable with the servers' max_allowed_packet. One of
// the driver's tests sends rows of all sizes up to it, or to 32 MiB.
const LargestEnv = "SLUICE_DRIVER_LARGEST"

// largest is small enough not to take minutes.
func largest() string {
	if size := os.Getenv(LargestEnv); size != "" {
		return size
	}
	return "4M"
}

// elsewhere is the test that connects to an address of the internet, and is left out.
const elsewhere = "^TestConnectorReturnsTimeout$"

// patience bounds one run, which takes seconds on an idle machine.
const patience = 15 * time.Minute

// results are those of one run, by the names of the tests: pass, fail or skip, and what
// each printed.
type results struct{ outcomes, output map[string]string }

// run has the suite test what is at an address, in a schema of its own.
func run(t *testing.T, suite string, server *servers.Server, addr, schema string) results {
	t.Helper()
	server.Exec(t, "CREATE DATABASE "+schema)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, "go", "tool", "test2json", "-t", suite, "-test.v=test2json", "-test.skip="+elsewhere)
	command.Env = append(os.Environ(), "MYSQL_TEST_USER=driver", "MYSQL_TEST_PASS=secret", "MYSQL_TEST_PROT=tcp",
		"MYSQL_TEST_ADDR="+addr, "MYSQL_TEST_DBNAME="+schema)
	out, _ := command.Output() // its exit status only says whether some test failed
	require.NoError(t, ctx.Err(), "the driver's tests do not end")
	r := results{map[string]string{}, map[string]string{}}
	for scanner := bufio.NewScanner(bytes.NewReader(out)); scanner.Scan(); {
		var event struct{ Action, Test, Output string }
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &event), "%s", scanner.Text())
		switch event.Action {
		case "output":
			r.output[event.Test] += event.Output
		case "pass", "fail", "skip":
			if event.Test != "" {
				r.outcomes[event.Test] = event.Action
			}
		}
	}
	return r
}
