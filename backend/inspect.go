package backend

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/backend/schema"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// Finding is something that the server or the service account lacks, or holds too
// much of, and how it is mended.
type Finding struct {
	What, Mend string
	Refuses    bool // serve would not start
	Note       bool // nothing is lacking
}

// Inspect logs the service account in and looks at what journaling needs: the
// account's rights on every schema that it sees, the checkpoint table, the
// server's settings, whether it is the server that the journal's rows went to.
// identityPath and summary are the data directory's; without a journal there the
// summary is empty. The error says that the account could not log in.
func Inspect(ctx context.Context, a Account, checkpointSchema, identityPath string, summary journal.Summary) ([]Finding, error) {
	c, err := dial(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("service account at %s: %w", a.Addr, err)
	}
	defer func() { _ = c.Close() }()
	if err := c.prepare(); err != nil {
		return nil, err
	}
	targets, err := visibleSchemas(c, checkpointSchema)
	if err != nil {
		return nil, err
	}
	var found []Finding
	if len(targets) == 0 {
		found = append(found, Finding{
			What: "the service account sees no schema to load into",
			Mend: "create the schema, and grant the account SELECT, INSERT, UPDATE, DELETE, TRIGGER, SHOW VIEW on it",
		})
		targets = []string{checkpointSchema}
	} else {
		found = append(found, Finding{What: "the service account sees the schemas " + strings.Join(targets, ", "), Note: true})
	}
	missing, err := schema.Missing(c, c.dialect, checkpointSchema, targets...)
	if err != nil {
		return nil, err
	}
	for _, m := range missing {
		found = append(found, Finding{What: m.What, Mend: m.Mend, Refuses: m.Fatal && isExcess(m)})
	}
	cp := checkpoint{schema: checkpointSchema, journal: hex.EncodeToString(idBytes(summary.ID))}
	if _, _, err := (identity{identityPath}).compare(c, &cp, summary.Queues); errors.Is(err, ErrOtherServer) {
		return append(found, Finding{What: err.Error(), Refuses: true}), nil
	} else if err != nil {
		return nil, err
	}
	if err := cp.check(c); err != nil {
		f := Finding{What: "the checkpoint table " + cp.table() + " is not there; serve makes it if the account may"}
		if cp.create(c) != nil {
			f.Mend = "CREATE DATABASE IF NOT EXISTS " + quote(checkpointSchema) + "; and the GRANT above"
			f.Refuses = true
		} else {
			f.What, f.Note = "the checkpoint table "+cp.table()+" was missing and has been made", true
		}
		found = append(found, f)
	}
	if c.dialect == rewrite.MariaDB {
		r, err := c.Query("SELECT @@secure_timestamp")
		if err == nil && len(r.Rows) == 1 && string(r.Rows[0][0]) != "NO" {
			found = append(found, Finding{
				What: "secure_timestamp=" + string(r.Rows[0][0]) + ": rows whose time matters (NOW(), DEFAULT CURRENT_TIMESTAMP) cannot be journaled",
				Mend: "set secure_timestamp=NO in the server's configuration",
			})
		}
	}
	logins, err := inspectAccounts(c, a)
	return append(found, logins...), err
}

// Greet looks at a server as far as one gets without an account: does it answer, and is
// its TLS what the configuration asks for (else ErrTLS)? It returns the server's version.
func Greet(ctx context.Context, a Account) (version string, err error) {
	l, err := dialLink(ctx, a)
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.greeting.Version, l.leave()
}

// isExcess: what the account must not hold; serve refuses such an account (S05).
func isExcess(f schema.Finding) bool { return strings.HasPrefix(f.Mend, "REVOKE") }

// visibleSchemas are the schemas that the account has some right on.
func visibleSchemas(q wire.Querier, checkpointSchema string) ([]string, error) {
	r, err := q.Query("SHOW DATABASES")
	if err != nil {
		return nil, err
	}
	var list []string
	for _, row := range r.Rows {
		switch name := string(row[0]); name {
		case "information_schema", "performance_schema", "mysql", "sys", checkpointSchema:
		default:
			list = append(list, name)
		}
	}
	return list, nil
}

// ErrExcess says that the service account holds privileges with which it must not journal.
var ErrExcess = errors.New("the service account holds too much")

// excess says which privileges the account must give up before it may journal (S05).
func excess(c *conn, checkpointSchema string) error {
	missing, err := schema.Missing(c, c.dialect, checkpointSchema)
	if err != nil {
		return err
	}
	for _, m := range missing {
		if m.Fatal && isExcess(m) {
			return fmt.Errorf("%w: %s; mend it with: %s", ErrExcess, m.What, m.Mend)
		}
	}
	return nil
}

// Vouched refuses while an account of the server would let sluice's own uid in by
// its socket: through the relay it would let anyone in (S03). It asks the server
// each time, since accounts come and go.
func (e *Engine) Vouched(ctx context.Context) error {
	c, err := e.meta.get(ctx)
	if err != nil {
		return err
	}
	accounts, err := socketAccounts(c)
	var said *wire.Error
	e.meta.put(c, err != nil && !errors.As(err, &said))
	if err != nil {
		return fmt.Errorf("accounts that log in by socket cannot be looked up (%w); grant the service account SELECT on mysql.* or use TCP to the server", err)
	}
	names := ownNames()
	for account, text := range accounts {
		for _, n := range names {
			if account == n || text == n || strings.Contains(text, `"`+n+`"`) {
				return fmt.Errorf("account %s would let sluice's own user %s in by its socket; use TCP to the server, or run sluice as another user", account, n)
			}
		}
	}
	return nil
}

// socketAccounts lists the accounts that are authenticated by their peer's uid, with
// the text that says which.
func socketAccounts(c *conn) (map[string]string, error) {
	sql := "SELECT User, authentication_string FROM mysql.user WHERE plugin = 'auth_socket'"
	if c.dialect == rewrite.MariaDB {
		sql = "SELECT User, Priv FROM mysql.global_priv WHERE Priv LIKE '%unix_socket%'"
	}
	r, err := c.Query(sql)
	if err != nil {
		return nil, err
	}
	accounts := make(map[string]string, len(r.Rows))
	for _, row := range r.Rows {
		accounts[string(row[0])] += string(row[1])
	}
	return accounts, nil
}

// ownNames are what the server may call sluice's uid.
func ownNames() []string {
	uid := strconv.Itoa(os.Geteuid())
	names := []string{uid}
	if u, err := user.LookupId(uid); err == nil {
		names = append(names, u.Username)
	}
	return names
}
