package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/servers"
)

func grants(lines ...string) *Grants {
	g := &Grants{wildcard: true}
	for _, l := range lines {
		if e, ok := parseGrant(l); ok {
			g.entries = append(g.entries, e)
		}
	}
	return g
}

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		lines                    []string
		privilege, schema, table string
		want                     bool
	}{
		{nil, "SELECT", "d", "t", false},
		{[]string{"GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*x'"}, "SELECT", "d", "t", false},
		{[]string{"GRANT SELECT, CREATE TEMPORARY TABLES ON *.* TO `u`@`%`"}, "CREATE TEMPORARY TABLES", "d", "t", true},
		{[]string{"GRANT SELECT, INSERT ON `d`.* TO `u`@`%`"}, "INSERT", "d", "t", true},
		{[]string{"GRANT SELECT, INSERT ON \"d\".* TO \"u\"@\"%\""}, "INSERT", "d", "", true},
		{[]string{"GRANT SELECT, INSERT ON `d`.* TO `u`@`%`"}, "INSERT", "", "", false},
		{[]string{"GRANT SELECT, INSERT ON `d`.* TO `u`@`%`"}, "INSERT", "D", "t", false},
		{[]string{"GRANT SELECT (`id`, `x`), INSERT ON `d`.`t` TO `u`@`%`"}, "SELECT", "d", "t", false},
		{[]string{"GRANT SELECT (`id`, `x`), INSERT ON `d`.`t` TO `u`@`%`"}, "INSERT", "d", "t", true},
		{[]string{"GRANT INSERT ON TABLE `d`.`t` TO `u`@`%`"}, "INSERT", "d", "", false},
		{[]string{"GRANT ALL PRIVILEGES ON `d`.* TO `u`@`%`"}, "TRIGGER", "d", "t", true},
		{[]string{"GRANT ALL PRIVILEGES ON `d`.* TO `u`@`%`"}, "GRANT OPTION", "d", "", false},
		{[]string{"GRANT ALL PRIVILEGES ON `d`.* TO `u`@`%` WITH GRANT OPTION MAX_QUERIES_PER_HOUR 5"}, "GRANT OPTION", "d", "", true},
		{[]string{"GRANT INSERT ON `a\\_b`.* TO `u`@`%`"}, "INSERT", "a_b", "t", true},
		{[]string{"GRANT INSERT ON `a\\_b`.* TO `u`@`%`"}, "INSERT", "axb", "t", false},
		{[]string{"GRANT INSERT ON `a_b`.* TO `u`@`%`"}, "INSERT", "axb", "t", true},
		{[]string{"GRANT INSERT ON `test%`.* TO `u`@`%`"}, "INSERT", "test_1", "t", true},
		// The most specific entry of a schema counts alone.
		{[]string{"GRANT INSERT ON `test%`.* TO `u`@`%`", "GRANT SELECT ON `test1`.* TO `u`@`%`"}, "INSERT", "test1", "t", false},
		{[]string{"GRANT SELECT ON `test1`.* TO `u`@`%`", "GRANT INSERT ON `test%`.* TO `u`@`%`"}, "INSERT", "test1", "t", false},
		{[]string{"GRANT SELECT ON `t%`.* TO `u`@`%`", "GRANT INSERT ON `test%`.* TO `u`@`%`"}, "INSERT", "test1", "t", false},
		{[]string{"GRANT INSERT ON *.* TO `u`@`%`", "REVOKE INSERT ON `d`.* FROM `u`@`%`"}, "INSERT", "d", "t", false},
		{[]string{"GRANT INSERT ON *.* TO `u`@`%`", "REVOKE INSERT ON `d`.* FROM `u`@`%`"}, "INSERT", "e", "t", true},
		{[]string{"REVOKE INSERT ON `d`.* FROM `u`@`%`", "GRANT INSERT ON *.* TO `u`@`%`"}, "INSERT", "", "", false},
		{[]string{"GRANT EXECUTE ON PROCEDURE `d`.`t` TO `u`@`%`"}, "EXECUTE", "d", "t", false},
		{[]string{"GRANT `INSERT` TO `u`@`%`", "GRANT PROXY ON ''@'' TO 'u'@'%' WITH GRANT OPTION"}, "INSERT", "d", "t", false},
		{[]string{"GRANT CONNECTION_ADMIN,BINLOG_ADMIN ON *.* TO `u`@`%`"}, "BINLOG_ADMIN", "", "", true},
	} {
		require.Equal(t, c.want, grants(c.lines...).Holds(c.privilege, c.schema, c.table), "%v %s", c.lines, c.privilege)
	}
}

// TestMissing: every finding's statement mends it, and then nothing is missing.
func TestMissing(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		target, checkpoint := fresh(t, s), fresh(t, s)
		user := account(t, s)
		find := func() []Finding {
			found, err := Missing(login(t, s, user, user), dialect(s), checkpoint, target)
			require.NoError(t, err)
			return found
		}
		found := find()
		require.Len(t, found, 4, "%v", found)
		require.True(t, found[0].Fatal)
		require.Contains(t, found[0].Mend, "GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON `"+strings.ReplaceAll(target, "_", `\_`)+"`.*")
		for _, f := range found {
			s.Exec(t, f.Mend)
		}
		require.Empty(t, find())

		excess := []string{"SUPER", "CONNECTION_ADMIN", "SYSTEM_VARIABLES_ADMIN"}
		if s.Kind == servers.KindMariaDB {
			excess = []string{"SUPER", "CONNECTION ADMIN", "READ_ONLY ADMIN"}
		}
		s.Exec(t, "GRANT "+strings.Join(excess, ", ")+" ON *.* TO "+user+"@'%'")
		found = find()
		require.Len(t, found, 1)
		require.True(t, found[0].Fatal)
		for _, p := range excess {
			require.Contains(t, found[0].What, p)
		}
		s.Exec(t, found[0].Mend)
		require.Empty(t, find())

		s.Exec(t, "GRANT ALL ON *.* TO "+user+"@'%'")
		require.True(t, slices.ContainsFunc(find(), func(f Finding) bool { return f.Fatal }))
	})
}

// TestMissingRole: what the account holds by an active role counts.
func TestMissingRole(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		target := fresh(t, s)
		user := account(t, s)
		role := user + "_role"
		s.Exec(t, "CREATE ROLE "+role, "GRANT ALL ON "+target+".* TO "+role, "GRANT "+role+" TO "+user+"@'%'")
		if s.Kind == servers.KindMariaDB {
			s.Exec(t, "SET DEFAULT ROLE "+role+" FOR "+user+"@'%'")
		} else {
			s.Exec(t, "SET DEFAULT ROLE "+role+" TO "+user+"@'%'")
		}
		g, err := ReadGrants(login(t, s, user, user))
		require.NoError(t, err)
		require.True(t, g.Holds("TRIGGER", target, "t"))
		require.False(t, g.Holds("TRIGGER", "mysql", ""))
	})
}

// TestSettings: an account without any privilege can run them.
func TestSettings(t *testing.T) {
	servers.Each(t, func(t *testing.T, s *servers.Server) {
		user := account(t, s)
		login(t, s, user, user).run(t, Settings(dialect(s), version(t, s)))
	})
}
