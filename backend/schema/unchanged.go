package schema

import (
	"fmt"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// Why a table is no longer what its rows were accepted for.
const (
	whyGone     = "the table no longer exists"
	whyNotBase  = "the name no longer means a base table"
	whyChanged  = "the definition of the table has changed"
	whyTriggers = "the table has triggers"
)

// Unchanged is the check of S01. It runs inside the transaction that inserted
// rows into the tables, after the last row and before COMMIT: from the first row
// on the metadata lock keeps DDL away, so that what it sees is what the rows
// went into. It returns why the transaction must be rolled back, or "".
//
// Per table it sends one SHOW CREATE TABLE, which always shows the current
// definition, and one query of information_schema.TRIGGERS. On MySQL the latter
// reads through the transaction's snapshot. Therefore either the transaction is
// READ COMMITTED, or Unchanged is its first consistent read (inserting and
// locking reads take no snapshot) and is called once, for all tables together,
// after the rows of all of them.
func Unchanged(q wire.Querier, tables ...*rewrite.Table) (why string, err error) {
	for _, t := range tables {
		var results []*wire.Result
		for _, sql := range CheckStatements(t) {
			r, err := q.Query(sql)
			if refused(err, errNoSuchTable) || refused(err, errNoSuchSchema) {
				return whyGone, nil
			}
			if refused(err, errTableDenied) && hasView(q, t) {
				return whyNotBase, nil // SHOW CREATE needs SHOW VIEW there
			}
			if err != nil {
				return "", fmt.Errorf("check %s: %w", qualified(t.Schema, t.Name), err)
			}
			results = append(results, r)
		}
		if why := CheckResults(t, results); why != "" {
			return why, nil
		}
	}
	return "", nil
}

// CheckStatements are the statements of Unchanged for one table, for a caller
// that sends them together with others and reads the replies afterwards. Their
// results, in order, go to CheckResults. An error reply to any of them means
// that the check failed.
func CheckStatements(t *rewrite.Table) []string {
	name := ident(t.Schema) + "." + ident(t.Name)
	shown := []string{showCreate + name}
	if !isASCII(name) {
		// The name is UTF-8, the session's character set may be another.
		shown = []string{
			"SET @sluice_client=@@character_set_client, character_set_client=utf8mb4",
			shown[0],
			"SET character_set_client=@sluice_client",
		}
	}
	return append(shown, triggersOf(t.Schema, t.Name))
}

// CheckResults judges the replies to CheckStatements.
func CheckResults(t *rewrite.Table, results []*wire.Result) (why string) {
	if len(results) != 2 && len(results) != 4 {
		return whyGone
	}
	shown, triggers := results[len(results)/2-1], results[len(results)-1]
	d, err := readDefinition(shown)
	switch {
	case err != nil:
		return whyGone
	case !d.base:
		return whyNotBase
	case d.text != t.Definition:
		return whyChanged
	case triggers == nil || len(triggers.Rows) != 0:
		return whyTriggers
	}
	return ""
}

func triggersOf(schema, table string) string {
	return "SELECT 1 FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA=" + literal(schema) +
		" AND EVENT_OBJECT_TABLE=" + literal(table) + " LIMIT 1"
}

// hasView says whether the server shows a view in the place of the table.
func hasView(q wire.Querier, t *rewrite.Table) bool {
	o, err := readObject(q, t.Schema, t.Name)
	return err == nil && o.view
}
