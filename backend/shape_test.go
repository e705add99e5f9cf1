package backend

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/rewrite"
)

// A shape is after a restart what it was, byte for byte.
func TestDescribeAndRevive(t *testing.T) {
	latin1 := variables("character_set_client", "latin1", "character_set_connection", "latin1", "collation_connection", "latin1_swedish_ci")
	for sql, vars := range map[string]map[string]string{
		"INSERT INTO t (a, b) VALUES (1, 2)":                                               variables(),
		"INSERT INTO t VALUES (1, 2, 'x')":                                                 variables("time_zone", "+02:00", "sql_mode", "ANSI_QUOTES"),
		"INSERT IGNORE INTO t SET a = 1":                                                   variables("unique_checks", "OFF", "foreign_key_checks", "OFF"),
		"REPLACE INTO x.t (c, a) VALUES ('x', 1)":                                          variables("auto_increment_increment", "3"),
		"INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = b + 1, c = 'd\xe9j\xe0'": latin1,
	} {
		plan, _ := statement(t, sql, numbers(func(t *rewrite.Table) { t.Definition = "a byte \xff" }), vars)
		blob, err := describe(plan, vars, "user")
		require.NoError(t, err, sql)
		s := revive(blob, "x.t")
		require.NoError(t, s.dead, sql)
		require.Equal(t, plan, s.Plan, sql)
		require.Equal(t, "user", s.User)
		require.Equal(t, plan.State.Lex, s.lex)
		require.Equal(t, string(plan.AppendTail(nil)), string(s.Plan.AppendTail(nil)))
		again, err := describe(s.Plan, vars, "user")
		require.NoError(t, err)
		require.Equal(t, string(blob), string(again), "the same shape is the same in the journal")
	}
}

// Tails that differ in bytes that are no UTF-8 are different shapes.
func TestDescribeTellsBytesApart(t *testing.T) {
	vars := variables("character_set_client", "latin1", "character_set_connection", "latin1", "collation_connection", "latin1_swedish_ci")
	blobs := make(map[string]bool)
	for _, c := range []string{"\xe9", "\xe8", "\xef\xbf\xbd"} {
		plan, _ := statement(t, "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE c = '"+c+"'", numbers(nil), vars)
		blob, err := describe(plan, vars, "u")
		require.NoError(t, err)
		blobs[string(blob)] = true
	}
	require.Len(t, blobs, 3)
}

// What this version does not batch is known well enough to be written to the reject log.
func TestReviveDead(t *testing.T) {
	plan, _ := statement(t, "REPLACE INTO t VALUES (1, 2, 'x')", numbers(nil), variables())
	blob, err := describe(plan, variables(), "user")
	require.NoError(t, err)
	for change, want := range map[[2]string]struct{ why, head string }{
		{`"Triggers":false`, `"Triggers":true`}:    {"a table with triggers", "REPLACE INTO `x`.`t` (`a`,`b`,`c`) VALUES "},
		{`"Ignore":false`, `"Ignore":"perhaps"`}:   {"its description in the journal is not readable", "INSERT INTO `x`.`t` VALUES "},
		{`"Name":"c"`, `"Name":"c","Invisible":1`}: {"its description in the journal is not readable", "INSERT INTO `x`.`t` VALUES "},
	} {
		changed := strings.Replace(string(blob), change[0], change[1], 1)
		require.NotEqual(t, string(blob), changed, change)
		s := revive([]byte(changed), "x.t")
		require.ErrorContains(t, s.dead, want.why)
		require.Equal(t, want.head, string(s.Plan.AppendHead(nil)))
		require.Equal(t, "x.t", s.Plan.Table.Schema+"."+s.Plan.Table.Name)
	}
	s := revive(nil, "x.t")
	require.ErrorContains(t, s.dead, "not readable")
}

// Rows that cannot be told apart count as many as they are, and are rejected as they came.
func TestDeadRecords(t *testing.T) {
	plan, rows := statement(t, "INSERT INTO t (a, b) VALUES (1, 2), (3, 4)", numbers(nil), variables())
	live := NewShape(plan, "u")
	gone := &Shape{Plan: rewrite.Unplanned(plan.Form, plan.Table, ""), dead: errors.New("why")}
	var b Batch
	b.addRecord(live, &journal.Record{Seq: 1, Rows: 2, Body: []byte("(1, 2),(3, 4)")})
	b.addRecord(gone, &journal.Record{Seq: 2, Rows: 3, Body: []byte("(5, 6),(7, 8),(9, 9)")})
	b.addRecord(live, &journal.Record{Seq: 3, Rows: 2, Body: []byte("(1, @a),(?")})
	b.addRecord(live, &journal.Record{Seq: 4, Rows: 1, Body: []byte("(1, 2, 3)")})
	require.Equal(t, 2+3+2+1, b.Len())
	require.Equal(t, 2, rows.Len())
	var statements []string
	for i := range b.entries {
		statements = append(statements, string(b.appendStatement(nil, []int{i})))
		require.Equal(t, i == 0, b.entries[i].shape.dead == nil)
	}
	const head = "INSERT INTO `x`.`t` (`a`,`b`) VALUES "
	require.Equal(t, []string{head + "(1, 2),(3, 4)", head + "(5, 6),(7, 8),(9, 9)", head + "(1, @a),(?", head + "(1, 2, 3)"}, statements)
	require.Equal(t, []uint32{0, 2, 5, 7}, b.Arrange(Limits{ChunkRows: 1, ChunkBytes: 1 << 20}).Chunks)
}
