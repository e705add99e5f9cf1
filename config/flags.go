package config

import (
	"strings"

	"github.com/spf13/pflag"
)

// Flags are sluice's flags on a command line, parsed and not yet read.
type Flags struct {
	set      *pflag.FlagSet
	file     flagValue
	values   map[string]*flagValue // by setting key
	problems Problems              // of the command line's form
	meant    []string              // keys of settings that unknown flags are close to
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
	flags := &Flags{set: set, file: flagValue{hint: "FILE"}, values: make(map[string]*flagValue)}
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

// Parse reads a command line: --name value or --name=value. The package flags are bound
// with would stop at the first mistake; here Load reports them with all others. No
// message repeats a value: one may be a password whose flag was mistyped.
func (f *Flags) Parse(args []string) (help bool) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, text, given := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch {
		case arg == "-h" || arg == "--help":
			return true
		case !strings.HasPrefix(arg, "-"):
			f.problems.add("", "", "an argument that belongs to no flag: every value stands behind its --flag")
			continue
		case !strings.HasPrefix(arg, "--"):
			f.problems.add("", "", "a flag begins with two dashes")
		case f.set.Lookup(name) == nil:
			f.unknown(name)
		case !given && (len(args) == 0 || strings.HasPrefix(args[0], "--")):
			f.problems.add("--"+name, "", "there is no value: write --%s %s", name, f.set.Lookup(name).Value.Type())
			continue
		default:
			if !given {
				text, args = args[0], args[1:]
			}
			f.problems.fail("--"+name, "", f.set.Set(name, text))
			continue
		}
		if !given && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			args = args[1:] // the value of what is not known
		}
	}
	return false
}

func (f *Flags) unknown(name string) {
	names, key := []string{fileFlag}, make(map[string]string)
	for _, s := range settings {
		if !s.noFlag {
			names = append(names, s.flag())
			key[s.flag()] = s.key
		}
	}
	meant := closest(name, names)
	for i, n := range meant {
		f.meant = append(f.meant, key[n])
		meant[i] = "--" + n
	}
	f.problems.add("--"+name, "", "unknown flag%s", didYouMean(meant))
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
		l.draft.origin[s.key] = "--" + s.flag()
		l.problems.fail("--"+s.flag(), "", s.at(l.draft).SetAll(texts))
	}
}
