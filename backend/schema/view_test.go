package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestViewTables(t *testing.T) {
	for _, c := range []struct {
		text string
		want []name
		ok   bool
	}{
		{"select `d`.`p`.`id` AS `id` from `d`.`p`", []name{{"d", "p"}}, true},
		{"select `h`.`id` AS `id` from `o`.`hid` `h` union select `v1`.`id` AS `id` from `d`.`v1`", []name{{"o", "hid"}, {"d", "v1"}}, true},
		{"select `a`.`x` AS `x` from (`d`.`a` left join `d`.`b` on(`d`.`a`.`x` = `d`.`b`.`x` and exists(select 1 from `o`.`c` `z` limit 1)))",
			[]name{{"d", "a"}, {"d", "b"}, {"o", "c"}}, true},
		{"with recursive n(`i`) as (select 1 AS `i` union all select `n`.`i` + 1 AS `i+1` from `n` where `n`.`i` < 3)select `n`.`i` AS `i` from (`n` join `d`.`c` on(`d`.`c`.`id` = `n`.`i`))",
			[]name{{"d", "c"}}, true},
		{"select concat(`d`.`p`.`a`,_utf8mb4'x') AS `x`,count(0) AS `n`,now() AS `t` from `d`.`p` group by 1", []name{{"d", "p"}}, true},
		{"select `f1`() AS `x`", nil, false},
		{"select `d`.`f1`() AS `x` from `d`.`p`", []name{{"d", "p"}}, false},
		{"select `id` from `unqualified`", nil, false},
		{"select gibberish from", nil, false},
		{"", nil, false},
	} {
		got, ok := viewTables(c.text)
		require.Equal(t, c.ok, ok, c.text)
		if ok {
			require.ElementsMatch(t, c.want, got, c.text)
		}
	}
}
