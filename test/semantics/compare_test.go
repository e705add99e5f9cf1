package semantics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/stage"
)

// script is a list of statements to be run directly and through sluice, each time
// in a schema of its own.
type script struct {
	user     string   // app if empty
	setup    []string // by root, in a new schema
	again    []string // instead of that, what brings the schema back to where it was
	play     []string
	errors   bool // autocommit inserts may fail: directly at once, through sluice later, so that only what is stored is compared
	anyCount bool // affected rows may differ: batched, they are one per row
	unbound  bool // nothing needs to be batched
	rejected int  // statements that go to the reject log
}

// run plays both and compares every outcome and every table.
func (p script) run(s *stage.Stage) {
	s.Helper()
	if p.user == "" {
		p.user = "app"
	}
	p.prepare(s)
	direct := p.outcomes(s.Direct(p.user))
	want := dump(s)

	p.prepare(s)
	before, rejected := s.Metric(stage.Batched), s.Metric(stage.Rejects)
	proxied := p.outcomes(s.Through(p.user))
	s.Flush()
	for i := range p.play {
		if p.anyCount && isInsert(p.play[i]) {
			_, direct[i], _ = strings.Cut(direct[i], ", ")
			_, proxied[i], _ = strings.Cut(proxied[i], ", ")
		}
		if !p.errors || !isInsert(p.play[i]) {
			require.Equal(s, direct[i], proxied[i], "statement %d of %q: %s", i, p.play, p.play[i])
		}
	}
	require.Equal(s, want, dump(s), "what is stored after %q", p.play)
	if !p.unbound {
		require.Greater(s, s.Metric(stage.Batched), before, "nothing of %q was batched; %v", p.play, s.RelayedFor())
	}
	if p.rejected != anyNumber {
		require.Equal(s, rejected+p.rejected, s.Metric(stage.Rejects), "rejects of %q", p.play)
	}
}

// anyNumber of statements may be rejected: what is stored tells.
const anyNumber = -1

func isInsert(statement string) bool {
	return strings.HasPrefix(statement, "INSERT") || strings.HasPrefix(statement, "REPLACE")
}

func (p script) prepare(s *stage.Stage) {
	s.Helper()
	if p.again != nil {
		s.Root(p.again...)
		return
	}
	rebuild(s, p.setup)
}

func rebuild(s *stage.Stage, setup []string) {
	s.Helper()
	s.Server.Exec(s.T, "DROP DATABASE "+s.Schema, "CREATE DATABASE "+s.Schema)
	s.Root(setup...)
}

// outcomes is what a client sees of each statement.
func (p script) outcomes(c *stage.Client) []string {
	c.Helper()
	defer c.Close()
	list := make([]string, len(p.play))
	for i, statement := range p.play {
		if isInsert(statement) || strings.HasPrefix(statement, "SET") || strings.HasPrefix(statement, "UPDATE") {
			n, err := c.Try(statement)
			list[i] = fmt.Sprintf("%d affected, error %d", n, stage.Errno(err))
			continue
		}
		rows, err := c.TryQuery(statement)
		list[i] = fmt.Sprintf("%q, error %d", rows, stage.Errno(err))
	}
	return list
}

// dump is the content of the schema's tables.
func dump(s *stage.Stage) []string {
	s.Helper()
	var lines []string
	for _, table := range s.Stored("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'") {
		for _, row := range s.Stored("SELECT * FROM `" + table + "`") {
			lines = append(lines, table+": "+row)
		}
	}
	return lines
}

// inserts writes n statements, %d in them counting from first.
func inserts(first, n int, format string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.ReplaceAll(format, "%d", fmt.Sprint(first+i))
	}
	return list
}

func join(lists ...[]string) []string { return slices.Concat(lists...) }
