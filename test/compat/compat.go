package compat

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// globals keeps scripts that change global variables of a shared server away
// from all others.
var globals = map[servers.Kind]*sync.RWMutex{
	servers.KindMariaDB: {},
	servers.KindMySQL:   {},
}

const (
	rejectsMetric = "sluice_rejects_total"
	batchedMetric = `sluice_statements_total{verdict="batched"}`
)

// played is one run of a script.
type played struct {
	entries  []Entry
	before   Tables // after the set-up
	tables   Tables
	rejected int // statements that went to the reject log
	batched  int // statements that sluice answered itself
	stored   []string
}

// Run plays the script directly and through sluice, one variant after the
// other, and compares what comes back and what is stored. Rejects are counted,
// so nobody else may be loading through this sluice if the script has any.
func Run(t *testing.T, server *servers.Server, sluice *servers.Sluice, script *Script) {
	t.Helper()
	lock := globals[server.Kind]
	if len(script.Globals) > 0 {
		lock.Lock()
		defer lock.Unlock()
		setGlobals(t, server, script.Globals)
	} else {
		lock.RLock()
		defer lock.RUnlock()
	}
	for _, variant := range script.Variants() {
		t.Run(variant.String(), func(t *testing.T) {
			direct := playOnce(t, server, nil, script, variant)
			if !variant.Wrapped {
				checkStored(t, server.Kind, script, direct)
			}
			proxied := playOnce(t, server, sluice, script, variant)
			if least := script.leastBatched(variant); proxied.batched < least {
				t.Errorf("only %d statements were batched, want at least %d", proxied.batched, least)
			}
			for _, difference := range compare(script, variant, direct, proxied) {
				t.Error(difference)
			}
		})
	}
}

// playOnce plays the script on fresh schemas, directly if sluice is nil.
func playOnce(t *testing.T, server *servers.Server, sluice *servers.Sluice, script *Script, v Variant) played {
	t.Helper()
	addr, before := server.Addr, map[string]float64{}
	if sluice != nil {
		addr, before = sluice.Addr, sluice.Metrics(t)
	}
	schema := "test_" + strings.ToLower(script.Name)
	schemas := []string{schema}
	for _, suffix := range script.Schemas {
		schemas = append(schemas, schema+"_"+suffix)
	}
	for _, name := range schemas {
		server.Exec(t, "DROP DATABASE IF EXISTS `"+name+"`",
			"CREATE DATABASE `"+name+"` CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	}
	warmUp(t, server)
	p := newPlayer(addr, schema)
	p.compression = script.Compression
	p.parked = v.Parked
	if err := p.play(script.Setup); err != nil {
		t.Fatalf("set up on %s: %v", addr, err)
	}
	for _, entry := range p.entries {
		if entry.Reply.Failed() {
			t.Fatalf("set-up failed: %s\n%s", entry.Step, entry.Reply)
		}
	}
	empty := dumpTables(t, server, schemas)
	if err := p.play(script.steps(v)); err != nil {
		t.Fatalf("play on %s: %v", addr, err)
	}
	if err := p.close(); err != nil {
		t.Fatalf("quit on %s: %v", addr, err)
	}
	result := played{entries: p.entries, before: empty}
	if sluice != nil {
		flush(t, server, sluice, schemas)
		after := sluice.Metrics(t)
		result.rejected = int(after[rejectsMetric] - before[rejectsMetric])
		result.batched = int(after[batchedMetric] - before[batchedMetric])
	}
	result.tables = dumpTables(t, server, schemas)
	for _, e := range script.Stored {
		result.stored = append(result.stored, storedText(t, server, schema, e))
	}
	return result
}

// warmUp lets the server's password cache know the usual user, so that all
// logins of a script take the same way. TestFullAuthentication is for the other.
func warmUp(t *testing.T, server *servers.Server) {
	t.Helper()
	c, err := rawclient.Dial(server.Addr, rawclient.Options{User: "app", Password: "app"})
	if err != nil {
		t.Fatalf("log in directly: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func storedText(t *testing.T, server *servers.Server, schema string, e expectation) string {
	t.Helper()
	if e.kind != "" && e.kind != server.Kind {
		return e.want
	}
	db := server.Open(t)
	query := strings.ReplaceAll(string(expand(e.sql)), "$S", schema)
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("USE `" + schema + "`"); err != nil {
		t.Fatal(err)
	}
	rows, err := readRows(db, query)
	if err != nil {
		return err.Error()
	}
	return strings.Join(rows, "; ")
}

// checkStored compares the direct run with what the case is known to give: it
// guards the script, not sluice.
func checkStored(t *testing.T, kind servers.Kind, script *Script, direct played) {
	t.Helper()
	for i, e := range script.Stored {
		if direct.stored[i] != e.want {
			t.Errorf("directly on %s, %s\n gives %s\n want  %s", kind, e.sql, direct.stored[i], e.want)
		}
	}
}

// setGlobals sets global variables and puts them back at the test's end.
func setGlobals(t *testing.T, server *servers.Server, settings []string) {
	t.Helper()
	db := server.Open(t)
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		var old string
		if err := db.QueryRow("SELECT @@GLOBAL." + name).Scan(&old); err != nil {
			t.Fatalf("read %s: %v", name, err)
		}
		server.Exec(t, "SET GLOBAL "+name+"="+value)
		var restored any = old
		if n, err := strconv.Atoi(old); err == nil {
			restored = n // a boolean variable takes no text
		}
		t.Cleanup(func() {
			if _, err := db.Exec("SET GLOBAL "+name+"=?", restored); err != nil {
				t.Errorf("restore %s: %v", name, err)
			}
		})
	}
}

// String shows an entry in a report.
func (e Entry) String() string {
	return fmt.Sprintf("%s\n\t%s", e.Step, strings.Join(e.Reply, "\n\t"))
}
