package compat

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
)

// TestCompareSeesDifferences guards the judge: what it overlooks, no script
// can find.
func TestCompareSeesDifferences(t *testing.T) {
	t.Parallel()
	script, err := Parse("x", "SELECT 1\n")
	require.NoError(t, err)
	ok := rawclient.Reply{"1 OK affected=1 id=0 status=0002 warnings=0"}
	duplicate := rawclient.Reply{"1 ERR 1062 23000 \"Duplicate entry\""}
	rows := rawclient.Reply{"1 RESULT", "2 ROW \"\\x011\""}
	insert := func(reply rawclient.Reply) Entry { return Entry{Step: "insert", Insert: true, Reply: reply} }
	other := func(reply rawclient.Reply) Entry { return Entry{Step: "other", Reply: reply} }
	filled := Tables{"t,CREATE TABLE `t`", "`s`.`t`: 1", "`s`.`t`: 2"}
	empty := filled[:1]

	plain := Variant{Mode: Autocommit}
	wrapped := Variant{Mode: Autocommit, Wrapped: true}
	inTransaction := Variant{Mode: InBegin, Wrapped: true}
	cases := []struct {
		name            string
		variant         Variant
		direct, proxied played
		same            bool
	}{
		{"equal", plain, played{entries: []Entry{insert(ok)}}, played{entries: []Entry{insert(ok)}}, true},
		{"another reply", plain, played{entries: []Entry{insert(duplicate)}}, played{entries: []Entry{insert(ok)}}, false},
		{"a reply missing", plain, played{entries: []Entry{insert(ok)}}, played{}, false},
		{"a row lost", plain, played{tables: filled}, played{tables: filled[:2]}, false},
		{"a row doubled", plain, played{tables: filled}, played{tables: append(filled[:3:3], filled[2])}, false},
		{"late error", wrapped, played{entries: []Entry{insert(duplicate)}}, played{entries: []Entry{insert(ok)}, rejected: 1}, true},
		{"error lost", wrapped, played{entries: []Entry{insert(duplicate)}}, played{entries: []Entry{insert(ok)}}, false},
		{"false reject", wrapped, played{entries: []Entry{insert(ok)}}, played{entries: []Entry{insert(ok)}, rejected: 1}, false},
		{"false error", wrapped, played{entries: []Entry{insert(ok)}}, played{entries: []Entry{insert(duplicate)}}, false},
		{"wrong rows", wrapped, played{entries: []Entry{other(rows)}}, played{entries: []Entry{other(ok)}}, false},
		{
			"commit fails, nothing left", inTransaction,
			played{entries: []Entry{insert(duplicate), other(ok)}, before: empty, tables: filled},
			played{entries: []Entry{insert(ok), other(duplicate)}, tables: empty},
			true,
		},
		{
			"commit fails, rows left", inTransaction,
			played{entries: []Entry{insert(duplicate), other(ok)}, before: empty, tables: filled},
			played{entries: []Entry{insert(ok), other(duplicate)}, tables: filled},
			false,
		},
		{
			"commit fails without cause", inTransaction,
			played{entries: []Entry{insert(ok), other(ok)}, before: empty, tables: filled},
			played{entries: []Entry{insert(ok), other(duplicate)}, tables: empty},
			false,
		},
	}
	for _, c := range cases {
		differences := compare(script, c.variant, c.direct, c.proxied)
		require.Equal(t, c.same, len(differences) == 0, "%s: %q", c.name, differences)
	}
}

// TestParseScript covers the notation.
func TestParseScript(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a\xd5\x5c'ccc<>", string(expand("a<D5 5C>'<63 x3><>")))
	script, err := Parse("x", "CREATE TABLE t (a INT)\n# body\n# ordinary INSERT INTO t VALUES ($i)\n"+
		"# repeat 2 INSERT INTO t VALUES ($i)\n# conn b\n")
	require.NoError(t, err)
	require.Len(t, script.Setup, 1)
	require.Len(t, script.Body, 3)
	require.Len(t, script.Variants(), 7)
	steps := script.steps(Variant{Mode: InBegin, Wrapped: true})
	require.Len(t, steps, 1+50+3+1+50+1)
	require.Equal(t, "COMMIT", steps[len(steps)-1].args)
	for _, bad := range []string{"", "# nonsense x\n", "# repeat x y\n", "# stored SELECT 1\nSELECT 1\n"} {
		_, err := Parse("x", bad)
		require.Error(t, err, "%q", bad)
	}
}
