package proxy

import "testing"

func TestSetsAutocommit(t *testing.T) {
	for _, sql := range []string{
		"SET autocommit=0", "set autocommit = 1;", "SET AUTOCOMMIT=ON", "set session autocommit=off",
		"SET @@session.autocommit = 1", "SET @@autocommit=0\n",
	} {
		if !setsAutocommit([]byte(sql)) {
			t.Errorf("%q is not recognised", sql)
		}
	}
	for _, sql := range []string{
		"", "SET", "SET autocommit", "SET autocommit=2", "SET autocommit=DEFAULT", "SET GLOBAL autocommit=1",
		"SET autocommit=0, sql_mode=''", "SET autocommit=0; SET sql_mode=''", "SET sql_mode=''", "SET autocommit=0 # x",
		"SET autocommit=@x", "SET autocommit=(SELECT 1)", "SETautocommit=0", "SET @autocommit=1", "SET autocommit:=1",
		"SET autocommit='1'", "SET x.autocommit=1", "SET STATEMENT autocommit=1 FOR SELECT 1",
	} {
		if setsAutocommit([]byte(sql)) {
			t.Errorf("%q is taken for SET autocommit", sql)
		}
	}
}
