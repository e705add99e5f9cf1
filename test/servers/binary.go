package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// binary is the sluice program of this test process, built by the first test
// that needs it.
var binary struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// BinaryEnv names the environment variable with the path of a built program,
// for testing a release instead of this source tree.
const BinaryEnv = "SLUICE_BINARY"

// Binary returns the path of the sluice program under test.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := buildBinary()
	if err != nil {
		t.Fatalf("build sluice: %v", err)
	}
	return path
}

func buildBinary() (string, error) {
	binary.once.Do(func() {
		if binary.path = os.Getenv(BinaryEnv); binary.path != "" {
			return
		}
		binary.dir, binary.err = os.MkdirTemp("", "sluice-binary-")
		if binary.err != nil {
			return
		}
		binary.path = filepath.Join(binary.dir, "sluice")
		binary.err = build(binary.path)
	})
	return binary.path, binary.err
}

func build(path string) error {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	args := []string{"build", "-buildvcs=false", "-o", path}
	if Race {
		args = append(args, "-race")
	}
	command := exec.Command("go", append(args, ".")...)
	command.Dir = strings.TrimSpace(string(root))
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func removeBinary() error {
	if binary.dir == "" {
		return nil
	}
	return os.RemoveAll(binary.dir)
}
