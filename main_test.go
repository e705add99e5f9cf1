package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/metrics"
	"github.com/sluice-db/sluice/config"
)

// call runs a command line.
func call(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := &program{args: args, environ: environ, stdout: &out, stderr: &errs, abort: func() { t.Error("aborted") }}
	code = p.run()
	return code, out.String(), errs.String()
}

func TestMisuseExitsWith2(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serv"}, "sluice: unknown command, did you mean serve?; see sluice --help\n"},
		{[]string{"mysql://u:hush@h/"}, "sluice: unknown command; see sluice --help\n"},
		{[]string{"help", "hush"}, "sluice: unknown command; see sluice --help\n"},
		{[]string{"serve", "mysql://u:hush@h/"}, "sluice: the configuration has 2 mistakes:\n" +
			"  an argument that belongs to no flag: every value stands behind its --flag\n" +
			"  backend: no server is named: write mysql://USER@HOST:PORT/, mysql://USER@unix(PATH)/ or, without a service account, HOST:PORT\n"},
		{[]string{"version", "x"}, "sluice: version takes nothing but flags; see sluice version --help\n"},
		{[]string{"serve", "--backnd=mysql://u:hush@h/"}, "sluice: the configuration has a mistake:\n  --backnd: unknown flag; did you mean --backend?\n"},
		{[]string{"--backend=mysql://u:hush@h/"}, "sluice: unknown flag --backend: settings are flags of serve and check, behind the command; see sluice --help\n"},
		{[]string{"version", "-x"}, "sluice: a flag begins with two dashes; see sluice version --help\n"},
		{[]string{"serve", "--backend"}, "sluice: the configuration has a mistake:\n  --backend: there is no value: write --backend URL\n"},
		{[]string{"serve", "--bakend", "mysql://u:hush@h/", "--window-rows", "foo", "--burst", "-backend=mysql://u:hush@h/", "--colour=red", "--max-sessions"}, "" +
			"sluice: the configuration has 5 mistakes:\n" +
			"  --bakend: unknown flag; did you mean --backend?\n" +
			"  --colour: unknown flag\n" +
			"  --max-sessions: there is no value: write --max-sessions N\n" +
			"  --window-rows: \"foo\" is neither auto nor a whole number\n" +
			"  --burst: \"-backend=mysql://u:[redacted]@h/\" is not a whole number\n"},
		{[]string{"serve"}, "sluice: the configuration has a mistake:\n" +
			"  backend: no server is named: write mysql://USER@HOST:PORT/, mysql://USER@unix(PATH)/ or, without a service account, HOST:PORT\n"},
		{[]string{"check", "--backend", "mysql://u:hush@h:x/", "--burst", "0", "--profile", "migrate"}, "" +
			"sluice: warning: --backend: a password on the command line is visible to other users of the machine; use SLUICE_BACKEND_PASSWORD or backend.password_file\n" +
			"sluice: the configuration has 3 mistakes:\n" +
			"  --backend: the port is not a number from 1 to 65535\n" +
			"  --profile: profile migrate is not built yet: use loader, or off to relay everything\n" +
			"  --burst: 0 is out of range: 1 to 1000000\n"},
	} {
		code, stdout, stderr := call(t, nil, c.args...)
		require.Equal(t, exitMisused, code, c.args)
		require.Equal(t, c.want, stderr, c.args)
		require.Empty(t, stdout, c.args)
		require.NotContains(t, stderr, "hush")
	}
}

// What serve cannot start with is named, with what to do.
func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	broken := func(name string) string {
		at := filepath.Join(dir, "with "+name)
		require.NoError(t, os.MkdirAll(at, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(at, name), nil, 0o600))
		return at
	}
	const ownFiles = "; data_dir has to be a directory that sluice's user owns and may write to"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--data-dir", file}, "mkdir " + file + ": not a directory" + ownFiles},
		{[]string{"--data-dir", broken("journal")}, "not a directory" + ownFiles},
		{[]string{"--data-dir", broken("rejects")}, "not a directory" + ownFiles},
		{[]string{"--data-dir", filepath.Join(dir, "data"), "--listen", "unix:" + file}, "listen on unix:" + file + ": there is a file that is no socket; choose another path, or remove the file"},
		{[]string{"--data-dir", filepath.Join(dir, "data"), "--listen", "127.0.0.1:0", "--http", "192.0.2.1:1"}, "HTTP: listen on 192.0.2.1:1: "},
		{[]string{"--backend", "unix:/run/m.sock"}, "needs a service account: the server would trust sluice's own user for any client, and sluice could not see it; use TCP in --backend, or name an account, mysql://USER@unix(PATH)/"},
		{[]string{"--backend", "mysql://unix(/run/m.sock)/"}, "needs a service account: "},
	} {
		args := append([]string{"serve", "--backend", "mysql://u@127.0.0.1:1/", "--log-format", "console"}, c.args...)
		code, stdout, stderr := call(t, nil, args...)
		require.Equal(t, exitFailed, code, c.args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, c.want, c.args)
	}
	require.FileExists(t, file)
}

func TestHelpAndVersion(t *testing.T) {
	for _, version := range []string{"version", "--version", "-v"} {
		code, stdout, stderr := call(t, nil, version)
		require.Equal(t, exitOK, code)
		require.Regexp(t, `^sluice \S+ go1\S* \w+/\w+\n$`, stdout)
		require.Empty(t, stderr)
	}

	for _, overview := range []string{"help", "--help"} {
		code, stdout, stderr := call(t, nil, overview)
		require.Equal(t, exitOK, code)
		require.Contains(t, stdout, "sluice serve --backend mysql://USER@")
		require.Regexp(t, `(?m)^  check +Say what serve would lack`, stdout)
		require.Empty(t, stderr)
	}
	code, stdout, stderr := call(t, nil)
	require.Equal(t, exitMisused, code)
	require.Contains(t, stderr, "sluice serve --backend mysql://USER@")
	require.True(t, strings.HasSuffix(stderr, "\nsluice: no command is given\n"), stderr)
	require.Empty(t, stdout)

	code, help, _ := call(t, nil, "help", "serve")
	require.Equal(t, exitOK, code)
	code, stdout, _ = call(t, nil, "serve", "--burst", "many", "--help")
	require.Equal(t, exitOK, code)
	require.Equal(t, help, stdout)

	for _, command := range []string{"serve", "check"} {
		code, stdout, _ = call(t, nil, command, "--help")
		require.Equal(t, exitOK, code)
		require.Contains(t, stdout, "--window-max-delay TIME")
		require.Contains(t, stdout, "(default 512MiB)")
	}
}

func TestCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	code, stdout, _ := call(t, []string{"SLUICE_BACKEND_PASSWORD=hush"}, "check", "--backend", "mysql://u@127.0.0.1:1/", "--data-dir", dir, "--listen", "127.0.0.1:0")
	require.Equal(t, exitOK, code, stdout)
	require.Contains(t, stdout, "ok       data directory "+dir+"\nok       listen 127.0.0.1:0\nok       service account\nlacking  server 127.0.0.1:1: ")
	require.Contains(t, stdout, "connection refused\n         start the server: serve would wait for it\n")
	require.True(t, strings.HasSuffix(stdout, "\nserve would start\n"), stdout)
	require.NotContains(t, stdout, "hush")
	require.NoDirExists(t, dir)

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	code, stdout, _ = call(t, []string{"SLUICE_BACKEND_PASSWORD=hush"}, "check", "--backend", "mysql://u@127.0.0.1:1/", "--data-dir", file)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stdout, "refused  data directory "+file+": "+file+" is not a directory\n         name another with --data-dir")
	require.True(t, strings.HasSuffix(stdout, "\nserve would refuse to start\n"))

	// Without an account there is no journal, and the data directory is not used.
	code, stdout, _ = call(t, nil, "check", "--backend", "127.0.0.1:1", "--data-dir", file, "--listen", "127.0.0.1:0")
	require.Equal(t, exitOK, code)
	require.Contains(t, stdout, "lacking  service account: none is named")
	require.Contains(t, stdout, "lacking  server 127.0.0.1:1: ")

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	code, stdout, _ = call(t, []string{"SLUICE_BACKEND_PASSWORD=hush"}, "check", "--backend", "mysql://u@127.0.0.1:1/", "--data-dir", "/proc/nowhere", "--listen", taken.Addr().String())
	require.Equal(t, exitFailed, code)
	require.Contains(t, stdout, "refused  data directory /proc/nowhere: ")
	require.Contains(t, stdout, "refused  listen "+taken.Addr().String()+": ")
}

func TestLogFormats(t *testing.T) {
	for _, c := range []struct {
		format   config.LogFormat
		terminal bool
		json     bool
	}{
		{config.LogAuto, false, true}, {config.LogAuto, true, false},
		{config.LogJSON, true, true}, {config.LogConsole, false, false},
	} {
		var out bytes.Buffer
		p := &program{stderr: &out, terminal: c.terminal}
		log := p.logger(config.Log{Level: "warn", Format: c.format})
		log.Info().Msg("quiet")
		log.Warn().Str("table", "t").Msg("loud")
		require.NotContains(t, out.String(), "quiet")
		require.Contains(t, out.String(), "loud")
		require.Equal(t, c.json, strings.HasPrefix(out.String(), "{"), out.String())
	}
}

func TestSignals(t *testing.T) {
	signals := make(chan os.Signal, 2)
	aborted := make(chan struct{})
	ctx, release := untilSignal(signals, zerolog.Nop(), func() { close(aborted) })
	select {
	case <-ctx.Done():
		t.Fatal("cancelled without a signal")
	case <-time.After(time.Millisecond):
	}
	signals <- syscall.SIGTERM
	<-ctx.Done()
	select {
	case <-aborted:
		t.Fatal("aborted by the first signal")
	case <-time.After(time.Millisecond):
	}
	signals <- syscall.SIGINT
	<-aborted
	release()

	// Without any signal release ends it all.
	ctx, release = untilSignal(signals, zerolog.Nop(), func() { t.Error("aborted") })
	release()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
}

func TestStartWeb(t *testing.T) {
	stop, err := startWeb(&config.Config{}, metrics.New(), nil, zerolog.Nop())
	require.NoError(t, err)
	require.NoError(t, stop())

	stop, err = startWeb(&config.Config{HTTP: "127.0.0.1:0"}, metrics.New(), func() error { return nil }, zerolog.Nop())
	require.NoError(t, err)
	require.NoError(t, stop())

	_, err = startWeb(&config.Config{HTTP: "192.0.2.1:1"}, metrics.New(), func() error { return nil }, zerolog.Nop())
	require.ErrorContains(t, err, "HTTP: listen on 192.0.2.1:1: ")
}
