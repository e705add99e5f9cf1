package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics is everything that one sluice counts.
type Metrics struct {
	registry *prometheus.Registry

	Sessions      prometheus.Gauge   // client sessions now
	SessionsTotal prometheus.Counter // client sessions ever
	LoginFailures prometheus.Counter // connections that ended before they were logged in

	// Each statement of a client counts in one of these.
	Batched prometheus.Counter // answered by sluice, its rows held or journaled
	Barrier prometheus.Counter // relayed, after what it could see was flushed
	Relayed prometheus.Counter // relayed

	RowsIn        prometheus.Counter // rows of batched statements
	RowsOut       prometheus.Counter // rows in merged statements that the server took
	StatementsOut prometheus.Counter // merged statements that the server took
	FlushSeconds  prometheus.Histogram
	AckSeconds    prometheus.Histogram // from a batched statement's last byte to its OK

	Rejects prometheus.Counter // client statements that went to the reject log

	commands [256]prometheus.Counter
	flushes  [reasons]prometheus.Counter
	relayed  *prometheus.CounterVec
	journal  atomic.Pointer[Journal]
}

// Journal is where the journal's gauges come from.
type Journal struct {
	Size         func() int64 // bytes on disk
	Oldest       func() time.Duration
	PendingRows  func() int64
	PendingBytes func() int64
}

// New returns metrics that all stand at zero.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)

	m.Sessions = m.gauge("sessions", "Client sessions that are open.")
	m.SessionsTotal = m.counter("sessions_total", "Client sessions that were accepted.")
	m.LoginFailures = m.counter("login_failures_total", "Client sessions that ended before they were logged in.")

	commands := m.counters("commands_total", "Commands of clients.", "kind")
	other := commands.WithLabelValues("other")
	for i := range m.commands {
		m.commands[i] = other
	}
	for code, kind := range commandKinds {
		m.commands[code] = commands.WithLabelValues(kind)
	}

	verdicts := m.counters("statements_total",
		"Statements of clients: batched, relayed after a flush of what they could see (barrier), or relayed.", "verdict")
	m.Batched = verdicts.WithLabelValues("batched")
	m.Barrier = verdicts.WithLabelValues("barrier")
	m.Relayed = verdicts.WithLabelValues("relayed")
	m.relayed = m.counters("relayed_total", "Inserts that were relayed, by what kept them from being batched.", "reason")

	m.RowsIn = m.counter("rows_in_total", "Rows of statements that were batched.")
	m.RowsOut = m.counter("rows_out_total", "Rows that the server took in merged statements.")
	m.StatementsOut = m.counter("statements_out_total", "Merged statements that the server took.")

	flushes := m.counters("flushes_total", "Flushes, by what caused them.", "reason")
	for reason := range reasons {
		m.flushes[reason] = flushes.WithLabelValues(reason.String())
	}
	m.FlushSeconds = m.histogram("flush_seconds", "Time from the end of a window to its commit.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60})
	m.AckSeconds = m.histogram("ack_seconds", "Time from the last byte of a batched statement to its OK.",
		[]float64{1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, .001, .0025, .01, .1, 1})

	m.fromJournal("pending_rows", "Rows that were acknowledged and are not yet applied.",
		func(j *Journal) float64 { return float64(j.PendingRows()) })
	m.fromJournal("pending_bytes", "Bytes of the rows that are not yet applied.",
		func(j *Journal) float64 { return float64(j.PendingBytes()) })
	m.Rejects = m.counter("rejects_total", "Statements of clients that went to the reject log.")
	m.fromJournal("journal_bytes", "Size of the journal on disk.",
		func(j *Journal) float64 { return float64(j.Size()) })
	m.fromJournal("journal_oldest_age_seconds", "Age of the oldest row in the journal that is not yet applied; 0 if there is none.",
		func(j *Journal) float64 { return j.Oldest().Seconds() })
	return m
}

// Registry returns what /metrics serves.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Command returns the counter of a command by its first byte.
func (m *Metrics) Command(code byte) prometheus.Counter { return m.commands[code] }

// Flush returns the counter of flushes with a reason.
func (m *Metrics) Flush(reason Reason) prometheus.Counter { return m.flushes[reason] }

// RelayedFor returns the counter of inserts that were relayed for a reason,
// which must be one of a fixed list and never text from a client. It looks the
// reason up: what counts often for the same reason keeps the counter.
func (m *Metrics) RelayedFor(reason string) prometheus.Counter {
	return m.relayed.WithLabelValues(reason)
}

// WatchJournal names the functions that a scrape asks for the journal's gauges.
// Until then all are 0. They are called from the goroutine of the scrape.
func (m *Metrics) WatchJournal(j Journal) { m.journal.Store(&j) }

func (m *Metrics) fromJournal(name, help string, read func(*Journal) float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help},
		func() float64 {
			if j := m.journal.Load(); j != nil {
				return read(j)
			}
			return 0
		}))
}

const namespace = "sluice"

func (m *Metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) counters(name, help, label string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{label})
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
	m.registry.MustRegister(g)
	return g
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}
