package config

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// childVariable makes the test binary a program that loads its own command
// line and prints what the system then shows of it.
const childVariable = "CONFIG_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	set := pflag.NewFlagSet("child", pflag.ContinueOnError)
	flags := Bind(set)
	if err := set.Parse(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	cfg, warnings, err := flags.Load(nil)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	cmdline, err := os.ReadFile("/proc/self/cmdline")
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	_ = json.NewEncoder(os.Stdout).Encode(childReport{
		Args: strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00"), Password: cfg.Backend.Password.Reveal(), Warnings: warnings,
	})
	os.Exit(0)
}

type childReport struct {
	Args     []string
	Password string
	Warnings []string
}

func TestPasswordIsOverwrittenInArguments(t *testing.T) {
	for _, c := range []struct {
		name     string
		args     []string
		want     []string
		password string
		warnings int
	}{
		{"with =", []string{"--backend=mysql://u:hush@h:1/", "--burst=5"}, []string{"--backend=mysql://u:****@h:1/", "--burst=5"}, "hush", 1},
		{"apart", []string{"--burst", "5", "--backend", "mysql://u:h@sh@unix(/x)/"}, []string{"--burst", "5", "--backend", "mysql://u:****@unix(/x)/"}, "h@sh", 1},
		{"two", []string{"--backend=mysql://u:hush@h/", "--backend=mysql://u:hu@h/"}, []string{"--backend=mysql://u:****@h/", "--backend=mysql://u:**@h/"}, "hu", 2},
		{"none", []string{"--backend=mysql://u@h/"}, []string{"--backend=mysql://u@h/"}, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0], c.args...)
			child.Env = append(os.Environ(), childVariable+"=1")
			out, err := child.Output()
			require.NoError(t, err, string(out))
			var got childReport
			require.NoError(t, json.Unmarshal(out, &got), string(out))
			require.Equal(t, c.want, got.Args[1:])
			require.Equal(t, c.password, got.Password)
			require.Len(t, got.Warnings, c.warnings)
			for _, w := range got.Warnings {
				require.Contains(t, w, "until sluice has started")
			}
		})
	}
}

func TestBlankArgumentLeavesOtherStringsAlone(t *testing.T) {
	saved := os.Args
	defer func() { os.Args = saved }()
	os.Args = []string{"sluice", "--backend=mysql://u:hush@h/"} // read-only memory
	require.False(t, blankArgument("mysql://u:hush@h/", 10, 14))
	require.Equal(t, "--backend=mysql://u:hush@h/", os.Args[1])
}

func TestPasswordSpan(t *testing.T) {
	for text, want := range map[string]string{
		"mysql://u:hush@h/": "hush", "u:hush@h": "hush", "mysql://u:h@u:sh@h/": "h@u:sh", "x://u:hush@unix(/a@b)": "hush",
		"mysql://u@h:3306/": "", "h:3306": "", "unix:/a@b": "/a", "": "", "mysql://h:1/": "",
	} {
		from, to := passwordSpan(text)
		require.Equal(t, want, text[from:to], text)
	}
}

func TestPasswordSources(t *testing.T) {
	secretFile := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secretFile, []byte("from file\n"), 0o600))
	emptyFile := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(emptyFile, []byte("\n"), 0o600))

	for _, c := range []struct {
		name, file string
		environ    []string
		args       []string
		want, err  string
	}{
		{name: "in the URL", args: []string{"--backend", "mysql://u:url@h/"}, want: "url"},
		{name: "in the environment", environ: []string{"SLUICE_BACKEND_PASSWORD=env"}, args: []string{"--backend", "mysql://u@h/"}, want: "env"},
		{name: "in the file", file: "backend: {url: 'mysql://u@h/', password: key}", want: "key"},
		{name: "dotted", file: "backend.password: key\nbackend: mysql://u@h/", want: "key"},
		{name: "a file of its own", args: []string{"--backend", "mysql://u@h/", "--backend-password-file", secretFile}, want: "from file"},
		{name: "flag over environment", environ: []string{"SLUICE_BACKEND_PASSWORD=env"}, args: []string{"--backend", "mysql://u:url@h/"}, want: "url"},
		{name: "environment over file", file: "backend: mysql://u:url@h/", environ: []string{"SLUICE_BACKEND_PASSWORD=env"}, want: "env"},
		{name: "password file over URL", file: "backend: mysql://u:url@h/", args: []string{"--backend-password-file", secretFile}, want: "from file"},
		{name: "a password goes with its URL", file: "backend: mysql://u:url@h/", args: []string{"--backend", "mysql://u@other/"}, want: ""},
		{name: "a password of its own stays", file: "backend: {url: 'mysql://u@h/', password: key}", args: []string{"--backend", "mysql://u@other/"}, want: "key"},
		{name: "twice in one source", environ: []string{"SLUICE_BACKEND=mysql://u:url@h/", "SLUICE_BACKEND_PASSWORD=env"},
			err: "SLUICE_BACKEND_PASSWORD: one source gives the password more than once: keep one of the URL, backend.password and backend.password_file"},
		{name: "without a user", environ: []string{"SLUICE_BACKEND=h", "SLUICE_BACKEND_PASSWORD=env"},
			err: "SLUICE_BACKEND: there is a password and no user: write mysql://USER@..."},
		{name: "empty file", args: []string{"--backend", "mysql://u@h/", "--backend-password-file", emptyFile},
			err: "--backend-password-file: " + emptyFile + " is empty"},
		{name: "no such file", args: []string{"--backend", "mysql://u@h/", "--backend-password-file", emptyFile + "x"},
			err: "--backend-password-file: cannot read the password from " + emptyFile + "x: no such file or directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _, err := load(t, c.file, c.environ, c.args...)
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, cfg.Backend.Password.Reveal())
			require.True(t, cfg.Backend.HasServiceAccount())
		})
	}
}

// The password is in nothing that is printed, logged or reported.
func TestPasswordIsNowhere(t *testing.T) {
	const hush = "hush-hush"
	cfg := mustLoad(t, "", nil, "--backend", "mysql://u:"+hush+"@h/")
	holder := struct{ hidden *Config }{cfg}
	inner := struct{ hidden Config }{*cfg}
	encodedJSON, err := json.Marshal(cfg)
	require.NoError(t, err)
	encodedYAML, err := yaml.Marshal(cfg)
	require.NoError(t, err)
	var log strings.Builder
	logger := zerolog.New(&log)
	logger.Info().Interface("config", cfg).Stringer("backend", cfg.Backend).Any("secret", cfg.Backend.Password).Msg("x")
	texts := []string{cfg.String(), string(encodedJSON), string(encodedYAML), log.String(), cfg.Backend.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{cfg, *cfg, cfg.Backend, &cfg.Backend, cfg.Backend.Password, &cfg.Backend.Password, holder, inner} {
			texts = append(texts, fmt.Sprintf(verb, v))
		}
	}
	hex := fmt.Sprintf("%x", hush)
	for _, text := range texts {
		require.NotContains(t, text, hush)
		require.NotContains(t, text, hex)
	}

	// Nor in an error or a warning, wherever it was given and whatever is wrong.
	for _, bad := range []string{"mysql://u:" + hush + "@h:x/", "u:" + hush + "@h", "http://u:" + hush + "@h", "mysql://u:" + hush + "%@h", "mysql://u:" + hush} {
		_, warnings, err := load(t, "", nil, "--backend", bad)
		require.Error(t, err)
		require.NotContains(t, err.Error()+strings.Join(warnings, " "), hush)
		_, _, err = load(t, "backend: {password: "+hush+", url: ["+bad+"]}", []string{"SLUICE_BACKEND=" + bad})
		require.Error(t, err)
		require.NotContains(t, err.Error(), hush)
		_, _, err = load(t, "burst: [\nbackend: '"+bad+"'\n\tx", nil)
		require.Error(t, err)
		require.NotContains(t, err.Error(), hush)
	}

	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	Bind(set)
	require.NoError(t, set.Parse([]string{"--backend", "mysql://u:" + hush + "@h/"}))
	require.NotContains(t, set.FlagUsages()+set.Lookup("backend").Value.String(), hush)
}
