package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// account is one account of the server and what a login to it takes.
type account struct {
	user, host string
	plugins    []string // any of them lets a client in
	require    string   // as mysql.user.ssl_type has it: ANY, X509, SPECIFIED or empty
}

func (a account) String() string { return "'" + a.user + "'@'" + a.host + "'" }

// readAccounts lists the accounts that somebody can log in to.
func readAccounts(c *conn) ([]account, error) {
	var said *wire.Error
	if c.dialect == rewrite.MariaDB {
		r, err := c.Query("SELECT User, Host, Priv FROM mysql.global_priv")
		if !errors.As(err, &said) || said.Code != 1146 { // before 10.4 there is mysql.user alone
			return mariaAccounts(r, err)
		}
	}
	r, err := c.Query("SELECT User, Host, plugin, ssl_type, account_locked FROM mysql.user")
	if errors.As(err, &said) && said.Code == 1054 {
		r, err = c.Query("SELECT User, Host, plugin, ssl_type, 'N' FROM mysql.user")
	}
	if err != nil {
		return nil, err
	}
	var list []account
	for _, row := range r.Rows {
		if string(row[4]) != "Y" {
			list = append(list, account{string(row[0]), string(row[1]), []string{string(row[2])}, string(row[3])})
		}
	}
	return list, nil
}

// mariaAccounts reads MariaDB's form (KB "mysql.global_priv Table").
func mariaAccounts(r *wire.Result, err error) ([]account, error) {
	if err != nil {
		return nil, err
	}
	var list []account
	for _, row := range r.Rows {
		var priv struct {
			Plugin  string `json:"plugin"`
			SSLType int    `json:"ssl_type"`
			Locked  bool   `json:"account_locked"`
			Role    bool   `json:"is_role"`
			Or      []struct {
				Plugin string `json:"plugin"`
			} `json:"auth_or"`
		}
		if err := json.Unmarshal(row[2], &priv); err != nil {
			return nil, fmt.Errorf("mysql.global_priv: %w", err)
		}
		if priv.Locked || priv.Role {
			continue
		}
		a := account{user: string(row[0]), host: string(row[1])}
		if types := []string{"", "ANY", "X509", "SPECIFIED"}; priv.SSLType < len(types) && priv.SSLType >= 0 {
			a.require = types[priv.SSLType]
		}
		for _, or := range priv.Or {
			if or.Plugin != "" {
				a.plugins = append(a.plugins, or.Plugin)
			}
		}
		if len(priv.Or) == 0 || len(a.plugins) < len(priv.Or) { // an empty alternative stands for the first plugin
			a.plugins = append(a.plugins, priv.Plugin)
		}
		list = append(list, a)
	}
	return list, nil
}

// approach is how sluice's sessions come to the server.
type approach struct {
	encrypted bool
	certified bool     // by a certificate of sluice's own
	socket    bool     // a unix socket
	hosts     []string // what the server may take for the client's host
}

// obstacle is why an account cannot be logged in to through sluice.
type obstacle struct {
	why, mend string
	note      bool // it can, with a condition
}

var (
	otherHost = obstacle{why: "are bound to other hosts than sluice's", mend: "let them be 'user'@'ADDRESS OF SLUICE'"}
	wantsTLS  = obstacle{why: "REQUIRE SSL, and sluice's link to the server has none", mend: "write ?tls=true into --backend"}
	wantsX509 = obstacle{why: "REQUIRE a certificate, and sluice shows the server none", mend: "name one in backend.tls.cert and backend.tls.key, with ?tls=true in --backend: the server sees it in place of the client's"}
	ownX509   = obstacle{why: "REQUIRE a certificate: the server sees sluice's, whatever the client's is", note: true}
	peer      = obstacle{why: "are for users of the server's own machine, by its socket", mend: "give them a password too"}
	clearText = obstacle{why: "have passwords that travel in the clear, and sluice's link to the server is not encrypted", mend: "write ?tls=true into --backend"}
	clearOnly = obstacle{why: "have passwords that travel in the clear: their clients must log in to sluice by TLS or its socket", note: true}
	untried   = obstacle{why: "have plugins whose exchange sluice relays as it comes, and that may look at the host or the link: try them", note: true}
)

// obstacleOf is what keeps an account from a login, or nothing.
func (p approach) obstacleOf(a account) (o obstacle, found bool) {
	if !slices.ContainsFunc(p.hosts, func(h string) bool { return hostMatches(a.host, h) }) {
		return otherHost, true
	}
	switch a.require {
	case "ANY":
		if !p.encrypted {
			return wantsTLS, true
		}
	case "X509", "SPECIFIED":
		if !p.encrypted || !p.certified {
			return wantsX509, true
		}
		return ownX509, true
	}
	for _, plugin := range a.plugins {
		this, stops := p.obstacleBy(plugin)
		if !stops {
			return obstacle{}, false
		}
		if o.why == "" || o == peer || this.note { // what can be mended
			o = this
		}
	}
	return o, len(a.plugins) > 0
}

func (p approach) obstacleBy(plugin string) (o obstacle, found bool) {
	switch strings.ToLower(plugin) {
	case "unix_socket", "auth_socket":
		return peer, true // by a socket they are refused as well (S03)
	case "pam", "authentication_pam", "authentication_ldap_simple", "authentication_openid_connect":
		if !p.encrypted && !p.socket {
			return clearText, true
		}
		return clearOnly, true
	case "gssapi", "named_pipe", "authentication_windows", "authentication_kerberos", "authentication_ldap_sasl",
		"authentication_webauthn", "authentication_fido":
		return untried, true
	}
	return obstacle{}, false
}

// hostMatches compares the host of an account with one (MySQL manual 8.2.4, "Specifying
// Account Names"): a pattern with % and _, or a network.
func hostMatches(pattern, host string) bool {
	if network, mask, ok := strings.Cut(pattern, "/"); ok {
		address, err := netip.ParseAddr(host)
		if err != nil {
			return false
		}
		if prefix, err := netip.ParsePrefix(pattern); err == nil {
			return prefix.Contains(address)
		}
		base, err1 := netip.ParseAddr(network)
		bits, err2 := netip.ParseAddr(mask)
		if err1 != nil || err2 != nil || !base.Is4() || !bits.Is4() || !address.Is4() {
			return false
		}
		b, m, a := base.As4(), bits.As4(), address.As4()
		for i := range a {
			if a[i]&m[i] != b[i] {
				return false
			}
		}
		return true
	}
	return like(strings.ToLower(pattern), strings.ToLower(host))
}

// like is SQL's LIKE with % and _.
func like(pattern, text string) bool {
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '%':
			for at := range len(text) + 1 {
				if like(pattern[i+1:], text[at:]) {
					return true
				}
			}
			return false
		case text == "" || pattern[i] != '_' && pattern[i] != text[0]:
			return false
		}
		text = text[1:]
	}
	return text == ""
}

// inspectAccounts finds the accounts that cannot be logged in to through sluice.
func inspectAccounts(c *conn, a Account) ([]Finding, error) {
	accounts, err := readAccounts(c)
	var said *wire.Error
	if errors.As(err, &said) {
		columns, table := " (User, Host, plugin, ssl_type, account_locked)", "mysql.user"
		if c.dialect == rewrite.MariaDB {
			columns, table = "", "mysql.global_priv" // one column holds all, password hashes too
		}
		return []Finding{{What: "which accounts cannot log in through sluice is not seen: the service account may not read " + table,
			Mend: "to see it, for as long as check runs: GRANT SELECT" + columns + " ON " + table, Note: true}}, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := c.Query("SELECT SUBSTRING_INDEX(USER(), '@', -1)")
	if err != nil {
		return nil, err
	}
	p := approach{encrypted: c.Encrypted(), socket: a.Network == "unix", hosts: []string{string(r.Rows[0][0])}}
	p.certified = p.encrypted && a.TLS != nil && len(a.TLS.Config.Certificates) > 0
	if local, err := netip.ParseAddrPort(c.Socket().LocalAddr().String()); err == nil {
		p.hosts = append(p.hosts, local.Addr().Unmap().String())
	}
	return p.findings(accounts, a.User), nil
}

// findings groups the accounts, but sluice's own, by what keeps them out.
func (p approach) findings(accounts []account, own string) []Finding {
	var order []obstacle
	names := make(map[obstacle][]string)
	for _, x := range accounts {
		if x.user == own {
			continue
		}
		o, found := p.obstacleOf(x)
		if !found {
			continue
		}
		if names[o] == nil {
			order = append(order, o)
		}
		names[o] = append(names[o], x.String())
	}
	var list []Finding
	for _, o := range order {
		verdict := "cannot log in through sluice: they "
		if o.note {
			verdict = ""
		}
		list = append(list, Finding{What: "accounts " + some(names[o]) + " " + verdict + o.why, Mend: o.mend, Note: o.note})
	}
	return list
}

// some lists the first few of many names.
func some(names []string) string {
	const most = 10
	slices.Sort(names)
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
