package semantics

import (
	"strings"
	"testing"

	"github.com/sluice-db/sluice/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// expand puts the name of the victim's schema into a statement.
func expand(statement, victim string) string { return strings.ReplaceAll(statement, "$victim", victim) }
