package rewrite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func renderAll(p *Plan, sql string, rows *Rows) string {
	b := p.AppendHead(nil)
	for i := range rows.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.AppendRow(b, []byte(sql), rows, i)
	}
	return string(p.AppendTail(b))
}

// S22: the column list is always there.
func TestS22Render(t *testing.T) {
	tb := table(column("a", "int"), column("hidden", "int", invisible), column("b`c", "varchar", bin), column("g", "int", generated))
	s := newState(t, MariaDB)
	for sql, want := range map[string]string{
		"insert into t values(1,'x',default), ( 2 , 'it''s\\\\',DEFAULT)":             "INSERT INTO `x`.`t` (`a`,`b``c`,`g`) VALUES (1,'x',default),( 2 , 'it''s\\\\',DEFAULT)",
		"INSERT IGNORE t (a) VALUE (1)":                                               "INSERT IGNORE INTO `x`.`t` (`a`) VALUES (1)",
		"replace t(hidden,a) values (1,2) ;":                                          "REPLACE INTO `x`.`t` (`hidden`,`a`) VALUES (1,2)",
		"INSERT INTO t SET `b``c`='x', a = 2":                                         "INSERT INTO `x`.`t` (`b``c`,`a`) VALUES ('x',2)",
		"INSERT INTO t (a) VALUES (1)on duplicate key update a=a+1,`b``c`=concat('')": "INSERT INTO `x`.`t` (`a`) VALUES (1) on duplicate key update a=a+1,`b``c`=concat('')",
	} {
		form, rows := parseInsert(t, s, sql)
		p, why := NewPlan(form, tb, s)
		require.Empty(t, why, sql)
		require.Equal(t, want, renderAll(p, sql, rows))
	}
}

// What is rendered reads back as the same rows.
func TestRenderReadsBack(t *testing.T) {
	s := newState(t, MySQL)
	tb := table(column("a", "int"), column("b", "varchar", bin))
	for _, sql := range []string{
		"INSERT INTO t VALUES (1,'a'),(2,'),(')",
		"INSERT INTO t VALUES (1 -- ),\n,'a' /* ( */ ) , (2 # '\n,'b')",
		"INSERT IGNORE INTO t SET b='),(', a=-1",
		"REPLACE INTO t VALUES (1,'\\'),(\\''),(2,\"),('\")",
	} {
		form, rows := parseInsert(t, s, sql)
		p, why := NewPlan(form, tb, s)
		require.Empty(t, why)
		text := renderAll(p, sql, rows)
		_, again := parseInsert(t, s, text)
		require.Equal(t, rows.Len(), again.Len(), text)
		require.Len(t, again.Values, len(rows.Values))
		for i, v := range rows.Values {
			w := again.Values[i]
			require.Equal(t, v.Kind, w.Kind)
			require.Equal(t, sql[v.Start:v.End], text[w.Start:w.End])
		}
	}
}

func TestBuilder(t *testing.T) {
	s := newState(t, MySQL)
	form, _ := parseInsert(t, s, "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a=1")
	p, why := NewPlan(form, table(column("a", "int")), s)
	require.Empty(t, why)
	const head, tail = "INSERT INTO `x`.`t` (`a`) VALUES ", " ON DUPLICATE KEY UPDATE a=1"
	overhead := len(head) + len(tail)

	var b Builder
	b.Start(p, overhead+10, 1000)
	require.Equal(t, Added, b.Add([]byte("(1)"), 1))
	require.Equal(t, Added, b.Add([]byte("(2)"), 1))
	require.Equal(t, Full, b.Add([]byte("(4)"), 1))
	require.Equal(t, 2, b.Rows())
	require.Equal(t, head+"(1),(2)"+tail, string(b.Finish()))
	b.Next()
	require.Zero(t, b.Rows())

	// A client statement is longer than the target but not divided.
	whole := strings.Repeat("(5),", 20) + "(6)"
	require.Equal(t, Added, b.Add([]byte(whole), 21))
	require.Equal(t, Full, b.Add([]byte("(7)"), 1))
	require.Equal(t, 21, b.Rows())
	require.Equal(t, head+whole+tail, string(b.Finish()))

	// max_allowed_packet counts the command byte and is not reached.
	for _, c := range []struct {
		limit int
		want  Fit
	}{{overhead + 5, TooLarge}, {overhead + 6, Added}} {
		b.Start(p, 1<<20, c.limit)
		require.Equal(t, c.want, b.Add([]byte("(1)"), 1), c.limit)
		if c.want == Added {
			require.Less(t, len(b.Finish())+1, c.limit)
			b.Next()
			b.Add([]byte("(1)"), 1)
			require.Equal(t, Full, b.Add([]byte("(2)"), 1))
		}
	}
}

func TestBuilderDoesNotAllocate(t *testing.T) {
	s := newState(t, MySQL)
	form, _ := parseInsert(t, s, "INSERT INTO t VALUES (1)")
	p, _ := NewPlan(form, table(column("a", "int")), s)
	var b Builder
	b.Start(p, 4096, 1<<20)
	row := []byte("(123456789)")
	for b.Add(row, 1) == Added {
	}
	require.Zero(t, testing.AllocsPerRun(10, func() {
		b.Next()
		for b.Add(row, 1) == Added {
		}
		_ = b.Finish()
	}))
}
