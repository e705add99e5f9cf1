package servers

import (
	"os"
	"path/filepath"
	"testing"
)

// Where MariaDB's server plugins are: Debian's package of the whole server, or what
// .ci/install has unpacked of it.
const mariaPlugins = "/opt/mariadb-plugins"

// PAMService is the PAM service that .ci/install makes: its password, for any user, is
// PAMPassword.
const (
	PAMService  = "sluice-test"
	PAMPassword = "pam-secret"
)

// MariaDBPlugins gives the options that load authentication plugins (auth_ed25519,
// auth_pam_v1) into a MariaDB server.
func MariaDBPlugins(t testing.TB, names ...string) []string {
	t.Helper()
	for _, dir := range []string{"/usr/lib/mysql/plugin", mariaPlugins + "/usr/lib/mysql/plugin"} {
		options := []string{"--plugin-dir=" + dir}
		missing := false
		for _, name := range names {
			_, err := os.Stat(filepath.Join(dir, name+".so"))
			missing = missing || err != nil
			options = append(options, "--plugin-load-add="+name)
		}
		if !missing {
			return options
		}
	}
	t.Fatalf("MariaDB's plugins %q are not there: %s", names, installHint)
	return nil
}
