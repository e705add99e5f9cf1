package rewrite

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/pingcap/tidb/pkg/parser"
)

// reverseIndexRow is a row of the baseline's workload A, about 35 bytes.
func reverseIndexRow(i int) string {
	return fmt.Sprintf("('word%d',%d.%04d,%d,%d)", i*7919%100000, i%10, i%10000, i*31%1000000, 2000+i%26)
}

// orderRow is a row of about 100 bytes.
func orderRow(i int) string {
	return fmt.Sprintf("(%d,%d,'customer number %d','2024-05-%02d 12:34:56','a note of some length, it''s',%d.%02d,NULL)",
		i, i*31, i, 1+i%28, i%1000, i%100)
}

func statementOf(rows int, row func(int) string) []byte {
	var b bytes.Buffer
	b.WriteString("INSERT INTO ReverseIndex VALUES ")
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(row(i))
	}
	return b.Bytes()
}

func BenchmarkScanRows(b *testing.B) {
	for _, c := range []struct {
		name string
		rows int
		row  func(int) string
	}{
		{"A-1", 1, reverseIndexRow},
		{"A-1000", 1000, reverseIndexRow},
		{"C-1", 1, orderRow},
		{"C-1000", 1000, orderRow},
	} {
		b.Run(c.name, func(b *testing.B) {
			sql := statementOf(c.rows, c.row)
			pos := bytes.Index(sql, []byte(" ("))
			lex := plainLex()
			var rows Rows
			b.SetBytes(int64(len(sql) - pos))
			b.ReportAllocs()
			for b.Loop() {
				if _, why := ScanRows(&rows, sql, pos, lex); why != "" {
					b.Fatal(why)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.rows), "ns/row")
		})
	}
}

func BenchmarkSplit(b *testing.B) {
	sql := []byte("INSERT IGNORE INTO ReverseIndex (word, score, location_id, y) VALUES " + reverseIndexRow(4711))
	lex := plainLex()
	var rows Rows
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		if _, why := Split(&rows, sql, lex); why != "" {
			b.Fatal(why)
		}
	}
}

func BenchmarkClassify(b *testing.B) {
	sql := []byte("SELECT t.a, COUNT(*) FROM orders t WHERE t.b = 'some text' AND t.c > 5 GROUP BY t.a LIMIT 10")
	lex := plainLex()
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		if !Classify(sql, lex).Harmless {
			b.Fatal("not harmless")
		}
	}
}

func BenchmarkTiDBParser(b *testing.B) {
	for _, rows := range []int{1, 1000} {
		b.Run(fmt.Sprintf("A-%d", rows), func(b *testing.B) {
			sql := string(statementOf(rows, reverseIndexRow))
			p := parser.New()
			b.SetBytes(int64(len(sql)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := p.ParseSQL(sql); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
