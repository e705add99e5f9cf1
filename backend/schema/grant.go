package schema

import (
	"fmt"
	"strings"

	"github.com/sluice-db/sluice/backend/wire"
)

// Grants is what the account of a connection may do, with its active roles.
type Grants struct {
	account  string // `user`@`host`
	entries  []grant
	wildcard bool // % and _ in the schema of a grant are wildcards
}

// grant is one line of SHOW GRANTS.
type grant struct {
	revoked       bool // MySQL's partial revoke
	privileges    map[string]bool
	schema, table string // "*" for all
}

// allPrivileges is how SHOW GRANTS abbreviates all that can be granted on an object.
const allPrivileges = "ALL PRIVILEGES"

// ReadGrants reads the grants of the connection's own account.
func ReadGrants(q wire.Querier) (*Grants, error) {
	r, err := q.Query("SELECT CURRENT_USER()")
	if err != nil {
		return nil, fmt.Errorf("grants: %w", err)
	}
	g := &Grants{account: quoteAccount(string(r.Rows[0][0])), wildcard: true}
	if r, err = q.Query(neutral + "SHOW GRANTS"); err != nil {
		return nil, fmt.Errorf("grants: %w", err)
	}
	for _, row := range r.Rows {
		if e, ok := parseGrant(string(row[0])); ok {
			g.entries = append(g.entries, e)
		}
	}
	// With partial revokes MySQL reads % and _ in a grant's schema literally.
	if r, err = q.Query("SHOW VARIABLES LIKE 'partial_revokes'"); err != nil {
		return nil, fmt.Errorf("grants: %w", err)
	}
	g.wildcard = len(r.Rows) == 0 || string(r.Rows[0][1]) != "ON"
	return g, nil
}

// Account is the account as a GRANT statement names it.
func (g *Grants) Account() string { return g.account }

func quoteAccount(account string) string {
	user, host := account, ""
	if i := strings.LastIndexByte(account, '@'); i >= 0 {
		user, host = account[:i], account[i+1:]
	}
	return ident(user) + "@" + ident(host)
}

// parseGrant reads a line of SHOW GRANTS. Not ok: roles, PROXY, routines, column
// privileges, which matter to nobody here.
func parseGrant(line string) (g grant, ok bool) {
	tokens := scan(line)
	if len(tokens) == 0 || !tokens[0].is("GRANT") && !tokens[0].is("REVOKE") {
		return grant{}, false
	}
	g = grant{revoked: tokens[0].is("REVOKE"), privileges: map[string]bool{}}
	i, words, columns := 1, []string(nil), false
	add := func() {
		if len(words) > 0 && !columns {
			g.privileges[strings.ToUpper(strings.Join(words, " "))] = true
		}
		words, columns = nil, false
	}
	for ; i < len(tokens) && !tokens[i].is("ON"); i++ {
		switch {
		case tokens[i].is(","):
			add()
		case tokens[i].is("("):
			columns = true
			for i+1 < len(tokens) && !tokens[i].is(")") {
				i++
			}
		case tokens[i].kind == word:
			words = append(words, tokens[i].value)
		default:
			return grant{}, false // a role
		}
	}
	add()
	i++
	if i < len(tokens) && tokens[i].is("TABLE") {
		i++
	}
	if i+3 >= len(tokens) || !tokens[i+1].is(".") || !isObject(tokens[i]) || !isObject(tokens[i+2]) {
		return grant{}, false
	}
	g.schema, g.table = tokens[i].value, tokens[i+2].value
	// WITH GRANT OPTION stands behind the account.
	for i += 3; i+1 < len(tokens); i++ {
		if tokens[i].is("GRANT") && tokens[i+1].is("OPTION") {
			g.privileges["GRANT OPTION"] = true
		}
	}
	return g, true
}

func isObject(t token) bool { return t.kind == quoted || t.is("*") }

// Holds says whether the account provably has a privilege: on a table, with an
// empty table on every table of a schema, with both empty on *.*. Doubt means no.
func (g *Grants) Holds(privilege, schema, table string) bool {
	if schema != "" && g.revokes(privilege, schema) {
		return false
	}
	best, wild := false, 0
	exact := false
	for _, e := range g.entries {
		if e.revoked {
			if schema == "" && e.has(privilege) {
				return false
			}
			continue
		}
		switch {
		case e.schema == "*" && e.table == "*":
			if e.has(privilege) {
				return true
			}
		case schema == "":
		case e.table != "*":
			if table != "" && e.schema == schema && e.table == table && e.has(privilege) {
				return true
			}
		case unpattern(e.schema) == schema || !g.wildcard && e.schema == schema:
			// The server looks at the most specific entry of a schema only.
			if !exact {
				best = false
			}
			exact = true
			best = best || e.has(privilege)
		case g.wildcard && !exact && like(e.schema, schema):
			best = e.has(privilege) && (best || wild == 0)
			wild++
		}
	}
	return best
}

func (g *Grants) revokes(privilege, schema string) bool {
	for _, e := range g.entries {
		if e.revoked && e.schema == schema && e.has(privilege) {
			return true
		}
	}
	return false
}

func (e grant) has(privilege string) bool {
	if e.privileges[privilege] {
		return true
	}
	return (e.privileges[allPrivileges] || e.privileges["ALL"]) && privilege != "GRANT OPTION"
}

// unpattern is the one name that a pattern without wildcards matches; for others
// it is a name that cannot be.
func unpattern(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteByte(pattern[i])
		case c == '%' || c == '_':
			return "\x00"
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// like matches a name against a pattern with % and _ (MySQL manual, "GRANT
// Statement", database privileges).
func like(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	switch c := pattern[0]; {
	case c == '%':
		for i := 0; i <= len(name); i++ {
			if like(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	case name == "":
		return false
	case c == '\\' && len(pattern) > 1:
		return pattern[1] == name[0] && like(pattern[2:], name[1:])
	case c == '_' || c == name[0]:
		return like(pattern[1:], name[1:])
	}
	return false
}
