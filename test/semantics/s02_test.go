package semantics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/stage"
)

// builtIns are names that may stand in a batched row: a stored function of the same
// name must not be what is called. The arguments are those of a call.
var builtIns = strings.Fields(`
	UPPER(1) UCASE(1) LOWER(1) LCASE(1) LENGTH(1) OCTET_LENGTH(1) CHAR_LENGTH(1) CHARACTER_LENGTH(1) BIT_LENGTH(1)
	TRIM(1) LTRIM(1) RTRIM(1) REVERSE(1) SPACE(1) ASCII(1) ORD(1) HEX(1) UNHEX(1) BIN(1) OCT(1) TO_BASE64(1)
	FROM_BASE64(1) QUOTE(1) SOUNDEX(1) ABS(1) SIGN(1) FLOOR(1) CEIL(1) CEILING(1) SQRT(1) EXP(1) LN(1) LOG2(1)
	LOG10(1) SIN(1) COS(1) TAN(1) COT(1) ASIN(1) ACOS(1) DEGREES(1) RADIANS(1) CRC32(1) BIT_COUNT(1) MD5(1) SHA(1)
	SHA1(1) COMPRESS(1) UNCOMPRESS(1) UNCOMPRESSED_LENGTH(1) ISNULL(1) INET_ATON(1) INET_NTOA(1) INET6_ATON(1)
	INET6_NTOA(1) DATE(1) TIMESTAMP(1) YEAR(1) MONTH(1) DAY(1) DAYOFMONTH(1) DAYOFWEEK(1) DAYOFYEAR(1) WEEKDAY(1)
	QUARTER(1) HOUR(1) MINUTE(1) SECOND(1) MICROSECOND(1) TO_DAYS(1) TO_SECONDS(1) FROM_DAYS(1) LAST_DAY(1)
	TIME_TO_SEC(1) ROUND(1) LOG(1) ATAN(1) WEEK(1) FROM_UNIXTIME(1) LEFT(1,1) RIGHT(1,1) REPEAT(1,1) INSTR(1,1)
	FIND_IN_SET(1,1) STRCMP(1,1) FORMAT(1,1) TRUNCATE(1,1) MOD(1,1) POW(1,1) POWER(1,1) ATAN2(1,1) SHA2(1,1)
	IFNULL(1,1) NULLIF(1,1) DATEDIFF(1,1) MAKEDATE(1,1) PERIOD_ADD(1,1) PERIOD_DIFF(1,1) DATE_FORMAT(1,1)
	SUBSTRING(1,1) SUBSTR(1,1) MID(1,1) LOCATE(1,1) IF(1,1,1) LPAD(1,1,1) RPAD(1,1,1) REPLACE(1,1,1) CONV(1,1,1)
	SUBSTRING_INDEX(1,1,1) INSERT(1,1,1,1) CONCAT(1) COALESCE(1) CHAR(1) CONCAT_WS(1,1) ELT(1,1) FIELD(1,1)
	MAKE_SET(1,1) GREATEST(1,1) LEAST(1,1) UUID_TO_BIN(1) BIN_TO_UUID(1) JSON_ARRAY(1) JSON_QUOTE(1)
	JSON_UNQUOTE(1) UNIX_TIMESTAMP(1) STR_TO_DATE(1,1) ST_GEOMFROMTEXT(1) POINT(1,1) CURDATE() NOW() PI()
	LAST_INSERT_ID(1) UUID() RAND(1) SLEEP(0) BENCHMARK(1,1) GET_LOCK(1,1) LOAD_FILE(1) ENCRYPT(1) PASSWORD(1)
	OLD_PASSWORD(1) VALUES(1) INTERVAL(1,1) ROW(1) REGEXP_REPLACE(1,1,1) NATURAL_SORT_KEY(1) CHR(1) TO_CHAR(1)
	GROUPING(1) FORMAT_BYTES(1) SYS_GUID() NVL(1,1) NVL2(1,1,1) DECODE(1,1) LENGTHB(1) CRC32C(1) KDF(1,1)`)

// TestS02Functions: what a stored function does must happen as the user whose
// statement calls it, never as the service account.
func TestS02Functions(t *testing.T) {
	stage.Each(t, func(s *stage.Stage) {
		s.Root("CREATE TABLE log (who VARCHAR(80))", "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(200), c INT)")
		mallory := s.User("m", "ALL ON "+s.Schema+".*")
		owner := s.Direct(mallory)
		body := " DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER BEGIN INSERT INTO log VALUES (CURRENT_USER()); RETURN 7; END"
		owner.Exec("CREATE FUNCTION f(x INT) RETURNS INT" + body)
		stored := 0
		for _, call := range builtIns {
			name, args, _ := strings.Cut(call, "(")
			params := []string{}
			if args != ")" {
				for i := range strings.Count(args, ",") + 1 {
					params = append(params, fmt.Sprintf("x%d INT", i))
				}
			}
			if _, err := owner.Try("CREATE FUNCTION `" + name + "` (" + strings.Join(params, ", ") + ") RETURNS INT" + body); err == nil {
				stored++
			}
		}
		require.Greater(s, stored, 100, "stored functions with the name of a built-in one")

		// each tries values in a session that is in the middle of a burst: what is relayed
		// ends that.
		key := 0
		each := func(values ...string) {
			for _, value := range values {
				c := s.Through(mallory)
				c.Warm("INSERT INTO t (a, b) VALUES (%d, 'x')")
				key++
				_, _ = c.Try(fmt.Sprintf("INSERT INTO t (a, b) VALUES (%d, %s)", key, value)) // some are errors
				c.Close()
			}
		}
		for _, call := range builtIns {
			name, args, _ := strings.Cut(call, "(")
			each(name+"("+args, strings.ToLower(name)+" ("+args, "`"+name+"`("+args)
		}
		s.Flush()
		before := s.Metric(stage.Rejects)
		each("f(1)", "F(1)", "f (1)", "`f`(1)", s.Schema+".f(1)", "(f(1))", "-f(1)", "CONCAT(f(1))", "IF(1,f(1),2)", "CAST(f(1) AS CHAR)",
			"/*! f(1) */ ", "/*!50000 f(1)*/", "1 + f(1)", "f(1) IS NULL", "CASE WHEN f(1) THEN 1 ELSE 2 END", "(SELECT f(1))",
			"@x := f(1)", "b", "COALESCE(NULL, f(1))", "f\u00a0(1)", "f-- \n(1)", "f#x\n(1)",
			s.Schema+".concat('x')", "`"+s.Schema+"` . abs (1)", "UPPER/**/(1)", "now\n()")
		for _, tail := range []string{"c = f(1)", "c = " + s.Schema + ".f(1)", "c = `f` (1)", "c = CONCAT (1)", "c = IF(c, f(1), 1)",
			"c = (SELECT f(1))", "c = VALUES(c) + f(1)", "c = /*! f(1) */", "c = JSON_ARRAY (1)", "c = `abs`(1)", "c = ABS(f(1))"} {
			c := s.Through(mallory)
			for range 5 { // past the burst of the shape
				_, _ = c.Try("INSERT INTO t (a, c) VALUES (1, 1) ON DUPLICATE KEY UPDATE " + tail)
			}
			c.Close()
		}
		s.Flush()
		require.Equal(s, before, s.Metric(stage.Rejects), "statements with stored functions were batched")
		c := s.Through(mallory)
		c.Warm("INSERT INTO t (a, b) VALUES (%d, UPPER('x'))") // but built-in ones are
		s.Flush()
		require.Equal(s, []string{mallory + "@%"}, s.Stored("SELECT DISTINCT who FROM log"), "whose rights stored functions had")
	})
}
