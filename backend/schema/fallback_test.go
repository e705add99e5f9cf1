package schema

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/rewrite"
)

func TestClassify(t *testing.T) {
	table := &rewrite.Table{Columns: []rewrite.Column{{Name: "n", Type: "int"}, {Name: "t", Type: "time"}}}
	for expr, want := range map[string]rewrite.DefaultKind{
		"NULL":                                 rewrite.DefaultLiteral,
		"-5":                                   rewrite.DefaultLiteral,
		"1.5e-10":                              rewrite.DefaultLiteral,
		"'it\\'s'":                             rewrite.DefaultLiteral,
		"'uuid()'":                             rewrite.DefaultLiteral,
		"_utf8mb4'x'":                          rewrite.DefaultLiteral,
		"b'101'":                               rewrite.DefaultLiteral,
		"('x')":                                rewrite.DefaultLiteral,
		"current_timestamp()":                  rewrite.DefaultNow,
		"CURRENT_TIMESTAMP":                    rewrite.DefaultNow,
		"now(0)":                               rewrite.DefaultNow,
		"now(6)":                               rewrite.DefaultNowFrac,
		"CURRENT_TIMESTAMP(3)":                 rewrite.DefaultNowFrac,
		"(now(6) + interval 1 day)":            rewrite.DefaultNowFrac,
		"(now() + interval 1 day)":             rewrite.DefaultNow,
		"now(`n`)":                             rewrite.DefaultNowFrac,
		"(`n` + 1)":                            rewrite.DefaultExpr,
		"(`t` + 1)":                            rewrite.DefaultNow,
		"`unknown`":                            rewrite.DefaultNow,
		"concat(_utf8mb4'a',`n`)":              rewrite.DefaultExpr,
		"convert(`n` using latin1)":            rewrite.DefaultExpr,
		"cast(`n` as char(5) charset utf8mb4)": rewrite.DefaultExpr,
		"(`n` collate utf8mb4_bin)":            rewrite.DefaultExpr,
		"uuid()":                               rewrite.DefaultUnsafe,
		"concat('a', uuid())":                  rewrite.DefaultUnsafe,
		"nextval(`d`.`s`)":                     rewrite.DefaultUnsafe,
		"`f`()":                                rewrite.DefaultUnsafe,
		"`d`.`f`(1)":                           rewrite.DefaultUnsafe,
		"current_user()":                       rewrite.DefaultUnsafe,
		"@@session.sql_mode":                   rewrite.DefaultUnsafe,
		"(@x + 1)":                             rewrite.DefaultUnsafe,
		"rand()":                               rewrite.DefaultUnsafe,
		"sysdate()":                            rewrite.DefaultUnsafe,
		"default(`n`)":                         rewrite.DefaultUnsafe,
		"uuid":                                 rewrite.DefaultUnsafe,
		"(case when `n` > 3 then 1 else 'x' end)": rewrite.DefaultExpr,
	} {
		require.Equal(t, want, classify(expr, table), expr)
	}
}

func TestFallbackVersions(t *testing.T) {
	c := &rewrite.Column{Type: "varchar", Nullable: true}
	table := &rewrite.Table{}
	// MariaDB before 10.2.7 prints constants without quotes.
	require.Equal(t, rewrite.DefaultUnsafe, fallback(rewrite.MariaDB, 100148, []byte("uuid()"), "", c, table))
	require.Equal(t, rewrite.DefaultNow, fallback(rewrite.MariaDB, 100148, []byte("CURRENT_TIMESTAMP"), "", c, table))
	require.Equal(t, rewrite.DefaultLiteral, fallback(rewrite.MySQL, 50744, []byte("uuid()"), "", c, table))
	require.Equal(t, rewrite.DefaultNow, fallback(rewrite.MySQL, 50744, []byte("CURRENT_TIMESTAMP"), "", c, table))
	require.Equal(t, rewrite.DefaultLiteral, fallback(rewrite.MySQL, 90704, []byte("uuid()"), "", c, table))
	require.Equal(t, rewrite.DefaultUnsafe, fallback(rewrite.MySQL, 90704, []byte("uuid()"), "DEFAULT_GENERATED", c, table))
}

func TestUnescape(t *testing.T) {
	require.Equal(t, `concat(_utf8mb4'it\'s \\ "x" \n',`+"`a`)", unescape(`concat(_utf8mb4\'it\\\'s \\\\ "x" \\n\',`+"`a`)"))
	require.Equal(t, "a\nb\\", unescape(`a\nb\`))
}

// FuzzClassify: a name that is not on a list never passes.
func FuzzClassify(f *testing.F) {
	f.Add("concat('a', `b`)")
	f.Add("now(0)")
	f.Add("case when a like 'x' escape '|' then 1 end")
	f.Fuzz(func(t *testing.T, expr string) {
		kind := classify(expr+" uuid ( )", &rewrite.Table{})
		for _, tok := range scan(expr + " uuid ( )") {
			if tok.is("uuid") && kind != rewrite.DefaultUnsafe && kind != rewrite.DefaultNowFrac {
				t.Errorf("%q is %d", expr, kind)
			}
		}
	})
}
