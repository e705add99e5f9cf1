package compat

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// Script is one parsed file.
type Script struct {
	Name     string
	Servers  []servers.Kind
	Schemas  []string // suffixes of further schemas
	Globals  []string // name=value
	Modes    []Mode
	Ordinary string
	Late     bool
	Relayed  bool // the ordinary rows are not for batching
	Large    bool // not played as a parked session: that is for small commands
	Setup    []step
	Body     []step
	Stored   []expectation

	Compression rawclient.Compression // asked for where it is offered
}

// step is a directive or, with verb query, a statement.
type step struct {
	line int
	verb string
	args string
}

// expectation is what a query must give after the direct run.
type expectation struct {
	kind servers.Kind // empty means every kind
	sql  string
	want string
}

// Load parses the scripts of a directory, in the order of their names.
func Load(dir string) ([]*Script, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no scripts in %s: %w", dir, err)
	}
	var scripts []*Script
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		script, err := Parse(name, string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		scripts = append(scripts, script)
	}
	return scripts, nil
}

// Parse reads one script.
func Parse(name, text string) (*Script, error) {
	s := &Script{Name: name, Servers: servers.Kinds, Modes: Modes}
	target := &s.Body
	if strings.Contains(text, "\n# body\n") {
		target = &s.Setup
	}
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "## "):
		case line == "# body":
			target = &s.Body
		case strings.HasPrefix(line, "# "):
			verb, args, _ := strings.Cut(line[2:], " ")
			known, err := s.header(verb, args)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			if known {
				continue
			}
			if err := appendStep(target, step{line: i + 1, verb: verb, args: args}); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		default:
			*target = append(*target, step{line: i + 1, verb: "query", args: line})
		}
	}
	if len(s.Body) == 0 {
		return nil, fmt.Errorf("no statements")
	}
	return s, nil
}

// header takes the directives that describe the whole script.
func (s *Script) header(verb, args string) (bool, error) {
	switch verb {
	case "servers":
		s.Servers = nil
		for _, kind := range strings.Fields(args) {
			s.Servers = append(s.Servers, servers.Kind(kind))
		}
	case "modes":
		s.Modes = nil
		for _, mode := range strings.Fields(args) {
			s.Modes = append(s.Modes, Mode(mode))
		}
	case "schema":
		s.Schemas = append(s.Schemas, args)
	case "global":
		s.Globals = append(s.Globals, args)
	case "ordinary":
		s.Ordinary = args
	case "late":
		s.Late = true
	case "relayed":
		s.Relayed = true
	case "large":
		s.Large = true
	case "stored":
		return true, s.addStored(args)
	default:
		return false, nil
	}
	return true, nil
}

func (s *Script) addStored(args string) error {
	sql, want, ok := strings.Cut(args, " => ")
	if !ok {
		return fmt.Errorf("stored without =>")
	}
	e := expectation{sql: sql, want: want}
	for _, kind := range servers.Kinds {
		if rest, found := strings.CutPrefix(sql, string(kind)+" "); found {
			e.kind, e.sql = kind, rest
		}
	}
	s.Stored = append(s.Stored, e)
	return nil
}

// appendStep adds a step, unrolling a repetition.
func appendStep(target *[]step, st step) error {
	if _, ok := verbs[st.verb]; !ok && st.verb != "repeat" {
		return fmt.Errorf("unknown directive %q", st.verb)
	}
	if st.verb != "repeat" {
		*target = append(*target, st)
		return nil
	}
	count, line, _ := strings.Cut(st.args, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return fmt.Errorf("repeat: %w", err)
	}
	for i := 1; i <= n; i++ {
		*target = append(*target, parseRepeated(st.line, counted(line, i)))
	}
	return nil
}

func parseRepeated(number int, line string) step {
	if rest, ok := strings.CutPrefix(line, "# "); ok {
		verb, args, _ := strings.Cut(rest, " ")
		return step{line: number, verb: verb, args: args}
	}
	return step{line: number, verb: "query", args: line}
}

func counted(line string, i int) string {
	return strings.ReplaceAll(line, "$i", strconv.Itoa(i))
}

var bytePattern = regexp.MustCompile(`<([0-9A-F]{2}(?: [0-9A-F]{2})*)(?: x([0-9]+))?>`)

// expand turns the notation for bytes into bytes.
func expand(text string) []byte {
	return bytePattern.ReplaceAllFunc([]byte(text), func(match []byte) []byte {
		parts := bytePattern.FindSubmatch(match)
		raw, err := hex.DecodeString(string(bytes.ReplaceAll(parts[1], []byte(" "), nil)))
		if err != nil {
			panic(err) // the pattern admits hexadecimal digits only
		}
		if len(parts[2]) == 0 {
			return raw
		}
		count, err := strconv.Atoi(string(parts[2]))
		if err != nil {
			panic(err) // the pattern admits decimal digits only
		}
		return bytes.Repeat(raw, count)
	})
}

// Mode is how the statements of a body are put into transactions.
type Mode string

// The transaction modes.
const (
	Autocommit   Mode = "autocommit"
	InBegin      Mode = "begin"
	AutocommitIs Mode = "autocommit=0"
)

// Modes lists all of them.
var Modes = []Mode{Autocommit, InBegin, AutocommitIs}

// Variant is one way to play a script.
type Variant struct {
	Mode    Mode
	Wrapped bool // 50 ordinary rows before and after the body
	Parked  bool // so many small commands before it that sluice serves the session in its event loop
}

func (v Variant) String() string {
	if v.Wrapped {
		return string(v.Mode) + ",wrapped"
	}
	if v.Parked {
		return string(v.Mode) + ",parked"
	}
	return string(v.Mode)
}

// Variants are the ways in which this script is played.
func (s *Script) Variants() []Variant {
	var variants []Variant
	for _, mode := range s.Modes {
		variants = append(variants, Variant{Mode: mode})
		if s.Ordinary != "" {
			variants = append(variants, Variant{Mode: mode, Wrapped: true})
		}
	}
	if !s.Large {
		variants = append(variants, Variant{Mode: s.Modes[0], Parked: true})
	}
	return variants
}

// leastBatched is how many statements must be batched in a variant, or the
// wrapping would test nothing: most of the ordinary rows before the body, since
// that may leave the session in a state in which those after it are not.
func (s *Script) leastBatched(v Variant) int {
	if !v.Wrapped || s.Relayed {
		return 0
	}
	return 30
}

// steps is the body as the variant plays it.
func (s *Script) steps(v Variant) []step {
	query := func(sql string) step { return step{verb: "query", args: sql} }
	var out []step
	switch v.Mode {
	case InBegin:
		out = append(out, query("BEGIN"))
	case AutocommitIs:
		out = append(out, query("SET autocommit=0"))
	}
	ordinary := func(first int) {
		for i := range 50 {
			out = append(out, query(counted(s.Ordinary, first+i)))
		}
	}
	if v.Wrapped {
		ordinary(100001)
	}
	out = append(out, s.Body...)
	// The end belongs to the first connection, where the beginning was.
	if slices.ContainsFunc(s.Body, func(st step) bool { return st.verb == "conn" }) {
		out = append(out, step{verb: "conn", args: mainConn})
	}
	if v.Wrapped {
		ordinary(100051)
	}
	if v.Mode != Autocommit {
		out = append(out, query("COMMIT"))
	}
	return out
}
