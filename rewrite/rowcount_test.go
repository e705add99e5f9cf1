package rewrite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplaceRowCount(t *testing.T) {
	lex := &Lex{Charset: "utf8mb4"}
	for in, want := range map[string]string{
		"SELECT ROW_COUNT()":                                  "SELECT 3 AS `ROW_COUNT()`",
		"select row_count ( ) ;":                              "select 3 AS `row_count ( )` ;",
		"SELECT 1, ROW_COUNT(), 2":                            "SELECT 1, 3 AS `ROW_COUNT()`, 2",
		"SELECT ROW_COUNT() AS n":                             "SELECT 3 AS n",
		"SELECT id FROM t WHERE ROW_COUNT()=1 AND id=2":       "SELECT id FROM t WHERE 3=1 AND id=2",
		"SET @n=ROW_COUNT()":                                  "SET @n=3",
		"SELECT ROW_COUNT()+1 FROM t":                         "SELECT 3+1 FROM t",
		"INSERT INTO log VALUES ('ROW_COUNT()', ROW_COUNT())": "INSERT INTO log VALUES ('ROW_COUNT()', 3)",
		"INSERT INTO log VALUES (1,ROW_COUNT(),2)":            "INSERT INTO log VALUES (1,3,2)",
		"SELECT (SELECT ROW_COUNT())":                         "SELECT (SELECT 3)",
		"SELECT 'ROW_COUNT()'":                                "",
		"SELECT row_count FROM t":                             "",
		"SELECT ROW_COUNT('x":                                 "",
	} {
		out, ok := ReplaceRowCount([]byte(in), lex, 3)
		require.Equal(t, want != "", ok, in)
		require.Equal(t, want, string(out), in)
	}
}
