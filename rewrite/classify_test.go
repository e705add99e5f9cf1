package rewrite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClassify(t *testing.T) {
	harmless := func(k StatementKind) Class { return Class{Kind: k, Harmless: true} }
	kind := func(k StatementKind) Class { return Class{Kind: k} }
	worst := Class{Kind: StmtOther, Inspects: true}
	for text, want := range map[string]Class{
		"":                               harmless(StmtEmpty),
		" -- x\n/* y */":                 harmless(StmtEmpty),
		";":                              harmless(StmtEmpty),
		"INSERT INTO t VALUES (1)":       kind(StmtInsert),
		"/* x */ replace t VALUES (1);":  kind(StmtInsert),
		"UPDATE t SET a=1":               kind(StmtUpdate),
		"DELETE FROM t":                  kind(StmtDelete),
		"BEGIN":                          harmless(StmtBegin),
		"begin work;":                    harmless(StmtBegin),
		"BEGIN NOT ATOMIC SELECT 1; END": {Kind: StmtMulti, Inspects: true},
		"BEGIN NOT ATOMIC SELECT 1":      kind(StmtOther),
		"START TRANSACTION READ ONLY":    harmless(StmtBegin),
		"START SLAVE":                    kind(StmtOther),
		"COMMIT":                         harmless(StmtCommit),
		"COMMIT WORK AND CHAIN":          {Kind: StmtCommit, Chain: true, Harmless: true},
		"COMMIT AND NO CHAIN NO RELEASE": harmless(StmtCommit),
		"COMMIT RELEASE":                 {Kind: StmtCommit, Release: true},
		"ROLLBACK AND CHAIN;":            {Kind: StmtRollback, Chain: true, Harmless: true},
		"ROLLBACK AND NO CHAIN RELEASE":  {Kind: StmtRollback, Release: true},
		"ROLLBACK":                       harmless(StmtRollback),
		"ROLLBACK WORK TO SAVEPOINT x":   harmless(StmtRollbackTo),
		"ROLLBACK TO x":                  harmless(StmtRollbackTo),
		"COMMIT x":                       kind(StmtOther),
		"SAVEPOINT x":                    harmless(StmtSavepoint),
		"RELEASE SAVEPOINT x":            harmless(StmtRelease),
		"SET\n#n\nsql_mode=''":           kind(StmtSet),
		"SET STATEMENT a=1 FOR SELECT 1": kind(StmtOther),
		"USE d":                          kind(StmtUse),
		"SHOW TABLES":                    kind(StmtShow),
		"SHOW /*x*/ warnings":            {Kind: StmtShow, Inspects: true},
		"SHOW COUNT(*) ERRORS":           {Kind: StmtShow, Inspects: true},
		"DESC t":                         kind(StmtExplain),
		"CREATE TABLE t (a INT)":         kind(StmtDDL),
		"TRUNCATE t":                     kind(StmtDDL),
		"DROP TABLE t":                   kind(StmtDDL),
		"DROP PREPARE p":                 kind(StmtDeallocate),
		"LOAD DATA LOCAL INFILE 'x' INTO TABLE t": kind(StmtLoadData),
		"LOAD INDEX INTO CACHE t":                 kind(StmtOther),
		"LOCK TABLES t WRITE":                     kind(StmtLock),
		"UNLOCK TABLES":                           kind(StmtUnlock),
		"CALL p()":                                kind(StmtCall),
		"PREPARE p FROM 'SELECT 1'":               kind(StmtPrepare),
		"EXECUTE p":                               kind(StmtExecute),
		"DEALLOCATE PREPARE p":                    kind(StmtDeallocate),
		"KILL 1":                                  kind(StmtKill),
		"XA START 'x'":                            kind(StmtXa),
		"DO 1":                                    kind(StmtDo),
		"HANDLER t OPEN":                          kind(StmtHandler),
		"FLUSH TABLES":                            kind(StmtFlush),
		"GET DIAGNOSTICS @n = NUMBER":             {Kind: StmtOther, Inspects: true},
		"SELECT 1; SELECT 2":                      {Kind: StmtMulti, Inspects: true},
		"SELECT 1;;SELECT 2":                      {Kind: StmtMulti, Inspects: true},
		"SELECT 1; -- end":                        {Kind: StmtMulti, Inspects: true},
		"SELECT ';'; ;":                           harmless(StmtSelect),
		"/*!40101 SET NAMES utf8 */":              worst,
		"/*+ tag */ USE b":                        worst,
		"SELECT 'a":                               worst,
		"SELECT 1 \x00":                           worst,
		"garbage":                                 kind(StmtOther),
		"WITH x AS (SELECT 1) SELECT * FROM x":    kind(StmtOther),
		// SELECT
		"(SELECT 1) UNION (SELECT 2)":                      harmless(StmtSelect),
		"SELECT a, COUNT(*) FROM t WHERE b IN (1) AND (c)": harmless(StmtSelect),
		"SELECT @@version, DATABASE()":                     harmless(StmtSelect),
		"SELECT SUM(a) OVER (PARTITION BY b) FROM t":       harmless(StmtSelect),
		"SELECT a FROM t WHERE b = ?":                      harmless(StmtSelect),
		"SELECT LAST_INSERT_ID()":                          {Kind: StmtSelect, Harmless: true, Inspects: true},
		"SELECT last_insert_id( ) AS x FROM DUAL LIMIT 1":  {Kind: StmtSelect, Harmless: true, Inspects: true},
		"SELECT LAST_INSERT_ID(5)":                         {Kind: StmtSelect, Inspects: true},
		"SELECT ROW_COUNT()":                               {Kind: StmtSelect, Harmless: true, Inspects: true},
		"SELECT @@identity":                                {Kind: StmtSelect, Harmless: true, Inspects: true},
		"SELECT @@session . `warning_count`":               {Kind: StmtSelect, Harmless: true, Inspects: true},
		"SELECT identity FROM t":                           harmless(StmtSelect),
		"SELECT 1 INTO OUTFILE 'x'":                        kind(StmtSelect),
		"SELECT 1 INTO @x":                                 kind(StmtSelect),
		"SELECT @x:=1":                                     kind(StmtSelect),
		"SELECT a FROM t FOR UPDATE":                       kind(StmtSelect),
		"SELECT a FROM t LOCK IN SHARE MODE":               kind(StmtSelect),
		"SELECT POINT(1)":                                  kind(StmtSelect), // MariaDB: a stored function
		"SELECT f(1)":                                      kind(StmtSelect),
		"SELECT d.count(1)":                                kind(StmtSelect),
		"SELECT NOW ()":                                    kind(StmtSelect),
		"SELECT `count`(1)":                                kind(StmtSelect),
		"SELECT GET_LOCK('a',1)":                           kind(StmtSelect),
		"SELECT NEXTVAL(s)":                                kind(StmtSelect),
		"SELECT NEXT VALUE FOR s":                          kind(StmtSelect),
		"SELECT s.nextval":                                 kind(StmtSelect),
		"SELECT /*+ SET_VAR(x=1) */ 1":                     worst,
	} {
		require.Equal(t, want, Classify([]byte(text), plainLex()), "%q", text)
	}
	ansi := plainLex()
	ansi.ANSIQuotes = true
	require.Equal(t, StmtMulti, Classify([]byte(`SELECT ";'" ; SELECT 1`), ansi).Kind)
	swe7 := plainLex()
	swe7.Charset = "swe7"
	require.Equal(t, worst, Classify([]byte("SELECT 1"), swe7))
}
