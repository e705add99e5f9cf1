package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// load runs Load on a file's text, an environment and a command line.
func load(t *testing.T, file string, environ []string, args ...string) (*Config, []string, error) {
	t.Helper()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags := Bind(set)
	if file != "" {
		path := filepath.Join(t.TempDir(), "sluice.yaml")
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
		args = append([]string{"--config", path}, args...)
	}
	require.False(t, flags.Parse(args))
	cfg, warnings, err := flags.Load(environ)
	if err != nil && file != "" { // the directory's name is not what tests compare
		err = Problems{{Text: strings.ReplaceAll(err.Error(), args[1], "sluice.yaml")}}
	}
	return cfg, warnings, err
}

func mustLoad(t *testing.T, file string, environ []string, args ...string) *Config {
	t.Helper()
	cfg, _, err := load(t, file, environ, args...)
	require.NoError(t, err)
	return cfg
}

func TestMistakesAreReportedTogether(t *testing.T) {
	for _, c := range []struct {
		name, file string
		environ    []string
		args       []string
		want       []string
	}{
		{
			name: "three in the file",
			file: "backend: mysql://s@db/\nwindw:\n  rows: 5\nburst: many\nchunk:\n  byte: 1MiB\n",
			want: []string{
				"sluice.yaml:2: unknown key windw; did you mean window?",
				`sluice.yaml:4: burst: "many" is not a whole number`,
				"sluice.yaml:6: unknown key chunk.byte; did you mean chunk.bytes?",
			},
		},
		{
			name:    "one in each source",
			file:    "backend: db\nwindow.delay: 5\n",
			environ: []string{"SLUICE_BURST=0", "SLUICE_WINDOW_DELY=1s"},
			args:    []string{"--profile", "app", "--listen", "nowhere"},
			want: []string{
				`sluice.yaml:2: window.delay: "5" has no unit: write 5s or 5ms`,
				"SLUICE_BURST: 0 is out of range: 1 to 1000000",
				"SLUICE_WINDOW_DELY: unknown variable; did you mean SLUICE_WINDOW_DELAY?",
				`--listen: "nowhere" is not an address: write HOST:PORT, :PORT or unix:PATH`,
				"--profile: profile app is not built yet: use loader, or off to relay everything",
			},
		},
		{
			name: "a key without its group, and twice",
			file: "backend: db\nmax_delay: 1s\nwindow: {delay: 2s}\nwindow.delay: 3s\nbackend: db\n",
			want: []string{
				"sluice.yaml:2: unknown key max_delay; did you mean window.max_delay?",
				"sluice.yaml:4: window.delay: given twice, first in line 3",
				"sluice.yaml:5: backend: given twice, first in line 1",
			},
		},
		{
			name: "wrong kinds of value",
			file: "backend: db\nburst: [1, 2]\nprofile: {a: b}\nwindow: 5\nhttp:\nlisten: {a: b}\nconsistency: &x strict\n",
			want: []string{
				"sluice.yaml:2: burst: want one value, not a list",
				"sluice.yaml:3: profile: want one value, not a mapping",
				"sluice.yaml:4: window: this is a group of settings: nest them below it",
				"sluice.yaml:5: http: there is no value: leave the key out for the default",
				"sluice.yaml:6: listen: want one value, not a mapping",
				"sluice.yaml:7: consistency: anchors, aliases and tags are not read: write the value out",
			},
		},
		{
			name: "rules",
			file: "backend: db\nrules:\n  - user: a\n    profile: migrate\n    on_eror: reject\n  - on_error: reject\n  - table: a.b\n  - 5\n  - {schema: s, window: {rows: 0, bytes: 1TiB}}\n",
			want: []string{
				"sluice.yaml:4: rules[0].profile: profile migrate is not built yet: use loader, or off to relay everything",
				"sluice.yaml:5: rules[0]: unknown key on_eror; did you mean on_error?",
				"sluice.yaml:6: rules[1]: the rule names no user, schema or table: settings for everything stand outside the rules",
				"sluice.yaml:7: rules[2]: the rule overrides nothing",
				"sluice.yaml:7: rules[2]: table: a dot in the pattern matches no table; write the schema as schema: (a table that has a dot in its name: use ?)",
				"sluice.yaml:8: rules[3]: want a mapping",
				"sluice.yaml:9: rules[4].window.rows: 0 is out of range: 1 to 2147483647",
				"sluice.yaml:9: rules[4].window.bytes: 1TiB is more than memory.max, 512MiB",
				"sluice.yaml:9: rules[4].window.bytes: 1TiB is more than journal.max_bytes, 10GiB",
			},
		},
		{
			name: "settings that do not fit together",
			args: []string{"--window-delay", "2m", "--window-bytes", "600MiB", "--listen", ":3307", "--listen", ":3307", "--data-dir", ""},
			want: []string{
				"backend: no server is named: write mysql://USER@HOST:PORT/, mysql://USER@unix(PATH)/ or, without a service account, HOST:PORT",
				"--data-dir: no directory is named",
				"--listen: :3307 is there twice",
				"--window-delay: window.max_delay: 1m is less than window.delay, 2m",
				"--window-bytes: 600MiB is more than memory.max, 512MiB",
			},
		},
		{
			name: "not YAML",
			file: "backend: [\n",
			args: []string{"--backend", "db"},
			want: []string{"sluice.yaml:1: not valid YAML: sequence end token ']' not found; look at the indentation and the quotes here and in the next line"},
		},
		{
			name: "indented with a tab",
			file: "backend: db\nwindow:\n\tdelay: 1s\n",
			want: []string{"sluice.yaml:3: a tab: indent with blanks"},
		},
		{
			name: "a directive, and bytes that are no text",
			file: "%YAML 1.2\n---\nbackend: db\nfo\x1b\xff: 1\n",
			want: []string{"sluice.yaml:4: unknown key fo?\ufffd"},
		},
		{
			name: "what a group has",
			file: "backend: {host: db, uri: db}\nlog: {colour: red}\n",
			want: []string{
				"sluice.yaml:1: unknown key backend.host; did you mean backend.url?",
				"sluice.yaml:1: unknown key backend.uri; did you mean backend.url?",
				"sluice.yaml:2: unknown key log.colour; log has level, format",
			},
		},
		{
			name:    "settings of several sources that do not fit together",
			file:    "backend: db\nmemory.max: 64MiB\n",
			environ: []string{"SLUICE_STATEMENT_BYTES=1MiB"},
			args:    []string{"--chunk-bytes", "512KiB"},
			want: []string{
				"SLUICE_STATEMENT_BYTES: 1MiB is more than chunk.bytes, 512KiB",
				"sluice.yaml:2: window.bytes: 128MiB is more than memory.max, 64MiB",
			},
		},
		{
			name:    "numbers beyond all bounds",
			environ: []string{"SLUICE_LISTEN=:1,:2"},
			args:    []string{"--backend", "db", "--burst", "99999999999999999999", "--window-rows=-99999999999999999999", "--window-bytes", "1"},
			want: []string{
				`SLUICE_LISTEN: ":2": only profile=NAME can follow an address; several addresses are a list, --listen again, or words of SLUICE_LISTEN`,
				"--window-rows: -9223372036854775808 is out of range: 1 to 2147483647",
				"--window-bytes: 1 is less than 64KiB",
				"--burst: 9223372036854775807 is out of range: 1 to 1000000",
			},
		},
		{
			name: "not a mapping",
			file: "- a\n",
			args: []string{"--backend", "db"},
			want: []string{"sluice.yaml:1: not a mapping: write KEY: VALUE"},
		},
		{
			name: "values that cannot be",
			args: []string{"--backend", "db", "--http", "8080", "--checkpoint-schema", "mysql", "--log-level", "loud",
				"--journal-sync", "2s", "--window-rows", "some", "--memory-max", "1PB", "--drain-timeout", "soon"},
			want: []string{
				`--http: "8080" is not an address: write HOST:PORT or :PORT`,
				`--log-level: "loud" is none of trace, debug, info, warn, error`,
				`--journal-sync: "2s" is none of always, 1s, os`,
				`--memory-max: "1PB" is not a size: write 512MiB, 64KB or a number of bytes`,
				`--window-rows: "some" is neither auto nor a whole number`,
				`--drain-timeout: "soon" is not a duration: write 500ms, 30s or 1m30s`,
				`--checkpoint-schema: "mysql" belongs to the server`,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _, err := load(t, c.file, c.environ, c.args...)
			require.Error(t, err)
			require.Nil(t, cfg)
			require.Equal(t, c.want, strings.Split(err.Error(), "\n"))
		})
	}
}

func TestPrecedence(t *testing.T) {
	file := "backend: file\nburst: 1\nwindow: {delay: 1s, max_delay: 1h}\nlisten: [':1', ':2']\n"
	environ := []string{"SLUICE_BURST=2", "SLUICE_WINDOW_DELAY=2s", "SLUICE_LISTEN=:3 :4", "SLUICE_HTTP=", "OTHER=x"}
	addresses := func(c *Config) string {
		var list []string
		for _, l := range c.Listen {
			list = append(list, l.Address)
		}
		return strings.Join(list, " ")
	}

	c := mustLoad(t, file, nil)
	require.Equal(t, "file:3306", c.Backend.Address)
	require.Equal(t, 1, c.Burst)
	require.Equal(t, ":1 :2", addresses(c))

	c = mustLoad(t, file, environ)
	require.Equal(t, 2, c.Burst)
	require.Equal(t, 2*time.Second, c.Window.Delay)
	require.Equal(t, time.Hour, c.Window.MaxDelay, "what a later source does not name stays")
	require.Equal(t, ":3 :4", addresses(c))

	c = mustLoad(t, file, environ, "--burst", "3", "--listen", ":5", "--backend=unix:/run/db.sock")
	require.Equal(t, 3, c.Burst)
	require.Equal(t, ":5", addresses(c), "a list replaces a list")
	require.Equal(t, Backend{Network: "unix", Address: "/run/db.sock"}, c.Backend)

	// The file itself is named by the environment or by a flag.
	path := filepath.Join(t.TempDir(), "x.yaml")
	require.NoError(t, os.WriteFile(path, []byte("backend: db\nburst: 77\n"), 0o600))
	c = mustLoad(t, "", []string{"SLUICE_CONFIG=" + path})
	require.Equal(t, 77, c.Burst)
	c = mustLoad(t, file, []string{"SLUICE_CONFIG=" + path})
	require.Equal(t, 1, c.Burst)
	_, _, err := load(t, "", nil, "--config", "", "--backend", "db")
	require.EqualError(t, err, "--config: no file is named")
	_, _, err = load(t, "", []string{"SLUICE_CONFIG=" + path + "x", "SLUICE_BACKEND=db"})
	require.EqualError(t, err, path+"x: cannot read the file: no such file or directory")
}

func TestListenersGetTheDefaultProfile(t *testing.T) {
	c := mustLoad(t, "backend: db\nprofile: off\n", nil, "--listen", ":1", "--listen", "unix:/run/s.sock,profile=loader")
	require.Equal(t, []Listener{{"tcp", ":1", ProfileOff}, {"unix", "/run/s.sock", ProfileLoader}}, c.Listen)

	for _, bad := range []string{":1,profile=app", ":1,profil=loader", ":1,profile=x", ":99999", "unix:", "unix:/" + strings.Repeat("x", 107)} {
		_, _, err := load(t, "", nil, "--backend", "db", "--listen", bad)
		require.Error(t, err, bad)
	}
}

func TestWarnings(t *testing.T) {
	_, warnings, err := load(t, "", []string{"SLUICE_SERVICE_HOST=10.0.0.1"}, "--backend", "db", "--chunk-rows", "5", "--statement-bytes", "1MiB")
	require.NoError(t, err)
	require.Equal(t, []string{
		"SLUICE_SERVICE_HOST: no setting has this variable; it is ignored",
		"--chunk-rows: 5 is outside the recommended 10000 to 100000: smaller transactions are slow, larger ones slow to roll back",
		"--statement-bytes: 1MiB is outside the recommended 64KB to 256KiB: smaller and larger statements are slower",
	}, warnings)
}

func TestEmptyFiles(t *testing.T) {
	for _, file := range []string{"\n", "# nothing\n", "---\n"} {
		c := mustLoad(t, file, nil, "--backend", "db")
		require.Equal(t, 8, c.Burst)
	}
	_, _, err := load(t, "burst: 1\n---\nburst: 2\n", nil, "--backend", "db")
	require.EqualError(t, err, "sluice.yaml:3: a second document: one is all that is read")
}

// What the command line has wrong comes with what the other sources have.
func TestCommandLineMistakes(t *testing.T) {
	for _, c := range []struct {
		name, file string
		environ    []string
		args       []string
		want       []string
	}{
		{
			name: "all at once",
			file: "windw: {rows: 3}\n",
			args: []string{"--bakend", "hush", "--window-rows", "foo", "--burst", "2", "--colour=red", "--delay", "1s", "hush", "-x", "hush", "--chunk-rows", "--burst", "0"},
			want: []string{
				"sluice.yaml:1: unknown key windw; did you mean window?",
				"--bakend: unknown flag; did you mean --backend?",
				"--colour: unknown flag",
				"--delay: unknown flag; did you mean --window-delay or --window-max-delay?",
				"an argument that belongs to no flag: every value stands behind its --flag",
				"a flag begins with two dashes",
				"--chunk-rows: there is no value: write --chunk-rows N",
				`--window-rows: "foo" is neither auto nor a whole number`,
				"--burst: 0 is out of range: 1 to 1000000",
			},
		},
		{
			name: "a value that is missing at the end",
			args: []string{"--burst", "3", "--backend"},
			want: []string{"--backend: there is no value: write --backend URL"},
		},
		{
			name:    "what no flag stands for is not named again",
			environ: []string{"SLUICE_BAKEND=db"},
			want:    []string{"SLUICE_BAKEND: unknown variable; did you mean SLUICE_BACKEND?"},
		},
		{
			name: "a key that is mistyped is not missed",
			file: "bakend: db\n",
			want: []string{"sluice.yaml:1: unknown key bakend; did you mean backend?"},
		},
		{
			name: "nor one in a file that cannot be read",
			file: "backend: [\n",
			want: []string{"sluice.yaml:1: not valid YAML: sequence end token ']' not found; look at the indentation and the quotes here and in the next line"},
		},
		{
			name: "a password that went to another flag",
			args: []string{"--backend", "db", "--listen", "mysql://u:hu@sh@h:3307/", "--burst", "mysql://u:hush@h/"},
			want: []string{
				`--listen: "mysql://u:[redacted]@h:3307/" is not an address: write HOST:PORT, :PORT or unix:PATH`,
				`--burst: "mysql://u:[redacted]@h/" is not a whole number`,
			},
		},
		{
			name: "no name and a lone dash",
			args: []string{"--backend", "db", "--", "--=3", "-"},
			want: []string{"--: unknown flag", "--: unknown flag", "a flag begins with two dashes"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := load(t, c.file, c.environ, c.args...)
			require.Error(t, err)
			require.Equal(t, c.want, strings.Split(err.Error(), "\n"))
			require.NotContains(t, err.Error(), "hush")
		})
	}

	// Values may be empty, begin with one dash or hold an equals sign; the last one wins.
	c := mustLoad(t, "", nil, "--backend", "db", "--http=", "--data-dir", "-d=x", "--burst", "3", "--burst=4")
	require.Equal(t, "-d=x", c.DataDir)
	require.Equal(t, 4, c.Burst)
	require.Empty(t, c.HTTP)

	flags := Bind(pflag.NewFlagSet("test", pflag.ContinueOnError))
	require.True(t, flags.Parse([]string{"--burst", "3", "--help"}))
	flags = Bind(pflag.NewFlagSet("test", pflag.ContinueOnError))
	require.True(t, flags.Parse([]string{"-h"}))
}
