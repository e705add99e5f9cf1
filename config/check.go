package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// check completes the settings and finds the mistakes that are in no single
// one.
func (l *loader) check() {
	c := l.draft.Config
	if c.Backend.Network == "" && !l.blamed(backendKey) {
		l.complain(backendKey, "no server is named: %s", backendForms)
	}
	if c.DataDir == "" {
		l.complain("data_dir", "no directory is named")
	}
	l.checkTLS(l.complain)
	seen := make(map[string]bool)
	for i := range c.Listen {
		listener := &c.Listen[i]
		if listener.Profile == "" {
			listener.Profile = c.Profile
		}
		if seen[listener.Address] && !strings.HasSuffix(listener.Address, ":0") {
			l.complain("listen", "%s is there twice", listener.Address)
		}
		seen[listener.Address] = true
	}
	if c.Window.MaxDelay < c.Window.Delay {
		l.complainOf([]string{"window.max_delay", "window.delay"}, "%s is less than window.delay, %s", formatDuration(c.Window.MaxDelay), formatDuration(c.Window.Delay))
	}
	atMost := func(key string, v Bytes, otherKey string, other Bytes) {
		if v > other {
			l.complainOf([]string{key, otherKey}, "%s is more than %s, %s", v, otherKey, other)
		}
	}
	atMost("statement.bytes", c.Statement.Bytes, "chunk.bytes", c.Chunk.Bytes)
	atMost("chunk.bytes", c.Chunk.Bytes, "window.bytes", c.Window.Bytes)
	atMost("window.bytes", c.Window.Bytes, "memory.max", c.Memory.Max)
	atMost("window.bytes", c.Window.Bytes, "journal.max_bytes", c.Journal.MaxBytes)
	for i, r := range c.Rules {
		if r.Bytes != nil {
			key := fmt.Sprintf("%s[%d].window.bytes", rulesKey, i)
			atMost(key, *r.Bytes, "memory.max", c.Memory.Max)
			atMost(key, *r.Bytes, "journal.max_bytes", c.Journal.MaxBytes)
		}
	}
	for _, s := range settings {
		if s.relaxed == nil {
			continue
		}
		if text := s.relaxed(c); text != "" {
			l.warnings = append(l.warnings, l.problem([]string{s.key}, "%s", text).Error())
		}
	}
}

// problem is one with the first of the keys, which is in no single source: it stands where
// the first of them was given that was given at all.
func (l *loader) problem(keys []string, format string, args ...any) Problem {
	p := Problem{Key: keys[0], Text: fmt.Sprintf(format, args...)}
	for _, key := range keys {
		if p.Where = l.draft.origin[key]; p.Where != "" {
			break
		}
	}
	if s := find(p.Key); s != nil && (p.Where == s.env() || p.Where == "--"+s.flag()) {
		p.Key = "" // named already
	}
	return p
}

func (l *loader) complain(key, format string, args ...any) {
	l.complainOf([]string{key}, format, args...)
}

func (l *loader) complainOf(keys []string, format string, args ...any) {
	l.problems = append(l.problems, l.problem(keys, format, args...))
}

// blamed reports whether a mistake in a setting, or in its name, was found already.
func (l *loader) blamed(key string) bool {
	s := find(key)
	return slices.Contains(l.draft.meant, key) || slices.ContainsFunc(l.problems, func(p Problem) bool {
		return p.Key == key || p.Where == s.env() || p.Where == "--"+s.flag()
	})
}

// addressValue reads HOST:PORT, or nothing.
func addressValue(at *string) scalar[string] {
	v := textValue(at)
	v.parse = func(s string) (string, error) {
		if s == "" {
			return "", nil
		}
		_, port, err := net.SplitHostPort(s)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
			return "", fmt.Errorf("%q is not an address: write HOST:PORT or :PORT", s)
		}
		return s, nil
	}
	return v
}

// schemaValue reads the name of a schema that sluice may create.
func schemaValue(at *string) scalar[string] {
	v := textValue(at)
	v.parse = func(s string) (string, error) {
		switch strings.ToLower(s) {
		case "mysql", "sys", "information_schema", "performance_schema":
			return "", fmt.Errorf("%q belongs to the server", s)
		case "":
			return "", errors.New("no schema is named")
		}
		if len(s) > 64 || strings.ContainsFunc(s, notInSchema) {
			return "", fmt.Errorf("%q is not a name of up to 64 letters, digits, _ and $", s)
		}
		return s, nil
	}
	return v
}

func notInSchema(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '$'
}
