package backend

import (
	"testing"

	"github.com/stretchr/testify/require"

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
		s, err := revive(blob)
		require.NoError(t, err, sql)
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
