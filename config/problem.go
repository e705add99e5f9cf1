package config

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Problem is one mistake in the configuration.
type Problem struct {
	Where string // sluice.yaml:12, SLUICE_WINDOW_DELAY, --window-delay; empty when several settings together are the mistake
	Key   string // empty when the mistake is not about one setting
	Text  string
}

// Error returns the mistake in one line.
func (p Problem) Error() string {
	parts := make([]string, 0, 3)
	for _, s := range []string{p.Where, p.Key, p.Text} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// Problems are all the mistakes that were found. As an error it has one line
// for each.
type Problems []Problem

// Error returns one line for each mistake.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "\n")
}

// accountPassword is a password in the URL of a server, which may have been given to
// another setting.
var accountPassword = regexp.MustCompile(`(://[^:\s]*:)\S*@`)

func (p *Problems) add(where, key, format string, args ...any) {
	text := accountPassword.ReplaceAllString(fmt.Sprintf(format, args...), "${1}"+redacted+"@")
	text = strings.Map(func(r rune) rune { // of the file's bytes: a terminal would act on some
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
	*p = append(*p, Problem{Where: where, Key: key, Text: text})
}

// fail adds an error, or each of several that were joined.
func (p *Problems) fail(where, key string, err error) {
	if err == nil {
		return
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			p.fail(where, key, one)
		}
		return
	}
	p.add(where, key, "%s", err.Error())
}
