package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/metrics"
)

// runWeb runs a Web and returns a getter of its pages.
func runWeb(t *testing.T, addr string, ready func() error, gatherer prometheus.Gatherer) (*Web, func(path string) (int, string)) {
	t.Helper()
	w, err := NewWeb(WebOptions{Addr: addr, Metrics: gatherer, Ready: ready, Log: zerolog.Nop()})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- w.Run(context.Background()) }()
	t.Cleanup(func() {
		require.NoError(t, w.Close(context.Background()))
		require.NoError(t, <-done)
	})
	port := w.Addr().(*net.TCPAddr).Port
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	return w, func(path string) (int, string) {
		reply, err := client.Get("http://127.0.0.1:" + strconv.Itoa(port) + path)
		require.NoError(t, err)
		defer reply.Body.Close()
		body, err := io.ReadAll(reply.Body)
		require.NoError(t, err)
		return reply.StatusCode, string(body)
	}
}

func TestWebPages(t *testing.T) {
	m := metrics.New()
	m.RowsIn.Add(42)
	var down atomic.Pointer[error]
	_, get := runWeb(t, "127.0.0.1:0", func() error {
		if err := down.Load(); err != nil {
			return *err
		}
		return nil
	}, m.Registry())

	status, body := get("/healthz")
	require.Equal(t, "200 ok\n", text(status, body))
	status, body = get("/readyz")
	require.Equal(t, "200 ok\n", text(status, body))
	refused := errors.New("backend: connection refused")
	down.Store(&refused)
	status, body = get("/readyz")
	require.Equal(t, "503 backend: connection refused\n", text(status, body))
	status, body = get("/healthz")
	require.Equal(t, "200 ok\n", text(status, body))

	status, body = get("/metrics")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "\nsluice_rows_in_total 42\n")
	require.Contains(t, body, `sluice_statements_total{verdict="batched"} 0`)
	require.Contains(t, body, "\nprocess_resident_memory_bytes ")

	status, _ = get("/elsewhere")
	require.Equal(t, http.StatusNotFound, status)
}

func text(status int, body string) string { return strconv.Itoa(status) + " " + body }

func TestWebShowsProfilesOnLoopbackOnly(t *testing.T) {
	for addr, want := range map[string]int{"127.0.0.1:0": http.StatusOK, "localhost:0": http.StatusOK, ":0": http.StatusNotFound, "0.0.0.0:0": http.StatusNotFound} {
		_, get := runWeb(t, addr, func() error { return nil }, prometheus.NewRegistry())
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline"} {
			status, _ := get(path)
			require.Equal(t, want, status, addr+path)
		}
	}
}

func TestWebAddressInUse(t *testing.T) {
	first, _ := runWeb(t, "127.0.0.1:0", func() error { return nil }, prometheus.NewRegistry())
	_, err := NewWeb(WebOptions{Addr: first.Addr().String(), Log: zerolog.Nop()})
	require.ErrorContains(t, err, "HTTP: listen on "+first.Addr().String())
}

func TestWebEnds(t *testing.T) {
	open := func() *Web {
		w, err := NewWeb(WebOptions{Addr: "127.0.0.1:0", Metrics: prometheus.NewRegistry(), Ready: func() error { return nil }, Log: zerolog.Nop()})
		require.NoError(t, err)
		return w
	}
	refused := func(w *Web) {
		_, err := net.DialTimeout("tcp", w.Addr().String(), time.Second)
		require.Error(t, err)
	}

	w := open() // with its context
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	cancel()
	require.NoError(t, <-done)
	require.NoError(t, w.Close(context.Background()))
	refused(w)

	w = open() // without having run
	require.NoError(t, w.Close(context.Background()))
	refused(w)
	require.NoError(t, w.Run(context.Background()), "and does not run afterwards")
}

// A request in progress is waited for, and cut off in the end.
func TestWebCloseWaits(t *testing.T) {
	asked, answer := make(chan struct{}, 2), make(chan struct{})
	ready := func() error {
		asked <- struct{}{}
		<-answer
		return nil
	}
	w, err := NewWeb(WebOptions{Addr: "127.0.0.1:0", Metrics: prometheus.NewRegistry(), Ready: ready, Log: zerolog.Nop()})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- w.Run(context.Background()) }()
	conn, err := net.Dial("tcp", w.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /readyz HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	<-asked

	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, w.Close(ctx), context.DeadlineExceeded)
	require.NoError(t, <-done)
	close(answer)
}
