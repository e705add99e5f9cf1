package config

import (
	"errors"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Rule overrides settings for the users, schemas and tables that its patterns
// match. In a pattern * stands for any characters and ? for one; a pattern that
// is left out matches everything. Users match exactly, schemas and tables
// without regard to case, since that is up to the server.
type Rule struct {
	User, Schema, Table string

	// What the rule overrides; nil where it says nothing.
	Profile      *Profile
	Rows         *Rows
	Bytes        *Bytes
	Delay        *time.Duration
	MaxDelay     *time.Duration
	OnError      *OnError
	AffectedRows *AffectedRows
}

// ruleSetting is one key of a rule.
type ruleSetting struct {
	key     string
	pattern bool
	at      func(*Rule) value
	given   func(*Rule) bool
}

var ruleSettings = []*ruleSetting{
	{"user", true, func(r *Rule) value { return textValue(&r.User) }, func(r *Rule) bool { return r.User != "" }},
	{"schema", true, func(r *Rule) value { return textValue(&r.Schema) }, func(r *Rule) bool { return r.Schema != "" }},
	{"table", true, func(r *Rule) value { return textValue(&r.Table) }, func(r *Rule) bool { return r.Table != "" }},
	{"profile", false, func(r *Rule) value { return profileValue(own(&r.Profile)) }, func(r *Rule) bool { return r.Profile != nil }},
	{"window.rows", false, func(r *Rule) value { return rowsValue(own(&r.Rows)) }, func(r *Rule) bool { return r.Rows != nil }},
	{"window.bytes", false, func(r *Rule) value { return bytesValue(own(&r.Bytes), 64*KiB, math.MaxInt64) }, func(r *Rule) bool { return r.Bytes != nil }},
	{"window.delay", false, func(r *Rule) value { return durationValue(own(&r.Delay), time.Millisecond, longest) }, func(r *Rule) bool { return r.Delay != nil }},
	{"window.max_delay", false, func(r *Rule) value { return durationValue(own(&r.MaxDelay), time.Millisecond, longest) }, func(r *Rule) bool { return r.MaxDelay != nil }},
	{"on_error", false, func(r *Rule) value { return enumValue(own(&r.OnError), OnErrorFail, OnErrorReject) }, func(r *Rule) bool { return r.OnError != nil }},
	{"affected_rows", false, func(r *Rule) value { return enumValue(own(&r.AffectedRows), AffectedPerRow, AffectedExact) }, func(r *Rule) bool { return r.AffectedRows != nil }},
}

// own allocates what an optional setting points to.
func own[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

func ruleKeys() []string {
	list := make([]string, len(ruleSettings))
	for i, s := range ruleSettings {
		list[i] = s.key
	}
	return list
}

// check returns what is wrong with a rule as a whole.
func (r *Rule) check() error {
	matches, overrides := false, false
	for _, s := range ruleSettings {
		if s.given(r) {
			matches = matches || s.pattern
			overrides = overrides || !s.pattern
		}
	}
	var errs []error
	if !matches {
		errs = append(errs, errors.New("the rule names no user, schema or table: settings for everything stand outside the rules"))
	}
	if !overrides {
		errs = append(errs, errors.New("the rule overrides nothing"))
	}
	if strings.Contains(r.Table, ".") {
		errs = append(errs, errors.New("table: a dot in the pattern matches no table; write the schema as schema: (a table that has a dot in its name: use ?)"))
	}
	return errors.Join(errs...)
}

// String returns the rule in one line.
func (r Rule) String() string {
	var parts []string
	for _, s := range ruleSettings {
		if s.given(&r) {
			parts = append(parts, s.key+"="+strings.Join(s.at(&r).Strings(), " "))
		}
	}
	return strings.Join(parts, " ")
}

func (r *Rule) matches(user, schema, table string) bool {
	return (r.User == "" || glob(r.User, user)) &&
		(r.Schema == "" || glob(strings.ToLower(r.Schema), strings.ToLower(schema))) &&
		(r.Table == "" || glob(strings.ToLower(r.Table), strings.ToLower(table)))
}

// Effective is what holds for one user and table.
type Effective struct {
	Profile      Profile
	Window       Window
	OnError      OnError
	AffectedRows AffectedRows
}

// Resolve returns what holds for a user's inserts into a table through a
// listener with the default profile.
func (c *Config) Resolve(user, schema, table string) Effective {
	return c.ResolveOn(Listener{Profile: c.Profile}, user, schema, table)
}

// ResolveOn is Resolve for a listener. Each setting comes from the first rule
// that matches and states it; a rule's profile wins over the listener's.
func (c *Config) ResolveOn(l Listener, user, schema, table string) Effective {
	e := Effective{Profile: l.Profile, Window: c.Window, OnError: c.OnError, AffectedRows: c.AffectedRows}
	// Backwards, so that what an earlier rule says is written last.
	for i := len(c.Rules) - 1; i >= 0; i-- {
		r := &c.Rules[i]
		if !r.matches(user, schema, table) {
			continue
		}
		override(&e.Profile, r.Profile)
		override(&e.Window.Rows, r.Rows)
		override(&e.Window.Bytes, r.Bytes)
		override(&e.Window.Delay, r.Delay)
		override(&e.Window.MaxDelay, r.MaxDelay)
		override(&e.OnError, r.OnError)
		override(&e.AffectedRows, r.AffectedRows)
	}
	// Two rules may each state one of the delays.
	e.Window.MaxDelay = max(e.Window.MaxDelay, e.Window.Delay)
	return e
}

func override[T any](at, by *T) {
	if by != nil {
		*at = *by
	}
}

// glob matches * and ?, going back to the last * when a character differs:
// linear in the text for each star, without recursion.
func glob(pattern, text string) bool {
	p, t, star, from := 0, 0, -1, 0
	for t < len(text) {
		_, width := utf8.DecodeRuneInString(text[t:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			t += width
		case p < len(pattern) && pattern[p] == text[t]:
			p++
			t++
		case star >= 0:
			_, width = utf8.DecodeRuneInString(text[from:])
			from += width
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
