package rewrite

import (
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/stretchr/testify/require"
)

// modes turns three bits into the modes that change how text is read, and the
// rest into a character set.
func modes(bits byte) *Lex {
	lex := plainLex()
	charsets := [...]string{"utf8mb4", "gbk", "big5", "sjis", "gb18030", "latin1"}
	lex.Charset = charsets[int(bits>>3)%len(charsets)]
	lex.NoBackslashEscapes = bits&1 != 0
	lex.ANSIQuotes = bits&2 != 0
	lex.PipesAsConcat = bits&4 != 0
	return lex
}

// reference parses a text with the TiDB parser as it is, without plainText.
func reference(text string, lex *Lex) ([]ast.StmtNode, error) {
	p := parser.New()
	var mode mysql.SQLMode
	if lex.NoBackslashEscapes {
		mode |= mysql.ModeNoBackslashEscapes
	}
	if lex.ANSIQuotes {
		mode |= mysql.ModeANSIQuotes
	}
	if lex.PipesAsConcat {
		mode |= mysql.ModePipesAsConcat
	}
	p.SetSQLMode(mode)
	stmts, _, err := p.ParseSQL(text)
	return stmts, err
}

// referenceRows gives the values of an INSERT as the TiDB parser reads them.
func referenceRows(text string, lex *Lex) ([][]string, error) {
	stmts, err := reference(text, lex)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, list := range stmts[0].(*ast.InsertStmt).Lists {
		var row []string
		for _, e := range list {
			var b strings.Builder
			if err := e.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags|format.RestoreStringEscapeBackslash, &b)); err != nil {
				return nil, err
			}
			row = append(row, b.String())
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// outsideReference reports whether a text has something that the TiDB parser
// reads differently from MySQL and MariaDB, as tried against both: comments
// that are code to it, control bytes after two dashes, blanks it does not
// know, invalid UTF-8, introducers and conversions of sets it lacks.
func outsideReference(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c >= 0x80 || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7F {
			return true
		}
	}
	return strings.Contains(text, "/*") || strings.ContainsAny(text, "_#") || strings.Contains(text, "--")
}

// compareRows requires that the TiDB parser sees the rows and values that
// ScanRows saw in rows, a text that ScanRows accepted up to its end.
func compareRows(t *testing.T, text string, rows *Rows, lex *Lex) {
	t.Helper()
	const head = "INSERT INTO t VALUES "
	want, err := referenceRows(head+text, lex)
	if err != nil {
		if outsideReference(text) {
			return
		}
		t.Fatalf("accepted %q, but the reference says %v", text, err)
	}
	require.Len(t, want, rows.Len(), "%q", text)
	for i := range rows.Len() {
		require.Len(t, want[i], rows.Width, "%q", text)
		for j, v := range rows.Row(i) {
			alone, err := referenceRows(head+"("+text[v.Start:v.End]+")", lex)
			require.NoError(t, err, "value %q of %q", text[v.Start:v.End], text)
			require.Equal(t, [][]string{{want[i][j]}}, alone, "value %q of %q", text[v.Start:v.End], text)
		}
	}
}

var rowSeeds = []string{
	`(1,'a',NULL)`, `('it''s','a\'b',"x""y"), (2,-3,+4.5)`, `(1,/*/ 'hidden', */ 'seen')`, `('b' 'a'` + "\n" + `'c')`,
	`(_utf8mb4'x' 'y',N'z')`, `('it' '''s')`, `(0x41,x'41',b'01',0b1,.1,5e3,1e+3,1.)`, `(5--1)`, "(6--\t1\n)", "(7-- 1)\n)", "(8#)\n+1)",
	`(ROUND((1+2)*3, 0), CONCAT('a)','(b'))`, `(NOW(),CURRENT_TIMESTAMP,DATE'2020-01-01',TRUE,DEFAULT)`,
	`(CAST('1' AS DECIMAL(10,2)),CONVERT('a' USING utf8mb4),1 DIV 2 MOD 3)`, `('C:\'),('x\'';y')`, `('a'||'b'&&1)`, `("\")`,
}

func TestScanRowsAgainstTiDB(t *testing.T) {
	for _, text := range rowSeeds {
		for bits := range byte(8) {
			checkRows(t, text, bits)
		}
	}
}

func checkRows(t *testing.T, text string, bits byte) {
	lex := modes(bits)
	var rows Rows
	end, why := ScanRows(&rows, []byte(text), 0, lex)
	if why != "" {
		return
	}
	require.Equal(t, rows.Len()*rows.Width, len(rows.Values))
	require.Equal(t, end, rows.Spans[len(rows.Spans)-1].End)
	require.Zero(t, rows.Kinds>>Unsafe)
	for _, v := range rows.Values {
		var alone Rows
		require.Empty(t, ScanRowList(&alone, []byte("("+text[v.Start:v.End]+")"), lex), "%q", text)
		require.Equal(t, Value{Span{1, v.End - v.Start + 1}, v.Kind}, alone.Values[0], "%q", text)
	}
	if lex.Charset == "utf8mb4" {
		compareRows(t, text[:end], &rows, lex)
	}
}

func FuzzScanRows(f *testing.F) {
	for i, text := range rowSeeds {
		f.Add(text, byte(i))
	}
	f.Add("('\xD5\\'),('x')", byte(1<<3))
	f.Fuzz(func(t *testing.T, text string, bits byte) { checkRows(t, text, bits) })
}
