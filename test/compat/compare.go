package compat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-db/sluice/test/rawclient"
)

// maxDifferences keeps a report readable.
const maxDifferences = 5

// compare lists how the run through sluice differs from the direct one.
//
// Unwrapped, every reply must be the same. Wrapped, inserts are batched, and
// the loader profile may by design report their errors later: replies to
// inserts only have to be OK where the direct ones are, and a transaction that
// failed at its end must have left nothing behind. What was reported to nobody
// must be in the reject log, and nothing else.
func compare(script *Script, v Variant, direct, proxied played) []string {
	exact := !v.Wrapped && !script.Late
	var out []string
	if len(direct.entries) != len(proxied.entries) {
		return []string{fmt.Sprintf("%d replies directly, %d through sluice",
			len(direct.entries), len(proxied.entries))}
	}
	lateFailure, missing := false, 0 // missing: errors that the client was not told
	for i, want := range direct.entries {
		got := proxied.entries[i]
		if exact {
			if !slices.Equal(want.Reply, got.Reply) {
				out = append(out, describeDifference(want, got))
			}
			continue
		}
		failed := got.Reply.Failed() && !want.Reply.Failed()
		if got.Insert && want.Reply.Failed() && !got.Reply.Failed() {
			missing++
		}
		switch {
		case failed && v.Mode != Autocommit && sameError(direct.entries[:i], got.Reply):
			lateFailure = true // a held row's error, reported at a barrier: that may be an insert too
		case lateFailure:
			// What comes after in the failed transaction depends on it.
		case failed, !got.Insert && !slices.Equal(want.Reply, got.Reply):
			out = append(out, describeDifference(want, got))
		}
	}
	if !lateFailure && missing != proxied.rejected {
		out = append(out, fmt.Sprintf("%d errors were not reported, but %d statements were rejected",
			missing, proxied.rejected))
	}
	if lateFailure {
		out = append(out, diffTables(direct.before.rows(), proxied.tables.rows())...)
	} else {
		out = append(out, diffTables(direct.tables, proxied.tables)...)
	}
	if len(out) > maxDifferences {
		out = append(out[:maxDifferences], fmt.Sprintf("and %d more differences", len(out)-maxDifferences))
	}
	return out
}

// sameError reports whether one of the direct replies had the same error.
func sameError(entries []Entry, reply rawclient.Reply) bool {
	code := errorCode(reply)
	return slices.ContainsFunc(entries, func(e Entry) bool {
		return e.Insert && errorCode(e.Reply) == code
	})
}

func errorCode(reply rawclient.Reply) string {
	for _, line := range reply {
		if _, after, found := strings.Cut(line, " ERR "); found {
			code, _, _ := strings.Cut(after, " ")
			return code
		}
	}
	return ""
}

func describeDifference(want, got Entry) string {
	for i := range max(len(want.Reply), len(got.Reply)) {
		a, b := "nothing", "nothing"
		if i < len(want.Reply) {
			a = want.Reply[i]
		}
		if i < len(got.Reply) {
			b = got.Reply[i]
		}
		if a != b {
			return fmt.Sprintf("%s\n directly: %s\n proxied:  %s", want.Step, a, b)
		}
	}
	return want.Step + ": no difference"
}

// diffTables lists lines that only one side has; both are in the same order.
func diffTables(direct, proxied Tables) []string {
	if slices.Equal(direct, proxied) {
		return nil
	}
	count := map[string]int{}
	for _, line := range direct {
		count[line]++
	}
	for _, line := range proxied {
		count[line]--
	}
	var out []string
	for _, line := range append(slices.Clone(direct), proxied...) {
		switch n := count[line]; {
		case n > 0:
			out = append(out, fmt.Sprintf("stored only directly (%d): %.500s", n, line))
		case n < 0:
			out = append(out, fmt.Sprintf("stored only through sluice (%d): %.500s", -n, line))
		}
		delete(count, line)
	}
	if len(out) == 0 {
		out = []string{"the same lines, in another order"}
	}
	return out
}
