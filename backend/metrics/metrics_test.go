package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// gather returns the metrics of sluice by name.
func gather(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := m.Registry().Gather()
	require.NoError(t, err)
	ours := make(map[string]*dto.MetricFamily)
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "sluice_") {
			ours[f.GetName()] = f
		}
	}
	return ours
}

// labelled returns the counters of a family by the value of their only label.
func labelled(f *dto.MetricFamily) map[string]float64 {
	values := make(map[string]float64)
	for _, one := range f.GetMetric() {
		values[one.GetLabel()[0].GetValue()] = one.GetCounter().GetValue()
	}
	return values
}

func TestNames(t *testing.T) {
	m := New()
	m.RelayedFor("view").Inc()
	families := gather(t, m)
	var names []string
	list := make([]*dto.MetricFamily, 0, len(families))
	for name, f := range families {
		names = append(names, name)
		list = append(list, f)
	}
	require.ElementsMatch(t, []string{
		"sluice_sessions", "sluice_sessions_total", "sluice_login_failures_total", "sluice_commands_total",
		"sluice_statements_total", "sluice_relayed_total", "sluice_rows_in_total", "sluice_rows_out_total",
		"sluice_statements_out_total", "sluice_flushes_total", "sluice_flush_seconds", "sluice_ack_seconds",
		"sluice_pending_rows", "sluice_pending_bytes", "sluice_rejects_total", "sluice_journal_bytes",
		"sluice_journal_oldest_age_seconds",
	}, names)
	problems, err := promlint.NewWithMetricFamilies(list).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestLabels(t *testing.T) {
	m := New()
	m.Command(0x03).Inc()
	m.Command(0xfa).Add(2)
	m.Command(0x77).Inc()
	m.Command(0x78).Inc()
	m.Batched.Inc()
	m.Relayed.Add(3)
	m.Flush(FlushDrain).Inc()
	m.RelayedFor("trigger").Inc()
	m.RelayedFor("trigger").Inc()
	families := gather(t, m)

	commands := labelled(families["sluice_commands_total"])
	require.EqualValues(t, 1, commands["query"])
	require.EqualValues(t, 2, commands["stmt_bulk_execute"])
	require.EqualValues(t, 2, commands["other"])
	require.Len(t, commands, len(commandKinds)+1)
	require.Equal(t, map[string]float64{"batched": 1, "barrier": 0, "relayed": 3}, labelled(families["sluice_statements_total"]))
	require.Equal(t, map[string]float64{"trigger": 2}, labelled(families["sluice_relayed_total"]))
	flushes := labelled(families["sluice_flushes_total"])
	require.Len(t, flushes, int(reasons), "each reason has a name of its own")
	require.EqualValues(t, 1, flushes["drain"])
	require.NotContains(t, flushes, "")
}

func TestJournalIsAskedAtTheScrape(t *testing.T) {
	m := New()
	read := func() [2]float64 {
		families := gather(t, m)
		return [2]float64{
			families["sluice_journal_bytes"].GetMetric()[0].GetGauge().GetValue(),
			families["sluice_journal_oldest_age_seconds"].GetMetric()[0].GetGauge().GetValue(),
		}
	}
	require.Equal(t, [2]float64{0, 0}, read())
	size, age := int64(7), 1500*time.Millisecond
	m.WatchJournal(Journal{
		Size: func() int64 { return size }, Oldest: func() time.Duration { return age },
		PendingRows: func() int64 { return 0 }, PendingBytes: func() int64 { return 0 },
	})
	require.Equal(t, [2]float64{7, 1.5}, read())
	size, age = 8, 0
	require.Equal(t, [2]float64{8, 0}, read())
}

func TestTwoDoNotMix(t *testing.T) {
	a, b := New(), New()
	a.RowsIn.Add(5)
	require.EqualValues(t, 5, gather(t, a)["sluice_rows_in_total"].GetMetric()[0].GetCounter().GetValue())
	require.EqualValues(t, 0, gather(t, b)["sluice_rows_in_total"].GetMetric()[0].GetCounter().GetValue())
}

// What a batched statement costs in metrics.
func BenchmarkBatchedStatement(b *testing.B) {
	m := New()
	b.ReportAllocs()
	for b.Loop() {
		m.Command(0x03).Inc()
		m.Batched.Inc()
		m.RowsIn.Inc()
		m.AckSeconds.Observe(8e-6)
	}
}
