package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
)

// WebOptions are what a Web is made of.
type WebOptions struct {
	Addr    string // host:port
	Metrics prometheus.Gatherer
	Ready   func() error // nil when sluice can serve clients; called for each /readyz, from many goroutines
	Log     zerolog.Logger
}

// Web answers over HTTP how sluice is: /healthz (the process lives), /readyz
// (it can serve clients), /metrics, and /debug/pprof where nobody else can
// reach it, that is on a loopback address.
type Web struct {
	listener net.Listener
	server   *http.Server
}

// NewWeb opens the listener, so that an address in use is an error of the
// start. Nothing is answered before Run.
func NewWeb(opts WebOptions) (*Web, error) {
	l, err := listen(Address{Network: "tcp", Addr: opts.Addr})
	if err != nil {
		return nil, fmt.Errorf("HTTP: %w", err)
	}
	local := loopback(l.Addr())
	return &Web{
		listener: l,
		server: &http.Server{
			Handler: webRoutes(opts, local),
			// No limit for a whole request: a profile takes as long as it is asked to.
			ReadHeaderTimeout: 5 * time.Second,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    16 << 10,
			ErrorLog:          log.New(opts.Log, "http: ", 0),
		},
	}, nil
}

// Addr is the address listened on.
func (w *Web) Addr() net.Addr { return w.listener.Addr() }

// Run answers until ctx is done or Close is called. It leaves no goroutine
// behind but those of requests still being answered, which Close waits for.
func (w *Web) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = w.listener.Close() })
	defer stop()
	err := w.server.Serve(w.listener)
	if ctx.Err() != nil || errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("serve HTTP on %s: %w", w.Addr(), err)
}

// Close stops Run, waits for requests being answered until ctx is done, and
// then cuts them off. It also closes a Web that never ran.
func (w *Web) Close(ctx context.Context) error {
	_ = w.listener.Close() // Shutdown knows it only once Run has begun
	if err := w.server.Shutdown(ctx); err != nil && !errors.Is(err, net.ErrClosed) {
		_ = w.server.Close()
		return fmt.Errorf("close HTTP: %w", err)
	}
	return nil
}

func webRoutes(opts WebOptions, local bool) http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		plain(w, http.StatusOK, "ok")
	})
	routes.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := opts.Ready(); err != nil {
			plain(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		plain(w, http.StatusOK, "ok")
	})
	routes.Handle("GET /metrics", promhttp.HandlerFor(opts.Metrics, promhttp.HandlerOpts{
		ErrorLog: scrapeLog{opts.Log},
	}))
	if local {
		routes.HandleFunc("GET /debug/pprof/", pprof.Index)
		routes.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		routes.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		routes.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		routes.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return routes
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // the client is gone
}

// loopback reports whether only this machine can reach an address.
func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// scrapeLog takes the errors of a scrape.
type scrapeLog struct{ log zerolog.Logger }

func (l scrapeLog) Println(v ...any) { l.log.Warn().Msg("scrape: " + fmt.Sprint(v...)) }
