package rewrite

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableNames(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1":        "[] true",
		"SELECT a FROM t": "[{d t}] true",
		"SELECT a FROM x.t, `u v` JOIN w USING (a) WHERE b IN (SELECT c FROM z)": "[{x t} {d u v} {d w} {d z}] true",
		"WITH c AS (SELECT 1 FROM t) SELECT * FROM c":                            "[{d c} {d t}] true",
		"SELECT 1 FROM t UNION SELECT 2 FROM u":                                  "[{d t} {d u}] true",
		"UPDATE t JOIN u ON t.a=u.a SET t.b=1":                                   "[{d t} {d u}] true",
		"DELETE t FROM t JOIN u USING (a)":                                       "[{d t} {d u}] true",
		"INSERT INTO t (a) SELECT b FROM u":                                      "[{d t} {d u}] true",
		"REPLACE INTO x.t (a) VALUES ((SELECT MAX(b) FROM u))":                   "[{x t} {d u}] true",
		"TRUNCATE TABLE t":                                                       "[{d t}] true",
		"DROP TABLE t, u":                                                        "[{d t} {d u}] true",
		"SELECT LAST_INSERT_ID(), NOW(6), COUNT(*) FROM t":                       "[{d t}] true",
		"SELECT /* FROM u */ 'FROM v' FROM t -- FROM w":                          "[{d t}] true",
		"SELECT f(1) FROM t":                                                     "[{d t}] false",
		"SELECT x.f(1) FROM t":                                                   "[{d t}] false",
		"SELECT NOW () FROM t":                                                   "[] false",
		"INSERT INTO t (a) VALUES (NOW ())":                                      "[] false",
		"SELECT 1 FROM information_schema.tables":                                "[{information_schema tables}] false",
		"CALL p()":                "[] false",
		"SHOW TABLES":             "[] false",
		"SELECT 1; SELECT 2":      "[] false",
		"/*! SELECT 1 */":         "[] false",
		"ALTER TABLE t ADD a INT": "[] false",
		"nonsense":                "[] false",
		"SELECT 'a":               "[] false",
	} {
		names, complete := TableNames([]byte(text), plainLex(), "d")
		slices.SortFunc(names, func(a, b TableName) int { return cmp.Compare(a.Table, b.Table) })
		require.Equal(t, want, fmt.Sprint(names, complete), "%s", text)
	}
	_, complete := TableNames([]byte("SELECT a FROM t"), plainLex(), "")
	require.False(t, complete)
}
