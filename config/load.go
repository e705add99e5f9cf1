package config

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Flags are sluice's flags on a command line, parsed and not yet read.
type Flags struct {
	file   flagValue
	values map[string]*flagValue // by setting key
}

// flagValue keeps what a flag was given. Reading it is left to Load, which
// reports all mistakes together.
type flagValue struct {
	texts  []string
	hint   string
	secret bool
}

// Set keeps a copy: the text given points into the memory of the command line,
// which Load may overwrite.
func (v *flagValue) Set(text string) error {
	v.texts = append(v.texts, strings.Clone(text))
	return nil
}

// String returns what was given, for the flag package's own messages.
func (v *flagValue) String() string {
	if v.secret && len(v.texts) > 0 {
		return redacted
	}
	return strings.Join(v.texts, " ")
}

// Type returns what stands for the value in the help.
func (v *flagValue) Type() string { return v.hint }

// Bind defines every flag of sluice on a flag set.
func Bind(set *pflag.FlagSet) *Flags {
	flags := &Flags{file: flagValue{hint: "FILE"}, values: make(map[string]*flagValue)}
	set.Var(&flags.file, fileFlag, "YAML file with settings; environment variables and flags win over it")
	defaults := &draft{Config: Default()}
	for _, s := range settings {
		if s.noFlag {
			continue
		}
		v := &flagValue{hint: s.hint, secret: s.secret}
		flags.values[s.key] = v
		set.Var(v, s.flag(), s.usage)
		set.Lookup(s.flag()).DefValue = strings.Join(s.at(defaults).Strings(), " ")
	}
	return flags
}

// SuggestFlag words a suggestion for a flag that does not exist, or returns
// nothing.
func SuggestFlag(name string) string {
	candidates := []string{fileFlag}
	for _, s := range settings {
		if !s.noFlag {
			candidates = append(candidates, s.flag())
		}
	}
	meant := closest(name, candidates)
	for i := range meant {
		meant[i] = "--" + meant[i]
	}
	return didYouMean(meant)
}

// Load reads file, environment (as os.Environ gives it) and flags. The error is
// of type Problems. Warnings are for the log; they come with an error too.
//
// A password on the command line is overwritten in this process's argument
// memory, whatever else Load finds.
func (f *Flags) Load(environ []string) (*Config, []string, error) {
	l := &loader{draft: &draft{Config: Default()}, environ: parseEnviron(environ)}
	l.hidePassword(f.values[backendKey].texts)

	path := l.environ[fileEnv]
	if n := len(f.file.texts); n > 0 {
		path = f.file.texts[n-1]
	}
	if path != "" {
		l.layer(func() { l.readFile(path) })
	}
	l.layer(l.readEnviron)
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
			l.problems.add(name, "", "unknown variable%s", didYouMean(names))
		} else {
			l.warnings = append(l.warnings, name+": no setting has this variable; it is ignored")
		}
	}
}

func (l *loader) readFlags(f *Flags) {
	for _, s := range settings {
		v := f.values[s.key]
		if v == nil || len(v.texts) == 0 {
			continue
		}
		texts := v.texts
		if !s.repeat {
			texts = texts[len(texts)-1:]
		}
		l.problems.fail("--"+s.flag(), "", s.at(l.draft).SetAll(texts))
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
