package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/sluice-db/sluice/backend/metrics"
	"github.com/sluice-db/sluice/config"
	"github.com/sluice-db/sluice/proxy"
)

// webCloseTimeout bounds the wait for HTTP requests that are being answered.
const webCloseTimeout = 2 * time.Second

// errNotBuilt says what a server of this version lacks.
var errNotBuilt = errors.New("this build has no listener for clients: relay and batching are not part of it yet")

// runServe runs sluice until ctx is done and everything is drained, or until
// it cannot go on. Everything is made first, so that each mistake is an error
// of the start; then it runs; then it is closed in the reverse order.
func runServe(ctx context.Context, cfg *config.Config, log zerolog.Logger) error {
	if ctx.Err() != nil {
		return nil // a signal before there was anything to drain
	}
	counters := metrics.New()
	stopWeb, err := startWeb(cfg, counters, func() error { return errNotBuilt }, log)
	if err != nil {
		return err
	}
	return errors.Join(errNotBuilt, stopWeb())
}

// startWeb opens the HTTP server and runs it until stop is called, which is
// after the drain: metrics are to be read until the end. Without an address
// there is none.
func startWeb(cfg *config.Config, m *metrics.Metrics, ready func() error, log zerolog.Logger) (stop func() error, err error) {
	if cfg.HTTP == "" {
		return func() error { return nil }, nil
	}
	web, err := proxy.NewWeb(proxy.WebOptions{Addr: cfg.HTTP, Metrics: m.Registry(), Ready: ready, Log: log})
	if err != nil {
		return nil, err
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := web.Run(context.Background()); err != nil {
			log.Error().Err(err).Msg("HTTP ended")
		}
	})
	log.Info().Stringer("addr", web.Addr()).Msg("HTTP")
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), webCloseTimeout)
		defer cancel()
		err := web.Close(ctx)
		running.Wait()
		return err
	}, nil
}
