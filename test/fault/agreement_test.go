package fault

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// start is a way to start sluice.
type start struct {
	name    string
	backend string
	args    []string
	refused bool
	want    string   // in what check and serve say, in any case
	lacks   string   // in what check says
	unowned bool     // by a user that owns nothing
	dir     []string // what the data directory, which is given to that user, holds already
}

// TestCheckAgreesWithServe holds that check exits as serve does, over what is right and
// over each thing of this machine that can be wrong, and that both name it.
func TestCheckAgreesWithServe(t *testing.T) {
	t.Parallel()
	server := servers.MariaDB(t)
	running := servers.StartSluice(t, server)
	program := executable(t)
	authority := servers.NewAuthority(t)
	cert, key := authority.Issue(t, "good", servers.Certificate{})
	late, lateKey := authority.Issue(t, "late", servers.Certificate{Expired: true})
	dir := openDir(t)
	file, closed := filepath.Join(dir, "file"), filepath.Join(dir, "closed")
	require.NoError(t, os.WriteFile(file, []byte("no PEM"), 0o600))
	require.NoError(t, os.Mkdir(closed, 0o700))
	free := pretend(t, nil)

	account, relay := server.BackendURL(), "mysql://"+server.Addr+"/"
	starts := []start{
		{name: "all is right", backend: account},
		{name: "no account", backend: relay},
		{name: "certificates", backend: account, args: []string{"--tls-cert", cert, "--tls-key", key, "--tls-ca", authority.CA}},
		{name: "own certificate is damaged", backend: account, dir: []string{"server-cert.pem", "server-key.pem"}, refused: true, want: "sluice's own certificate"},
		{name: "journal of somebody else", backend: account, dir: []string{"journal/", "journal/LOCK"}, unowned: true, refused: true, want: "journal"},
		{name: "empty directories", backend: account, dir: []string{"journal/", "rejects/"}},
		{name: "reject log is a file", backend: account, dir: []string{"rejects"}, refused: true, want: "rejects"},
		{name: "data directory in use", backend: account, args: []string{"--data-dir", running.DataDir}, refused: true, want: "in use"},
		{name: "data directory is a file", backend: account, args: []string{"--data-dir", file}, refused: true, want: "data directory"},
		{name: "data directory of somebody else", backend: account, args: []string{"--data-dir", closed}, unowned: true, refused: true, want: closed},
		{name: "no room for a data directory", backend: account, args: []string{"--data-dir", filepath.Join(dir, "new")}, unowned: true, refused: true, want: "data directory"},
		{name: "data directory without an account", backend: relay, args: []string{"--data-dir", file}},
		{name: "address in use", backend: account, args: []string{"--listen", running.Addr}, refused: true, want: "address already in use"},
		{name: "address of another machine", backend: account, args: []string{"--listen", "192.0.2.1:3307"}, refused: true, want: "192.0.2.1:3307"},
		{name: "HTTP address in use", backend: account, args: []string{"--http", strings.TrimPrefix(running.HTTP, "http://")}, refused: true, want: "HTTP"},
		{name: "one address for both", backend: account, args: []string{"--listen", free, "--http", free}, refused: true, want: "HTTP"},
		{name: "file in place of a socket", backend: account, args: []string{"--listen", "unix:" + file}, refused: true, want: "no socket"},
		{name: "socket in a directory of somebody else", backend: relay, args: []string{"--listen", "unix:" + filepath.Join(closed, "s")}, unowned: true, refused: true, want: "listen on "},
		{name: "key of another certificate", backend: account, args: []string{"--tls-cert", cert, "--tls-key", lateKey}, refused: true, want: "tls.cert and tls.key"},
		{name: "certificate has expired", backend: relay, args: []string{"--tls-cert", late, "--tls-key", lateKey}, want: "tls.cert"},
	}
	for bad, url := range map[string]string{"/nowhere": relay, file: account} {
		for _, c := range []struct {
			want, tls string
			args      []string
		}{
			{"tls.cert and tls.key", "", []string{"--tls-cert", bad, "--tls-key", key}},
			{"tls.cert and tls.key", "", []string{"--tls-cert", cert, "--tls-key", bad}},
			{"tls.ca", "", []string{"--tls-ca", bad}},
			{"backend.tls.cert and backend.tls.key", "?tls=true", []string{"--backend-tls-cert", bad, "--backend-tls-key", key}},
			{"backend.tls.cert and backend.tls.key", "?tls=true", []string{"--backend-tls-cert", cert, "--backend-tls-key", bad}},
			{"backend.tls.ca", "?tls=true", []string{"--backend-tls-ca", bad}},
		} {
			starts = append(starts, start{name: strings.Join(c.args, " "), backend: url + c.tls, args: c.args, refused: true, want: c.want})
		}
	}
	for _, s := range starts {
		t.Run(s.name, func(t *testing.T) { agree(t, program, s) })
	}
}

// TestCheckAgreesWithServeOverServers holds the same over what can be wrong with a server
// and with the account there. Without an account serve starts, and check says what
// sessions will meet.
func TestCheckAgreesWithServeOverServers(t *testing.T) {
	t.Parallel()
	for _, kind := range servers.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			authority, other := servers.NewAuthority(t), servers.NewAuthority(t)
			server := servers.Fresh(t, kind, authority.ServerOptions(t)...)
			bare := servers.Fresh(t, kind, map[servers.Kind]string{servers.KindMySQL: "--tls-version=", servers.KindMariaDB: "--skip-ssl"}[kind])
			server.Exec(t, "CREATE USER greedy@'%' IDENTIFIED BY 'svc'", "GRANT ALL ON *.* TO greedy@'%'")
			noServer := pretend(t, func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) })
			down := pretend(t, nil)
			late, lateKey := authority.Issue(t, "late", servers.Certificate{Expired: true})
			trust := []string{"--backend-tls-ca", authority.CA}

			starts := []start{
				{name: "backend's socket without an account", backend: "unix:" + server.Socket, refused: true, want: "service account"},
				{name: "no such account", backend: "mysql://nowhere@" + server.Addr + "/", refused: true, want: "nowhere"},
				{name: "account that holds too much", backend: "mysql://greedy@" + server.Addr + "/", refused: true, want: "REVOKE"},
			}
			for _, user := range []string{"sluice_svc@", ""} {
				at := func(addr string) string { return "mysql://" + user + addr + "/" }
				secure := at(server.Addr) + "?tls=true"
				for _, s := range []start{
					{name: "TLS", backend: secure, args: trust, lacks: "ok       server "},
					{name: "none", backend: at(bare.Addr), lacks: "ok       server "},
					{name: "TLS preferred", backend: at(bare.Addr) + "?tls=preferred", lacks: "ok       server "},
					{name: "certificate has expired", backend: at(server.Addr) + "?tls=skip-verify", args: []string{"--backend-tls-cert", late, "--backend-tls-key", lateKey}, want: "backend.tls.cert"},
					{name: "server without TLS", backend: at(bare.Addr) + "?tls=true", refused: user != "", lacks: "offers no TLS"},
					{name: "server that is not trusted", backend: secure, args: []string{"--backend-tls-ca", other.CA}, refused: user != "", lacks: "unknown authority"},
					{name: "server of another name", backend: secure, args: append(trust, "--backend-tls-server-name", "db.example"), refused: user != "", lacks: "not db.example"},
					{name: "server is down", backend: at(down), lacks: "connection refused"},
					{name: "backend is no MySQL", backend: at(noServer), lacks: "lacking  server " + noServer},
				} {
					s.name = user + " " + s.name
					starts = append(starts, s)
				}
			}
			program := executable(t)
			for _, s := range starts {
				t.Run(s.name, func(t *testing.T) { agree(t, program, s) })
			}
		})
	}
}

// agree runs check and serve.
func agree(t *testing.T, program string, s start) {
	t.Helper()
	status := 0
	if s.refused {
		status = 1
	}
	data := filepath.Join(openDir(t), "data")
	require.NoError(t, os.Mkdir(data, 0o700))
	for _, name := range s.dir {
		if at := filepath.Join(data, name); strings.HasSuffix(name, "/") {
			require.NoError(t, os.Mkdir(at, 0o700))
		} else {
			require.NoError(t, os.WriteFile(at, []byte("damaged"), 0o600))
		}
	}
	require.NoError(t, os.Chown(data, nobody, nobody))
	for _, command := range []string{"check", "serve"} {
		args := append([]string{command, "--backend", s.backend, "--data-dir", data, "--listen", "127.0.0.1:0"}, s.args...)
		got, output := startAndStop(t, program, s, args)
		require.Equal(t, status, got, "%s: %s", command, output)
		require.Contains(t, strings.ToLower(output), strings.ToLower(s.want), command)
		if command == "check" {
			require.Contains(t, output, s.lacks)
		}
	}
}

// nobody is the user and group that own nothing.
const nobody = 65534

// startAndStop runs sluice until it ends or, since it is ready, is ended.
func startAndStop(t *testing.T, program string, s start, args []string) (status int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Env = []string{"PATH=" + os.Getenv("PATH")}
	if strings.Contains(s.backend, "@") {
		command.Env = append(command.Env, "SLUICE_BACKEND_PASSWORD="+servers.ServicePassword)
	}
	if s.unowned {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	read, write, err := os.Pipe()
	require.NoError(t, err)
	command.Stdout, command.Stderr = write, write
	err = command.Start()
	require.NoError(t, write.Close())
	require.NoError(t, err)
	var said strings.Builder
	for lines := bufio.NewScanner(read); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"message":"listening"`) {
			_ = command.Process.Signal(syscall.SIGTERM)
		}
	}
	_ = command.Wait()
	require.NoError(t, read.Close())
	require.NoError(t, ctx.Err(), "%q did not end:\n%s", args, said.String())
	return command.ProcessState.ExitCode(), said.String()
}

// executable is a copy of sluice that every user can run.
func executable(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(servers.Binary(t))
	require.NoError(t, err)
	path := filepath.Join(openDir(t), "sluice")
	require.NoError(t, os.WriteFile(path, text, 0o755)) // #nosec G306: to be run by another user
	return path
}

// openDir is a directory that every user may look into.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice-agreement-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755)) // #nosec G302: see above
	return dir
}
