package config

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
)

// Load reads file, environment (as os.Environ gives it) and flags. The error is
// of type Problems. Warnings are for the log; they come with an error too.
//
// A password on the command line is overwritten in this process's argument
// memory, whatever else Load finds.
func (f *Flags) Load(environ []string) (*Config, []string, error) {
	l := &loader{draft: &draft{Config: Default(), meant: f.meant, origin: make(map[string]string)}, environ: parseEnviron(environ)}
	l.hidePassword(f.values[backendKey].texts)

	path := l.environ[fileEnv]
	if n := len(f.file.texts); n > 0 {
		if path = f.file.texts[n-1]; path == "" {
			l.problems.add("--"+fileFlag, "", "no file is named")
		}
	}
	if path != "" {
		l.layer(func() { l.readFile(path) })
	}
	l.layer(l.readEnviron)
	l.problems = append(l.problems, f.problems...)
	l.layer(func() { l.readFlags(f) })
	l.settlePassword()
	l.check()
	if len(l.problems) > 0 {
		return nil, l.warnings, l.problems
	}
	return l.draft.Config, l.warnings, nil
}

// loader is one run of Load.
type loader struct {
	draft    *draft
	environ  map[string]string
	password *passwordSource
	warnings []string
	problems Problems
}

func (l *loader) readFile(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		var file *os.PathError
		if errors.As(err, &file) {
			err = file.Err // the path is named already
		}
		l.problems.add(path, "", "cannot read the file: %v", err)
		l.draft.meant = append(l.draft.meant, backendKey) // it may be named there
		return
	}
	r := &fileReader{name: path, draft: l.draft, problems: &l.problems}
	r.read(text)
}

func (l *loader) readEnviron() {
	known := map[string]bool{fileEnv: true}
	for _, s := range settings {
		known[s.env()] = true
		text, ok := l.environ[s.env()]
		if !ok {
			continue
		}
		texts := []string{text}
		if s.repeat {
			texts = strings.Fields(text)
		}
		l.draft.origin[s.key] = s.env()
		l.problems.fail(s.env(), "", s.at(l.draft).SetAll(texts))
	}
	for _, name := range sortedKeys(l.environ) {
		if known[name] {
			continue
		}
		meant := closest(strings.ToLower(strings.TrimPrefix(name, envPrefix)), keys())
		names := make([]string, 0, len(meant))
		for _, key := range meant {
			if s := find(key); s != nil {
				names = append(names, s.env())
			}
		}
		// The prefix is not ours alone: a container platform makes such
		// variables for a service called sluice, and tests have their own. Only
		// what is close to a setting is a mistake.
		if len(names) > 0 {
			l.draft.meant = append(l.draft.meant, meant...)
			l.problems.add(name, "", "unknown variable%s", didYouMean(names))
		} else {
			l.warnings = append(l.warnings, name+": no setting has this variable; it is ignored")
		}
	}
}

// parseEnviron returns sluice's variables. One that is empty counts as not set,
// since that is how composed environments leave a variable out.
func parseEnviron(environ []string) map[string]string {
	ours := make(map[string]string)
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, envPrefix) && text != "" {
			ours[name] = text
		}
	}
	return ours
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	list := make([]K, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
