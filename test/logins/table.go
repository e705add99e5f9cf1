package logins

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// table has a line for each client and account, a column for each way.
func (m *matrix) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s\tdirectly\t\tthrough sluice\n\t", m.kind)
	for _, way := range ways {
		fmt.Fprintf(w, "%s\t", way)
	}
	fmt.Fprintln(w)
	for _, c := range clients {
		for _, a := range accounts[m.kind] {
			fmt.Fprintf(w, "%s: %s\t", c.name, a.name)
			for _, way := range ways {
				got, tried := m.cells[cell{c.name, a.name, way}]
				switch {
				case !tried:
					fmt.Fprint(w, "\t")
				case got.ok:
					fmt.Fprint(w, "ok\t")
				default:
					fmt.Fprint(w, got.code+"\t")
				}
			}
			fmt.Fprintln(w)
		}
	}
	_ = w.Flush()
	return b.String()
}

// summary is a Markdown table of what works through sluice: a line for each client, a
// column for each account that is not there to be refused.
func (m *matrix) summary() string {
	var b strings.Builder
	columns, rule := "|", "|---|"
	for _, a := range accounts[m.kind] {
		if !a.refused {
			columns += " | " + a.name
			rule += "---|"
		}
	}
	fmt.Fprintf(&b, "%s |\n%s\n", columns, rule)
	for _, c := range clients {
		if !m.ran(c) {
			continue
		}
		fmt.Fprintf(&b, "| %s |", c.name)
		for _, a := range accounts[m.kind] {
			if !a.refused {
				fmt.Fprintf(&b, " %s |", m.works(c, a))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ran says whether a client took part: go test -run may choose some.
func (m *matrix) ran(c client) bool {
	_, tried := m.cells[cell{c.name, accounts[m.kind][0].name, way{}}]
	return tried
}

// works tells by which links a login works through sluice.
func (m *matrix) works(c client, a account) string {
	if _, tried := m.cells[cell{c.name, a.name, way{}}]; !tried {
		return "never"
	}
	works := func(client, backend bool) bool {
		return m.cells[cell{c.name, a.name, way{tls: client, sluice: true, backend: backend}}].ok
	}
	if !works(true, true) {
		return "no"
	}
	switch {
	case works(false, false):
		return "yes"
	case works(true, false) && works(false, true):
		return "TLS on either"
	case works(true, false):
		return "TLS to sluice"
	case works(false, true):
		return "TLS to the server"
	}
	return "TLS on both"
}
