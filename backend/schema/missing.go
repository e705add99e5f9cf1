package schema

import (
	"slices"
	"strings"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// Finding is something that the service account lacks or holds too much of.
type Finding struct {
	What  string
	Mend  string // the statement that mends it
	Fatal bool   // sluice must not journal; otherwise it works, slower
}

// onTargets and onCheckpoint are what the service account needs.
var (
	onTargets    = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRIGGER"}
	onCheckpoint = []string{"CREATE", "SELECT", "INSERT", "UPDATE", "DELETE"}
)

// tooMuch are privileges with which rows would go where the client's own could
// not: past read_only, past connection limits, past other accounts' rights (S05).
var tooMuch = []string{
	"SUPER",
	// MySQL
	"CONNECTION_ADMIN", "SERVICE_CONNECTION_ADMIN", "SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN",
	"SET_USER_ID", "SET_ANY_DEFINER", "REPLICATION_APPLIER", "BINLOG_ADMIN", "ROLE_ADMIN",
	// MariaDB
	"READ_ONLY ADMIN", "READ ONLY ADMIN", "CONNECTION ADMIN", "SET USER", "BINLOG ADMIN", "BINLOG REPLAY",
	// both
	"CREATE USER", "GRANT OPTION",
}

// Missing compares the grants of the connection's account with what the service
// account needs on the target schemas (none given: on all) and on the schema of
// the checkpoint table, and with what it must not hold.
func Missing(q wire.Querier, dialect rewrite.Dialect, checkpoint string, targets ...string) ([]Finding, error) {
	g, err := ReadGrants(q)
	if err != nil {
		return nil, err
	}
	var found []Finding
	need := func(fatal bool, why, schema string, privileges ...string) {
		object := "*.*"
		if schema != "" {
			object = ident(grantPattern(schema, g.wildcard)) + ".*"
		}
		lacking := slices.DeleteFunc(slices.Clone(privileges), func(p string) bool { return g.Holds(p, schema, "") })
		if len(lacking) == 0 {
			return
		}
		list := strings.Join(lacking, ", ")
		found = append(found, Finding{
			What:  "the service account " + g.account + " lacks " + list + " on " + object + ": " + why,
			Mend:  "GRANT " + list + " ON " + object + " TO " + g.account,
			Fatal: fatal,
		})
	}
	if len(targets) == 0 {
		targets = []string{""}
	}
	for _, schema := range targets {
		need(true, "rows cannot be written, or triggers cannot be seen", schema, onTargets...)
	}
	need(true, "flushes cannot be recorded", checkpoint, onCheckpoint...)

	for _, schema := range targets {
		need(false, "statements on views flush everything", schema, "SHOW VIEW")
	}
	if !g.seesLinks(dialect) {
		privilege := "REFERENCES"
		if dialect == rewrite.MariaDB {
			privilege = "PROCESS"
		}
		need(false, "foreign keys between other tables cannot be seen, every barrier flushes everything", "", privilege)
	} else if dialect == rewrite.MariaDB {
		need(false, "foreign keys are looked up by opening every table of the server", "", "PROCESS")
	}
	return append(found, g.excess()...), nil
}

// seesLinks says whether the account sees every foreign key of the server.
func (g *Grants) seesLinks(dialect rewrite.Dialect) bool {
	return g.Holds("REFERENCES", "", "") || g.Holds("SELECT", "", "") ||
		dialect == rewrite.MariaDB && g.Holds("PROCESS", "", "")
}

func (g *Grants) excess() []Finding {
	for _, e := range g.entries {
		if e.schema == "*" && e.table == "*" && !e.revoked && e.has(allPrivileges) {
			return []Finding{{
				What:  "the service account " + g.account + " holds ALL PRIVILEGES on *.*: its inserts pass read_only and connection limits",
				Mend:  "REVOKE ALL PRIVILEGES, GRANT OPTION FROM " + g.account,
				Fatal: true,
			}}
		}
	}
	var held []string
	for _, e := range g.entries {
		for _, p := range tooMuch {
			if e.schema == "*" && e.table == "*" && !e.revoked && e.privileges[p] && !slices.Contains(held, p) {
				held = append(held, p)
			}
		}
	}
	if len(held) == 0 {
		return nil
	}
	list := strings.Join(held, ", ")
	return []Finding{{
		What:  "the service account " + g.account + " holds " + list + ": its inserts could go where a client's own could not",
		Mend:  "REVOKE " + list + " ON *.* FROM " + g.account,
		Fatal: true,
	}}
}

// grantPattern writes a schema's name so that GRANT takes it literally.
func grantPattern(schema string, wildcard bool) string {
	if !wildcard {
		return schema
	}
	return strings.NewReplacer(`\`, `\\`, `_`, `\_`, `%`, `\%`).Replace(schema)
}
