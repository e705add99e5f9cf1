package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func plainLex() *Lex { return &Lex{Dialect: MariaDB, Version: 101119, Charset: "utf8mb4"} }

func mysqlLex() *Lex { return &Lex{Dialect: MySQL, Version: 90704, Charset: "utf8mb4"} }

var kindNames = [...]string{"null", "default", "int", "decimal", "float", "string", "introduced", "binary", "hex", "bit", "bool", "temporal", "now", "expr", "unsafe"}

// describe writes rows as text: each value with its kind.
func describe(text []byte, rows *Rows) string {
	var b strings.Builder
	for i := range rows.Len() {
		if i > 0 {
			b.WriteString(" / ")
		}
		for j, v := range rows.Row(i) {
			if j > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s %s", kindNames[v.Kind], text[v.Start:v.End])
		}
	}
	return b.String()
}

// scanned is what ScanRows makes of text: the rows described and what is left,
// or the reason.
func scanned(text string, lex *Lex) string {
	var rows Rows
	end, why := ScanRows(&rows, []byte(text), 0, lex)
	if why != "" {
		return "! " + string(why)
	}
	out := describe([]byte(text), &rows)
	if end < len(text) {
		out += " | " + text[end:]
	}
	return out
}

func TestScanRows(t *testing.T) {
	refuse := func(why Reason) string { return "! " + string(why) }
	for _, c := range []struct{ text, want string }{
		// Literals.
		{`(1,'a',NULL)`, `int 1, string 'a', null NULL`},
		{`( 1 , 'a' ,null )`, `int 1, string 'a', null null`},
		{` /* x */ (1)`, `int 1`},
		{`(1),(2) , (3)ON`, `int 1 / int 2 / int 3 | ON`},
		{`(1) `, `int 1 |  `},
		{`(-1,+1,- 1,-/**/1)`, `int -1, int +1, expr - 1, expr -/**/1`},
		{`(.1,1.,1.5,-.5,5e3,1e+3,1.5E-2,+.5e1)`, `decimal .1, decimal 1., decimal 1.5, decimal -.5, float 5e3, float 1e+3, float 1.5E-2, float +.5e1`},
		{`(0x41,x'41',X'',0b1,b'01',B'',0xA)`, `hex 0x41, hex x'41', hex X'', bit 0b1, bit b'01', bit B'', hex 0xA`},
		{`(TRUE,false,default)`, `bool TRUE, bool false, default default`},
		{`(DATE'2020-01-01',timestamp '2020-01-01 00:00:00',date "2020-01-01")`, `temporal DATE'2020-01-01', temporal timestamp '2020-01-01 00:00:00', temporal date "2020-01-01"`},
		{`('it''s','a\'b','\\',"x""y",'')`, `string 'it''s', string 'a\'b', string '\\', string "x""y", string ''`},
		{`(_utf8mb4'x',_binary 'y',N'z',n'z',_latin1 x'e9',_latin1 0xE9)`, `introduced _utf8mb4'x', binary _binary 'y', introduced N'z', introduced n'z', introduced _latin1 x'e9', introduced _latin1 0xE9`},
		{"(5-- 1)\n)", `int 5`},
		{"('a' -- x\n,1)", `string 'a', int 1`},
		// Expressions.
		{`(5--1)`, `expr 5--1`},
		{`(1+2*3,(1),((1+2)*3),1 div 2,'a'||'b')`, `expr 1+2*3, expr (1), expr ((1+2)*3), expr 1 div 2, expr 'a'||'b'`},
		{`(CONCAT('a)','(b'),upper( 'x' ))`, `expr CONCAT('a)','(b'), expr upper( 'x' )`},
		{`(CAST('1' AS UNSIGNED),convert('x',char(10)),CONVERT('x' USING utf8mb4),CAST(1 AS DECIMAL(10, 2)))`, `expr CAST('1' AS UNSIGNED), expr convert('x',char(10)), expr CONVERT('x' USING utf8mb4), expr CAST(1 AS DECIMAL(10, 2))`},
		{`(STR_TO_DATE('1','%d'),FROM_UNIXTIME(1),INET6_ATON('::1'))`, `expr STR_TO_DATE('1','%d'), expr FROM_UNIXTIME(1), expr INET6_ATON('::1')`},
		{`(NOW(),now(0),CURRENT_TIMESTAMP,CURRENT_TIMESTAMP(),LOCALTIME,localtimestamp(),CURDATE(),UTC_DATE,UNIX_TIMESTAMP())`, `now NOW(), now now(0), now CURRENT_TIMESTAMP, now CURRENT_TIMESTAMP(), now LOCALTIME, now localtimestamp(), now CURDATE(), now UTC_DATE, now UNIX_TIMESTAMP()`},
		// Refused.
		{``, refuse(ReasonNoRows)},
		{`SELECT 1`, refuse(ReasonNoRows)},
		{`ROW(1)`, refuse(ReasonRowConstructor)},
		{`()`, refuse(ReasonEmptyRow)},
		{`(1),()`, refuse(ReasonEmptyRow)},
		{`(1,2),(3)`, refuse(ReasonWidth)},
		{`(1),`, refuse(ReasonSyntax)},
		{`(1`, refuse(ReasonSyntax)},
		{`(1,)`, refuse(ReasonSyntax)},
		{`('a`, refuse(ReasonUnclosed)},
		{`('a\'`, refuse(ReasonUnclosed)},
		{`('a\`, refuse(ReasonUnclosed)},
		{`(1 /* )`, refuse(ReasonUnclosed)},
		{`(1,/*/ 2)`, refuse(ReasonUnclosed)},
		{`(?)`, refuse(ReasonPlaceholder)},
		{`(a)`, refuse(ReasonIdentifier)},
		{"(`a`)", refuse(ReasonIdentifier)},
		{`(@a)`, refuse(ReasonIdentifier)},
		{`(@@x)`, refuse(ReasonIdentifier)},
		{`(a.b)`, refuse(ReasonQualified)},
		{`((SELECT 1))`, refuse(ReasonSubquery)},
		{`(1 /*! +1 */)`, refuse(ReasonExecutable)},
		{`(1 /*M! +1 */)`, refuse(ReasonExecutable)},
		{`(1 /*+ x */)`, refuse(ReasonExecutable)},
		{"(1\x00)", refuse(ReasonNul)},
		{"(1 -- \x00\n)", refuse(ReasonNul)},
		{"(1\xa0)", refuse(ReasonForeignBytes)},
		{"(5--\xa0\n)", refuse(ReasonForeignBytes)},
		{`(1abc)`, refuse(ReasonIdentifier)},
		{`(0X41)`, refuse(ReasonIdentifier)},
		{`(0xZZ)`, refuse(ReasonIdentifier)},
		{`(1e)`, refuse(ReasonIdentifier)},
		{`(x'4')`, refuse(ReasonSyntax)},
		{`(1.5e)`, refuse(ReasonSyntax)},
		{`(1 2)`, refuse(ReasonSyntax)},
		{`(1.5.6)`, refuse(ReasonSyntax)},
		{`(1e5abc)`, refuse(ReasonSyntax)},
		{`('a' COLLATE utf8mb4_bin)`, refuse(ReasonSyntax)},
		{`(\N)`, refuse(ReasonSyntax)},
		{`(_nosuch'a')`, refuse(ReasonIdentifier)},
		{`(TIME'10:00:00')`, refuse(ReasonTimeOfDay)},
		{`(STR_TO_DATE('1','%H'))`, refuse(ReasonTimeOfDay)},
		{`(NOW(6))`, "! NOW(6): finer than a second"},
		{`(CURRENT_TIMESTAMP(3))`, "! NOW(3): finer than a second"},
		{`(NOW()+1)`, refuse(ReasonNowInside)},
		{`(CONCAT(NOW()))`, refuse(ReasonNowInside)},
		{`(NOW ())`, refuse(ReasonFunctionBlank)},
		{`(CONCAT ('a'))`, refuse(ReasonFunctionBlank)},
		{`(f(1))`, refuse(ReasonFunction)},
		{`(RAND(10))`, refuse(ReasonFunction)},
		{`(UUID())`, refuse(ReasonFunction)},
		{`(SYSDATE())`, refuse(ReasonFunction)},
		{`(LAST_INSERT_ID())`, refuse(ReasonFunction)},
		{`(VALUES(a))`, refuse(ReasonFunction)},
		{`(DEFAULT(a))`, refuse(ReasonFunction)},
		{`(ABS(1,2))`, refuse(ReasonArguments)},
		{`(ROUND())`, refuse(ReasonArguments)},
		{`(UUID_TO_BIN('x'))`, refuse(ReasonFunction)}, // MariaDB: could be a stored function
		{`(` + strings.Repeat("(", 100) + `1`, refuse(ReasonDeep)},
		{`(` + strings.Repeat("- ", 100) + `1`, refuse(ReasonDeep)},
	} {
		require.Equal(t, c.want, scanned(c.text, plainLex()), "%s", c.text)
	}
	require.Equal(t, `expr MD5('x'), expr POINT(1,2)`, scanned(`(MD5('x'),POINT(1,2))`, plainLex()))
	require.Equal(t, "! "+string(ReasonArguments), scanned(`(POINT(1))`, plainLex()))
	require.Equal(t, "! "+string(ReasonFunction), scanned(`(MD5('x'))`, mysqlLex()))
	require.Equal(t, `expr UUID_TO_BIN('x')`, scanned(`(UUID_TO_BIN('x'))`, mysqlLex()))
}

func TestScanRowsModes(t *testing.T) {
	raw := plainLex()
	raw.NoBackslashEscapes = true
	require.Equal(t, `int 1, string 'C:\' / int 2, string 'x\'';y'`, scanned(`(1,'C:\'),(2,'x\'';y')`, raw))
	require.Equal(t, `string "\"`, scanned(`("\")`, raw))
	ansi := plainLex()
	ansi.ANSIQuotes = true
	require.Equal(t, "! "+string(ReasonIdentifier), scanned(`("a")`, ansi))
	require.Equal(t, "! "+string(ReasonIdentifier), scanned(`(DATE"2020-01-01")`, ansi))
	unknown := plainLex()
	unknown.Charset = "swe7"
	require.Equal(t, "! "+string(ReasonCharset), scanned(`(1)`, unknown))
}

func TestScanRowsCharsets(t *testing.T) {
	lex := func(charset string) *Lex {
		l := plainLex()
		l.Charset = charset
		return l
	}
	three := "(1,'\xD5\\'),(2,'x'),(3,'\xBF\\')"
	for _, charset := range []string{"gbk", "gb18030"} {
		require.Equal(t, "int 1, string '\xD5\\' / int 2, string 'x' / int 3, string '\xBF\\'", scanned(three, lex(charset)), charset)
	}
	require.Equal(t, "string '\xA5\\'", scanned("('\xA5\\')", lex("big5")))
	for _, charset := range []string{"sjis", "cp932"} {
		require.Equal(t, "string '\x83\\\x95\\' / string '\\\\'", scanned("('\x83\\\x95\\'),('\\\\')", lex(charset)), charset)
		require.Equal(t, "! "+string(ReasonUnclosed), scanned("('\xA5\\')", lex(charset)), charset) // half-width katakana, then an escape
	}
	for _, charset := range []string{"utf8mb4", "latin1", "euckr", "ujis"} {
		require.Equal(t, "! "+string(ReasonUnclosed), scanned("('\xD5\\')", lex(charset)), charset)
	}
	// A backslash hides one byte, not one character.
	require.Equal(t, "! "+string(ReasonUnclosed), scanned("('\\\xD5\\')", lex("gbk")))
	require.Equal(t, "string '\x81\x30\x81\x30'", scanned("('\x81\x30\x81\x30')", lex("gb18030")))
}

// TestStringLengths walks quotes and backslashes over every position of the
// eight bytes that are read at once.
func TestStringLengths(t *testing.T) {
	for n := range 40 {
		for _, special := range []string{``, `''`, `\'`, `\\`, `""`} {
			for at := 0; at <= n; at++ {
				literal := "'" + strings.Repeat("x", at) + special + strings.Repeat("y", n-at) + "'"
				require.Equal(t, "string "+literal, scanned("("+literal+")", plainLex()))
			}
		}
	}
}

func TestScanRowList(t *testing.T) {
	var rows Rows
	require.Empty(t, ScanRowList(&rows, []byte("(1),(2) /* x */ "), plainLex()))
	require.Equal(t, 2, rows.Len())
	require.Equal(t, ReasonSyntax, ScanRowList(&rows, []byte("(1) ON"), plainLex()))
}

func TestScanRowsDoesNotAllocate(t *testing.T) {
	sql := []byte(`('word',1.5,12345,6,'it''s',NULL,NOW(),CONCAT('a','b')) , ('x',-2,0,0,'',NULL,NOW(),UPPER('c'))`)
	var rows Rows
	lex := plainLex()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, why := ScanRows(&rows, sql, 0, lex); why != "" {
			t.Fatal(why)
		}
	}))
}

// TestS02 holds the rule that no stored function is ever called with the
// rights of the service account.
func TestS02(t *testing.T) {
	for _, lex := range []*Lex{plainLex(), mysqlLex(), {Dialect: MySQL, Charset: "utf8mb4", IgnoreSpace: true}} {
		for _, call := range []string{
			"f()", "f(1)", "d.f(1)", "d . f(1)", "`f`(1)", "`concat`('a')", "d.concat('a')", "CONCAT ('a')", "CONCAT/**/('a')",
			"NOW ()", "UPPER(f(1))", "1+f(1)", "(f(1))", "CAST(f(1) AS CHAR)", "f", "é(1)", "MD5X('a')", "md5_('a')",
		} {
			require.Contains(t, scanned("("+call+")", lex), "! ", "%s", call)
			if _, why := formOfTail("a="+call, lex); why == "" && call != "f" {
				t.Errorf("ON DUPLICATE KEY UPDATE a=%s is accepted", call)
			}
		}
	}
}
