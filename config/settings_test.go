package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// structKeys derives the keys from the fields of the struct.
func structKeys(prefix string, typ reflect.Type) []string {
	var list []string
	for field := range typ.Fields() {
		key := prefix + snake(field.Name)
		switch {
		case field.Type == reflect.TypeFor[Backend]():
			list = append(list, key, key+".password", key+".password_file",
				key+".tls.ca", key+".tls.cert", key+".tls.key", key+".tls.server_name")
		case field.Type.Kind() == reflect.Struct:
			list = append(list, structKeys(key+".", field.Type)...)
		default:
			list = append(list, key)
		}
	}
	return list
}

func snake(name string) string {
	name = strings.Replace(name, "HTTP", "Http", 1)
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(name, "${1}_$2"))
}

func TestEveryFieldIsASetting(t *testing.T) {
	require.Equal(t, structKeys("", reflect.TypeFor[Config]()), keys())
}

func TestNamesAreUnique(t *testing.T) {
	flags, envs := map[string]bool{fileFlag: true}, map[string]bool{fileEnv: true}
	for _, s := range settings {
		require.False(t, flags[s.flag()], s.key)
		require.False(t, envs[s.env()], s.key)
		flags[s.flag()], envs[s.env()] = true, true
		require.NotEmpty(t, s.usage, s.key)
		require.True(t, s.noFlag || s.hint != "", s.key)
	}
	require.Equal(t, "SLUICE_WINDOW_MAX_DELAY", find("window.max_delay").env())
	require.Equal(t, "window-max-delay", find("window.max_delay").flag())
}

// Every default can be written in every source and reads back as itself.
func TestDefaultsReadBack(t *testing.T) {
	want := mustLoad(t, "", nil, "--backend", "db")
	var environ, args []string
	file := "rules: []\n"
	for _, s := range settings {
		text := strings.Join(s.at(&draft{Config: Default()}).Strings(), " ")
		if s.key == backendKey {
			text = "db"
		}
		environ = append(environ, s.env()+"="+text)
		file += s.key + ": '" + text + "'\n"
		if !s.noFlag {
			args = append(args, "--"+s.flag()+"="+text)
		}
	}
	require.Equal(t, want, mustLoad(t, file, nil))
	require.Equal(t, want, mustLoad(t, "", environ))
	require.Equal(t, want, mustLoad(t, "", nil, args...))
}

func TestExample(t *testing.T) {
	text, err := os.ReadFile("examples/sluice.yaml")
	require.NoError(t, err)
	example := string(text)
	got, warnings, err := load(t, example, nil)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, mustLoad(t, "", nil, "--backend", "mysql://sluice@127.0.0.1:3306/"), got)

	// Each key is there, at its place.
	var path [3]string
	present := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^( *)([a-z_]+):`).FindAllStringSubmatch(example, -1) {
		depth := len(m[1]) / 2
		path[depth] = m[2]
		present[strings.Join(path[:depth+1], ".")] = true
	}
	for _, key := range keys() {
		require.True(t, present[key], key)
	}

	// The rules in the comment are rules.
	head, rules, found := strings.Cut(example, "rules: []\n")
	require.True(t, found)
	require.NotEmpty(t, rules)
	got = mustLoad(t, head+"rules:\n"+regexp.MustCompile(`(?m)^#`).ReplaceAllString(rules, ""), nil)
	require.Len(t, got.Rules, 2)
	require.Equal(t, ProfileOff, *got.Rules[1].Profile)
	for _, s := range ruleSettings {
		require.True(t, s.given(&got.Rules[0]) || s.given(&got.Rules[1]), s.key)
	}
}

func TestString(t *testing.T) {
	c := mustLoad(t, "rules: [{user: a, profile: off}]", nil, "--backend", "mysql://s:hush@db/", "--listen", ":1")
	text := c.String()
	require.Contains(t, text, "backend: mysql://s:[redacted]@db:3306/\n")
	require.Contains(t, text, "listen: :1,profile=loader\n")
	require.Contains(t, text, "window.max_delay: 1m\n")
	require.Contains(t, text, "rule: user=a profile=off\n")
}
