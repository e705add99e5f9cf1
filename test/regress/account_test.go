package regress

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
	"github.com/sluice-db/sluice/test/stage"
)

// TestServiceAccountBreaks: a read of rows that cannot be applied, since the server
// refuses the service account, used to wait for as long as nobody mended it. It gets an
// error, never an answer without the rows; inserts go on into the journal; when the
// account is mended, all is stored and nothing rejected.
func TestServiceAccountBreaks(t *testing.T) {
	const timeout = time.Second
	password := "IDENTIFIED BY '" + servers.ServicePassword + "'"
	stage.Each(t, func(s *stage.Stage) {
		s.Root("CREATE TABLE a (x INT PRIMARY KEY)", "CREATE TABLE b (x INT PRIMARY KEY)")
		svc := s.Service()
		account := svc + "@'%'"
		grants := []string{"GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON `test%`.* TO " + account, "GRANT ALL ON sluice.* TO " + account}
		s.Start("--backend", s.BackendURL(svc), "--barrier-timeout", timeout.String())
		for i, c := range []struct {
			name         string
			damage, mend []string
			code         int
			cut          bool // connections that are there would go on
		}{
			{name: "password", damage: []string{"ALTER USER " + account + " IDENTIFIED BY 'another'"}, mend: []string{"ALTER USER " + account + " " + password}, code: 1045, cut: true},
			{name: "dropped", damage: []string{"DROP USER " + account}, mend: append([]string{"CREATE USER " + account + " " + password}, grants...), code: 1045, cut: true},
			{name: "locked", damage: []string{"ALTER USER " + account + " ACCOUNT LOCK"}, mend: []string{"ALTER USER " + account + " ACCOUNT UNLOCK"},
				code: map[servers.Kind]int{servers.KindMariaDB: 4151, servers.KindMySQL: 3118}[s.Server.Kind], cut: true},
			{name: "INSERT revoked", damage: []string{"REVOKE INSERT ON `test%`.* FROM " + account}, mend: grants, code: 1142},
			{name: "the schema revoked", damage: []string{"REVOKE SELECT, INSERT, UPDATE, DELETE, TRIGGER ON `test%`.* FROM " + account}, mend: grants, code: 1142},
			{name: "checkpoint revoked", damage: []string{"REVOKE ALL ON sluice.* FROM " + account}, mend: grants, code: 1142},
		} {
			loader, reader := s.Through("app"), s.Through("app")
			loader.Warm("INSERT INTO a VALUES (%d)")
			reader.Query("SELECT COUNT(*) FROM a")
			stored, rejects := s.Count("a"), s.Metric(stage.Rejects)
			first := 1000 * (i + 1)
			loader.Holds(inserts(first, 10)...)

			s.Server.Exec(s, c.damage...)
			if c.cut {
				cutOff(s, svc)
			}
			refused := func(x *stage.Client, statement string) {
				start := time.Now()
				rows, err := x.TryQuery(statement)
				require.Error(s, err, "%s after %s: %v", statement, c.name, rows)
				require.EqualValues(s, 1105, stage.Errno(err), "%v", err)
				require.Contains(s, err.Error(), "sluice: acknowledged rows for "+s.Schema+".a wait in the journal")
				require.Contains(s, err.Error(), fmt.Sprintf("ERROR %d", c.code))
				require.GreaterOrEqual(s, time.Since(start), timeout)
			}
			refused(reader, "SELECT COUNT(*) FROM a")
			loader.Holds(inserts(first+10, 10)...) // goes on
			refused(reader, "SELECT COUNT(*) FROM a")
			refused(reader, "BEGIN")
			require.Equal(s, []string{"1"}, reader.Query("SELECT 1"), "what sees no rows is answered, and the session lives")
			require.Equal(s, stored, s.Count("a"))
			if c.cut {
				fresh := s.Through("app") // its own statements say so too
				refused(fresh, "SELECT COUNT(*) FROM a")
				fresh.Close()
			}

			s.Server.Exec(s, c.mend...)
			want := fmt.Sprint(stored + 20)
			require.Eventually(s, func() bool {
				rows, err := reader.TryQuery("SELECT COUNT(*) FROM a")
				return err == nil && rows[0] == want
			}, time.Minute, 10*time.Millisecond)
			require.Equal(s, stored+20, s.Count("a"))
			require.Equal(s, rejects, s.Metric(stage.Rejects), c.name)
			loader.Close()
			reader.Close()
		}
	})
}

func inserts(first, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("INSERT INTO a VALUES (%d)", first+i)
	}
	return list
}

// cutOff ends an account's connections.
func cutOff(s *stage.Stage, account string) {
	s.Helper()
	for _, id := range s.Stored("SELECT id FROM information_schema.processlist WHERE user = '" + account + "'") {
		s.Server.Exec(s, "KILL "+id)
	}
}
