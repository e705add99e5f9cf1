package servers

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"
)

// RunSluice runs a sluice command that is expected to end by itself, and
// returns its exit status and what it wrote. If it does not end the test fails.
func RunSluice(t testing.TB, args ...string) (status int, output string) {
	t.Helper()
	return run(t, append([]string{Binary(t)}, args...))
}

// RunClient runs a client program of the kind (mariadb, mysql, mysqldump ...)
// in the same way.
func RunClient(t testing.TB, kind Kind, name string, args ...string) (status int, output string) {
	t.Helper()
	argv, err := Program(kind, name)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, append(argv, args...))
}

func run(t testing.TB, argv []string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Env = environment("SLUICE_BACKEND_PASSWORD=" + ServicePassword)
	out, err := command.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%q did not end:\n%s", argv, out)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v", argv, err)
	}
	return command.ProcessState.ExitCode(), string(out)
}
