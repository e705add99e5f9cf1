package rewrite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFieldCases are the public bug reports on the reading of inserts, by
// their number in the list of field cases: what is cut where, or that the
// statement is left alone. What a value is worth is for the tests against
// servers.
func TestFieldCases(t *testing.T) {
	gbk, big5, sjis, raw := plainLex(), plainLex(), plainLex(), plainLex()
	gbk.Charset, big5.Charset, sjis.Charset, raw.NoBackslashEscapes = "gbk", "big5", "sjis", true
	refuse := func(why Reason) []string { return []string{"! " + string(why)} }
	for _, c := range []struct {
		id   string
		lex  *Lex
		text string
		want []string
	}{
		{"F001", nil, "INSERT INTO k SET u=7, n=1 ON DUPLICATE KEY UPDATE n=n+1", []string{"INSERT INTO k SET", "u", "n", "int 7, int 1", "ON DUPLICATE KEY UPDATE n=n+1"}},
		{"F002", nil, "INSERT INTO t_o SET order_no = 1, user_no = 1; ", []string{"INSERT INTO t_o SET", "order_no", "user_no", "int 1, int 1", ""}},
		{"F002", nil, "INSERT INTO t_o SET order_no = user_no + 1, user_no = 4", refuse(ReasonIdentifier)},
		{"F004", nil, "insert into VALUES_a_VALUE_b (value, c_VALUES_d) values (1,1)", []string{"insert into VALUES_a_VALUE_b (value, c_VALUES_d) values", "int 1, int 1", ""}},
		{"F004", nil, "INSERT INTO daily_values(x) VALUES (1)", []string{"INSERT INTO daily_values(x) VALUES", "int 1", ""}},
		{"F004", nil, "INSERT INTO `values` VALUES (1)", []string{"INSERT INTO `values` VALUES", "int 1", ""}},
		{"F005", nil, "INSERT INTO p (selection, preselect_id) VALUES (1, 1)", []string{"INSERT INTO p (selection, preselect_id) VALUES", "int 1, int 1", ""}},
		{"F005", nil, "INSERT INTO p SELECT 1,2", refuse(ReasonNotInsert)},
		{"F007", nil, "INSERT INTO t (d,i) VALUES (RAND(10), 1)", refuse(ReasonFunction)},
		{"F007", nil, "INSERT INTO t (d,i) VALUES (ROUND((1+2)*3, 0), 2)", []string{"INSERT INTO t (d,i) VALUES", "expr ROUND((1+2)*3, 0), int 2", ""}},
		{"F007", nil, "INSERT INTO t (d,i) VALUES (CONCAT('a)','(b'), 3)", []string{"INSERT INTO t (d,i) VALUES", "expr CONCAT('a)','(b'), int 3", ""}},
		{"F008", nil, "INSERT INTO t VALUES (NULL, 0, 0) /* note (?) */ ON DUPLICATE KEY UPDATE id = -id", []string{"INSERT INTO t VALUES", "null NULL, int 0, int 0", "ON DUPLICATE KEY UPDATE id = -id"}},
		{"F009", nil, "INSERT INTO t VALUES (1, 2, /*/ 'hidden', */ 'seen')", []string{"INSERT INTO t VALUES", "int 1, int 2, string 'seen'", ""}},
		{"F009", nil, "INSERT INTO t VALUES (1,2, /**/ CONCAT('a','b')) /*ON DUPLICATE KEY UPDATE t=1*/", []string{"INSERT INTO t VALUES", "int 1, int 2, expr CONCAT('a','b')", ""}},
		{"F010", nil, "INSERT INTO t VALUES ('B',2) ON/*x*/DUPLICATE -- y\n KEY # z\n UPDATE ct=ct+1", []string{"INSERT INTO t VALUES", "string 'B', int 2", "ON/*x*/DUPLICATE -- y\n KEY # z\n UPDATE ct=ct+1"}},
		{"F010", nil, "INSERT INTO t VALUES ('B',2) /*! ON DUPLICATE */ KEY /*!UPDATE*/ ct=ct+1", refuse(ReasonExecutable)},
		{"F010", nil, "INSERT INTO t VALUES ('D', 'ON DUPLICATE KEY UPDATE')", []string{"INSERT INTO t VALUES", "string 'D', string 'ON DUPLICATE KEY UPDATE'", ""}},
		{"F010", nil, "INSERT INTO t VALUES ('D',4) -- ON DUPLICATE KEY UPDATE", []string{"INSERT INTO t VALUES", "string 'D', int 4", ""}},
		{"F011", nil, "INSERT INTO t (id,s) VALUES (1,'x')ON DUPLICATE KEY UPDATE s='y'", []string{"INSERT INTO t (id,s) VALUES", "int 1, string 'x'", "ON DUPLICATE KEY UPDATE s='y'"}},
		{"F013", nil, "INSERT INTO u(name,age) VALUES ('m',35) ON DUPLICATE KEY UPDATE age=36", []string{"INSERT INTO u(name,age) VALUES", "string 'm', int 35", "ON DUPLICATE KEY UPDATE age=36"}},
		{"F014", nil, "INSERT INTO t(id,d) VALUES (1,'My') AS new ON DUPLICATE KEY UPDATE t.d=CONCAT(t.d,new.d)", refuse(ReasonRowAlias)},
		{"F016", nil, "INSERT INTO t VALUES (5),(a+6)", refuse(ReasonIdentifier)},
		{"F016", nil, "INSERT INTO t2(a,b) VALUES (1, a*2)", refuse(ReasonIdentifier)},
		{"F017", nil, "INSERT INTO dst(n) VALUES ((SELECT COUNT(*) FROM src))", refuse(ReasonSubquery)},
		{"F018", nil, "INSERT INTO ev(at,k,n) VALUES (NOW(6), UUID(), @n:=@n+1)", refuse("NOW(6): finer than a second")},
		{"F018", nil, "INSERT INTO ev(n) VALUES (@n:=@n+1)", refuse(ReasonIdentifier)},
		{"F018", nil, "INSERT INTO child(pid) VALUES (LAST_INSERT_ID())", refuse(ReasonFunction)},
		{"F019", nil, "INSERT INTO t PARTITION (p0) (id) VALUES (5)", refuse(ReasonPartition)},
		{"F020", nil, "INSERT HIGH_PRIORITY IGNORE t VALUES(1)", refuse(ReasonModifier)},
		{"F020", nil, "INSERT DELAYED INTO t VALUES(2)", refuse(ReasonModifier)},
		{"F020", nil, "REPLACE LOW_PRIORITY t VALUES (3)", refuse(ReasonModifier)},
		{"F020", nil, "INSERT INTO t VALUES ROW(4),ROW(5)", refuse(ReasonRowConstructor)},
		{"F020", nil, "INSERT INTO t TABLE s", refuse(ReasonNotInsert)},
		{"F020", nil, "INSERT INTO t() VALUES()", refuse(ReasonNotInsert)},
		{"F020", nil, "INSERT INTO t VALUES (),()", refuse(ReasonEmptyRow)},
		{"F022", nil, "INSERT INTO t(id,a,b) VALUES (2,20,DEFAULT)", []string{"INSERT INTO t(id,a,b) VALUES", "int 2, int 20, default DEFAULT", ""}},
		{"F023", nil, "INSERT INTO t VALUES (1,'b' 'a'\n'c')", []string{"INSERT INTO t VALUES", "int 1, introduced 'b' 'a'\n'c'", ""}},
		{"F023", nil, "INSERT INTO t VALUES (2, _utf8mb4'x' 'y'), (3,'it' '''s')", []string{"INSERT INTO t VALUES", "int 2, introduced _utf8mb4'x' 'y' / int 3, introduced 'it' '''s'", ""}},
		{"F025", nil, "INSERT INTO t VALUES (_latin1 x'e9')", []string{"INSERT INTO t VALUES", "introduced _latin1 x'e9'", ""}},
		{"F026", nil, "INSERT INTO t VALUES (0x6730,0x7830,0x41,0x41,b'1010')", []string{"INSERT INTO t VALUES", "hex 0x6730, hex 0x7830, hex 0x41, hex 0x41, bit b'1010'", ""}},
		{"F028", nil, `INSERT INTO t VALUES('\\\'',5);INSERT INTO t VALUES('''',6)`, refuse(ReasonMulti)},
		{"F028", nil, `INSERT INTO t VALUES('\\\'',5),('''',6)`, []string{"INSERT INTO t VALUES", `string '\\\'', int 5 / string '''', int 6`, ""}},
		{"F029", raw, `INSERT INTO t VALUES (1,'C:\')`, []string{"INSERT INTO t VALUES", `int 1, string 'C:\'`, ""}},
		{"F029", raw, `INSERT INTO t VALUES (3,'x\'';y')`, []string{"INSERT INTO t VALUES", `int 3, string 'x\'';y'`, ""}},
		{"F029", nil, `INSERT INTO t VALUES (1,'C:\')`, refuse(ReasonUnclosed)},
		{"F031", nil, "INSERT INTO t VALUES(9); -- end", refuse(ReasonMulti)},
		{"F032", nil, "INSERT INTO b VALUES (1, _binary';\\'\\\\\x00\x1a-- /*')", []string{"INSERT INTO b VALUES", "int 1, binary _binary';\\'\\\\\x00\x1a-- /*'", ""}},
		{"F032", nil, "INSERT /* a; b */ INTO b VALUES (2,';')", []string{"INSERT /* a; b */ INTO b VALUES", "int 2, string ';'", ""}},
		{"F033", sjis, "INSERT INTO t VALUES (2,'\x83\\\x95\\'),(3,'\\\\')", []string{"INSERT INTO t VALUES", "int 2, string '\x83\\\x95\\' / int 3, string '\\\\'", ""}},
		{"F034", gbk, "INSERT INTO t VALUES (1,'\xD5\\'),(2,'x'),(3,'\xBF\\')", []string{"INSERT INTO t VALUES", "int 1, string '\xD5\\' / int 2, string 'x' / int 3, string '\xBF\\'", ""}},
		{"F034", big5, "INSERT INTO t VALUES ('\xA5\\')", []string{"INSERT INTO t VALUES", "string '\xA5\\'", ""}},
		{"F034", nil, "INSERT INTO t VALUES (1,'\xD5\\'),(2,'x'),(3,'\xBF\\')", refuse(ReasonSyntax)},
		{"F035", gbk, "INSERT INTO t VALUES ('\xE5\x95\x8A')", []string{"INSERT INTO t VALUES", "string '\xE5\x95\x8A'", ""}},
		{"F037", nil, "INSERT INTO t /* ? */ (`a?`) VALUES (?) -- ?\n", refuse(ReasonPlaceholder)},
		{"F038", nil, "INSERT INTO t VALUES (5--1)", []string{"INSERT INTO t VALUES", "expr 5--1", ""}},
		{"F038", nil, "INSERT INTO t VALUES (6--\t1\n)", []string{"INSERT INTO t VALUES", "int 6", ""}},
		{"F038", nil, "INSERT INTO t VALUES (7-- 1)\n)", []string{"INSERT INTO t VALUES", "int 7", ""}},
		{"F038", nil, "INSERT INTO t VALUES (8#)\n+1)", []string{"INSERT INTO t VALUES", "expr 8#)\n+1", ""}},
		{"F038", nil, "INSERT INTO t VALUES (9/**/)", []string{"INSERT INTO t VALUES", "int 9", ""}},
		{"F041", nil, "INSERT INTO t VALUES (_binary'{}')", []string{"INSERT INTO t VALUES", "binary _binary'{}'", ""}},
		{"F044", nil, "INSERT INTO t VALUES (.1,5e3,+1,-1,     77.7777,'5e','1+','.','+')", []string{"INSERT INTO t VALUES", "decimal .1, float 5e3, int +1, int -1, decimal 77.7777, string '5e', string '1+', string '.', string '+'", ""}},
	} {
		lex := c.lex
		if lex == nil {
			lex = plainLex()
		}
		require.Equal(t, c.want, cut(c.text, lex), "%s: %s", c.id, c.text)
	}

	_, why := formOf(t, "INSERT INTO t (id,s) VALUES (1,'x')ON DUPLICATE KEY UPDATE id=LAST_INSERT_ID(id)+10", plainLex())
	require.Equal(t, ReasonFunction, why, "F011")
	for text, kind := range map[string]StatementKind{ // F031, F040: unsure is other
		"SET sql_mode='ANSI_QUOTES'; INSERT INTO \"t\" VALUES (1)": StmtMulti,
		"SELECT 1;;SELECT 2":    StmtMulti,
		"/*+ tag */ USE b":      StmtOther,
		"/*! USE a */":          StmtOther,
		"SET\n#n\nsql_mode=''":  StmtSet,
		"-- x\nSET sql_mode=''": StmtSet,
	} {
		require.Equal(t, kind, Classify([]byte(text), plainLex()).Kind, "%s", text)
	}
}
