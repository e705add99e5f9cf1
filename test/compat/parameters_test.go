package compat

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

// TestF053 executes a statement again and again under the types of its first execution,
// with any of its values NULL, and then under new ones.
func TestF053(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(53, 0))
	var text strings.Builder
	text.WriteString(`# ordinary INSERT INTO t (id) VALUES ($i)
CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(30), u BIGINT UNSIGNED, d DATETIME)
# body
# prepare p INSERT INTO t VALUES (?, ?, ?, ?, ?)
# execute p int=1 | int=1 | str=first | ubigint=1 | t0C=<07 E4 07 02 1D 0C 22 38>
`)
	for i := 2; i <= 100; i++ {
		values := []string{
			fmt.Sprintf("int=%d", -i), fmt.Sprintf("str=row %d", i), fmt.Sprintf("ubigint=%d", ^uint64(i)), "t0C=<04 E4 07 02 1D>",
		}
		for k := range values {
			if random.IntN(3) == 0 {
				values[k] = "null"
			}
		}
		fmt.Fprintf(&text, "# execute p nobind int=%d | %s\n", i, strings.Join(values, " | "))
	}
	text.WriteString(`# execute p int=101 | str=777 | str=rebound | str=18446744073709551615 | str=2020-02-29 01:02:03
# execute p nobind int=102 | str=888 | null | null | null
# execute p int=103 | int=5 | null | ubigint=5 | null
SELECT COUNT(n), COUNT(s), COUNT(u), COUNT(d), MAX(u) FROM t
`)
	script, err := Parse("f053", text.String())
	require.NoError(t, err)
	servers.Each(t, func(t *testing.T, server *servers.Server) { Run(t, server, servers.StartSluice(t, server), script) })
}
