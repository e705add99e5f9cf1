package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	require.InDelta(t, 2, samples{3, 1, 2}.median(), 0)
	require.InDelta(t, 2.5, samples{4, 1, 2, 3}.median(), 0)
	require.Equal(t, "1 to 1,234,567", samples{1234567, 1}.spread())
}

func TestParseEvents(t *testing.T) {
	e, err := parseEvents([]byte(`SQL statistics:
    transactions:                        81936  (8192.50 per sec.)
    queries:                             81936  (8192.50 per sec.)
    ignored errors:                      3      (0.30 per sec.)
    reconnects:                          1      (0.10 per sec.)
Latency (ms):
         95th percentile:                        2.61
`))
	require.NoError(t, err)
	require.Equal(t, events{transactions: 81936, rate: 8192.5, queries: 8192.5, ignored: 3, reconnects: 1, p95: 2.61}, e)
	_, err = parseEvents([]byte("FATAL: nothing"))
	require.Error(t, err)
}

func TestTableIsMarkdown(t *testing.T) {
	table := &table{title: "x", head: []string{"a", "b"}}
	table.add("1", "2")
	require.Equal(t, "### x\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n", table.String())
}
