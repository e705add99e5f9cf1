package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestResolve(t *testing.T) {
	c := mustLoad(t, `
backend: db
window.rows: 7
rules:
  - {user: etl_special, profile: loader}
  - {user: "etl_*", schema: "S?op", window: {delay: 5s, rows: 100}, on_error: reject}
  - {user: "etl_*", window.delay: 2m, profile: off}
  - {table: "*_Log", window.rows: auto, affected_rows: exact}
`, nil)
	base := Effective{Profile: ProfileLoader, Window: c.Window, OnError: OnErrorFail, AffectedRows: AffectedPerRow}
	changed := func(change func(*Effective)) Effective {
		e := base
		change(&e)
		return e
	}
	for _, x := range []struct {
		user, schema, table string
		want                Effective
	}{
		{"app", "shop", "orders", base},
		{"ETL_x", "shop", "orders", base}, // users match exactly
		{"etl_x", "shop", "orders", changed(func(e *Effective) {
			e.Profile, e.OnError = ProfileOff, OnErrorReject
			e.Window.Delay, e.Window.Rows = 5*time.Second, 100
		})},
		{"etl_x", "SHOP", "a_log", changed(func(e *Effective) {
			e.Profile, e.OnError = ProfileOff, OnErrorReject
			e.Window.Delay, e.Window.Rows = 5*time.Second, 100
			e.AffectedRows = AffectedExact
		})},
		{"etl_x", "other", "a_log", changed(func(e *Effective) {
			e.Profile = ProfileOff
			e.Window.Delay, e.Window.MaxDelay, e.Window.Rows = 2*time.Minute, 2*time.Minute, RowsAuto
			e.AffectedRows = AffectedExact
		})},
		{"etl_special", "other", "t", changed(func(e *Effective) {
			e.Window.Delay, e.Window.MaxDelay = 2*time.Minute, 2*time.Minute
		})},
	} {
		require.Equal(t, x.want, c.Resolve(x.user, x.schema, x.table), "%s %s %s", x.user, x.schema, x.table)
	}

	// A rule's profile wins over the listener's, which wins over the default.
	off := Listener{Profile: ProfileOff}
	require.Equal(t, ProfileOff, c.ResolveOn(off, "app", "shop", "orders").Profile)
	require.Equal(t, ProfileLoader, c.ResolveOn(off, "etl_special", "shop", "orders").Profile)
}

func TestGlob(t *testing.T) {
	for _, x := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "abc", true}, {"**", "a", true},
		{"a*", "abc", true}, {"a*", "b", false}, {"*c", "abc", true}, {"*c", "abcd", false},
		{"a*c*e", "abcde", true}, {"a*c*e", "abde", false}, {"*ab", "aab", true}, {"*abc*", "ababcab", true},
		{"?", "a", true}, {"?", "", false}, {"?", "ä", true}, {"??", "ä", false}, {"*ä?", "öäü", true},
		{"a?c", "abc", true}, {"a.c", "abc", false}, {"[a]", "a", false}, {"[a]", "[a]", true},
		{"a*", "a*", true}, {"/*", "/a/b", true}, {"*?", "é", true}, {"*?", "", false},
	} {
		require.Equal(t, x.want, glob(x.pattern, x.text), "%q %q", x.pattern, x.text)
	}
}
