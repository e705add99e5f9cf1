package rewrite

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

// sessionVariables are what both families report, as far as a State needs it.
func sessionVariables(changes ...string) map[string]string {
	vars := map[string]string{
		"sql_mode":                 "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
		"character_set_client":     "utf8mb4",
		"character_set_connection": "utf8mb4",
		"collation_connection":     "utf8mb4_general_ci",
		"time_zone":                "SYSTEM",
		"foreign_key_checks":       "ON",
		"unique_checks":            "ON",
		"div_precision_increment":  "4",
		"default_week_format":      "0",
		"lc_time_names":            "en_US",

		"explicit_defaults_for_timestamp": "ON",
		"auto_increment_increment":        "1",
		"auto_increment_offset":           "1",
	}
	for i := 0; i+1 < len(changes); i += 2 {
		vars[changes[i]] = changes[i+1]
	}
	return vars
}

func newState(t testing.TB, dialect Dialect, changes ...string) *State {
	t.Helper()
	s, why := NewState(sessionVariables(changes...), dialect, 101119)
	require.Empty(t, why)
	return s
}

func TestNewState(t *testing.T) {
	s := newState(t, MySQL,
		"sql_mode", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,NO_AUTO_VALUE_ON_ZERO,IGNORE_SPACE,PIPES_AS_CONCAT",
		"character_set_client", "latin1", "time_zone", "+02:00", "foreign_key_checks", "OFF")
	require.Equal(t, Lex{
		Dialect: MySQL, Version: 101119, ANSIQuotes: true, NoBackslashEscapes: true,
		IgnoreSpace: true, PipesAsConcat: true, Charset: "latin1",
	}, s.Lex)
	require.False(t, s.Strict)
	require.True(t, s.NoAutoValueOnZero)
	require.False(t, s.ForeignKeyChecks)
	require.True(t, s.UniqueChecks)
	require.EqualValues(t, 1, s.AutoIncrementIncrement)
	require.Equal(t, "+02:00", s.TimeZone)
	require.True(t, newState(t, MySQL, "sql_mode", "STRICT_ALL_TABLES").Strict)
}

func TestNewStateRefuses(t *testing.T) {
	for mode, want := range map[string]Reason{
		"EMPTY_STRING_IS_NULL":        "sql_mode EMPTY_STRING_IS_NULL: not known to be harmless",
		"PIPES_AS_CONCAT,ORACLE":      "sql_mode ORACLE: not known to be harmless",
		"STRICT_ALL_TABLES,BRAND_NEW": "sql_mode BRAND_NEW: not known to be harmless",
	} {
		_, why := NewState(sessionVariables("sql_mode", mode), MariaDB, 101119)
		require.Equal(t, want, why)
	}
	vars := sessionVariables()
	delete(vars, "time_zone")
	_, why := NewState(vars, MySQL, 90704)
	require.Equal(t, Reason("session variable time_zone: the server does not report it"), why)
	_, why = NewState(sessionVariables("lc_time_names", `a\b`), MySQL, 90704)
	require.Equal(t, Reason("session variable lc_time_names: its value cannot be passed on"), why)
}

func TestCarry(t *testing.T) {
	carried := newState(t, MariaDB, "time_zone", "Europe/O'Neil", "unique_checks", "OFF", "check_constraint_checks", "ON").Carry()
	require.Equal(t, []Setting{
		{"sql_mode", "'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'"},
		{"character_set_client", "'utf8mb4'"},
		{"character_set_connection", "'utf8mb4'"},
		{"collation_connection", "'utf8mb4_general_ci'"},
		{"time_zone", "'Europe/O''Neil'"},
		{"foreign_key_checks", "1"},
		{"unique_checks", "0"},
		{"explicit_defaults_for_timestamp", "1"},
		{"div_precision_increment", "4"},
		{"default_week_format", "0"},
		{"lc_time_names", "'en_US'"},
		{"check_constraint_checks", "1"},
	}, carried)
}

// MariaDB's bulk insert would discard rows that were applied before the one
// that fails, so that a loading connection must not use it.
func TestCarryNeverTurnsOnBulkInsert(t *testing.T) {
	for dialect, want := range map[Dialect]string{MariaDB: "1", MySQL: "0"} {
		s := newState(t, dialect, "unique_checks", "OFF", "foreign_key_checks", "OFF")
		require.Equal(t, dialect == MariaDB, s.BulkInsert())
		require.Contains(t, s.Carry(), Setting{"foreign_key_checks", "0"})
		require.Contains(t, s.Carry(), Setting{"unique_checks", want})
		require.False(t, s.UniqueChecks)
	}
}

func TestFingerprint(t *testing.T) {
	base := newState(t, MySQL)
	same := newState(t, MySQL, "wait_timeout", "5")
	require.Equal(t, base.Fingerprint(), same.Fingerprint())
	seen := map[string]bool{base.Fingerprint(): true}
	for _, change := range [][2]string{
		{"sql_mode", ""}, {"character_set_client", "latin1"}, {"collation_connection", "utf8mb4_bin"}, {"time_zone", "UTC"},
		{"unique_checks", "OFF"}, {"auto_increment_increment", "2"}, {"auto_increment_offset", "2"},
	} {
		f := newState(t, MySQL, change[0], change[1]).Fingerprint()
		require.False(t, seen[f], change)
		seen[f] = true
	}
	other := newState(t, MySQL)
	other.Schema = "other"
	require.False(t, seen[other.Fingerprint()])
}

func TestFixedTimestamp(t *testing.T) {
	require.True(t, FixedTimestamp("1000000000.000000", "1000000000.000000"))
	require.False(t, FixedTimestamp("1796090441.718813", "1796090441.719200"))
}

func TestHarmlessVariables(t *testing.T) {
	global := sessionVariables("sql_select_limit", "18446744073709551615", "wait_timeout", "28800", "binlog_row_image", "FULL", "system_versioning_asof", "DEFAULT")
	for name, c := range map[string]struct {
		variable, value string
		want            Reason
	}{
		"nothing differs":    {},
		"harmless":           {"wait_timeout", "5", ""},
		"harmless family":    {"optimizer_search_depth", "1", ""},
		"carried":            {"time_zone", "UTC", ""},
		"carried by MariaDB": {"check_constraint_checks", "OFF", ""},
		"MySQL only":         {"block_encryption_mode", "aes-256-cbc", "session variable block_encryption_mode: not known to be harmless"},
		"session only":       {"rand_seed1", "77", ""},
		"not replicated":     {"sql_log_bin", "OFF", "session variable sql_log_bin: not known to be harmless"},
		"insert_id set":      {"insert_id", "7", "session variable insert_id: not known to be harmless"},
		"insert_id not set":  {"insert_id", "0", ""},
		"read only":          {"tx_read_only", "ON", "session variable tx_read_only: not known to be harmless"},
		"own GTIDs in OK":    {"session_track_gtids", "OWN_GTID", "session variable session_track_gtids: not known to be harmless"},
		"tracked":            {"session_track_system_variables", "autocommit,time_zone", ""},
		"tracked GTID":       {"session_track_system_variables", "autocommit, Last_GTID", "session variable session_track_system_variables: not known to be harmless"},
		"all tracked":        {"session_track_system_variables", "*", "session variable session_track_system_variables: not known to be harmless"},
		"history":            {"system_versioning_asof", "2001-01-01", "session variable system_versioning_asof: not known to be harmless"},
		"binlog":             {"binlog_row_image", "MINIMAL", "session variable binlog_row_image: not known to be harmless"},
		"unknown":            {"brand_new", "ON", "session variable brand_new: not known to be harmless"},
	} {
		session := maps.Clone(global)
		if c.variable != "" {
			session[c.variable] = c.value
		}
		require.Equal(t, c.want, HarmlessVariables(session, global, MariaDB), name)
	}
	// Global positions move by themselves; a list cut by sql_select_limit proves nothing.
	session := maps.Clone(global)
	session["gtid_executed"], global["gtid_executed"] = "a:1", "a:1-2"
	require.Empty(t, HarmlessVariables(session, global, MySQL))
	for _, limit := range []string{"", "600"} {
		session["sql_select_limit"] = limit
		require.Equal(t, Reason("sql_select_limit cuts the list of session variables"), HarmlessVariables(session, global, MySQL))
	}

	// Required whatever the global value is, and named in a stable order.
	global["transaction_read_only"], global["sql_log_bin"] = "ON", "OFF"
	for range 10 {
		require.Equal(t, Reason("session variable sql_log_bin: not known to be harmless"), HarmlessVariables(global, global, MySQL))
	}
}
