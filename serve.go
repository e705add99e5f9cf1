package main

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/sluice-db/sluice/backend/metrics"
	"github.com/sluice-db/sluice/config"
	"github.com/sluice-db/sluice/proxy"
)

// webCloseTimeout bounds the wait for HTTP requests that are being answered.
const webCloseTimeout = 2 * time.Second

// runServe runs sluice until ctx is done and everything is drained, or until
// it cannot go on. Everything is made first, so that each mistake is an error
// of the start; then it runs; then it is closed in the reverse order.
func runServe(ctx context.Context, cfg *config.Config, log zerolog.Logger) (err error) {
	if ctx.Err() != nil {
		return nil // a signal before there was anything to drain
	}
	debug.SetMemoryLimit(int64(cfg.Memory.Max)) // what is held is bounded; this bounds what the collector leaves
	counters := metrics.New()
	l := &loading{cfg: cfg, log: log, counters: counters}
	if l.tls, err = backendTLS(cfg.Backend); err != nil {
		return err
	}
	if cfg.Backend.HasServiceAccount() {
		if err := l.open(ctx); err != nil {
			return err
		}
	} else if err := relayable(cfg.Backend); err != nil {
		return err
	} else {
		log.Warn().Msg("no service account in --backend: inserts in transactions are batched, autocommit inserts are relayed; " +
			"for those name an account, see README")
	}
	options, err := l.proxyOptions()
	if err != nil {
		return errors.Join(err, l.close(ctx))
	}
	server, err := proxy.New(options)
	if err != nil {
		return errors.Join(err, l.close(ctx))
	}
	stopWeb, err := startWeb(cfg, counters, l.ready, log)
	if err != nil {
		return errors.Join(err, l.close(ctx))
	}
	for _, a := range server.Addrs() {
		log.Info().Stringer("addr", a).Msg("listening")
	}
	l.start(ctx)
	err = server.Run(ctx)
	log.Info().Dur("timeout", cfg.Drain.Timeout).Msg("draining")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.Drain.Timeout)
	defer cancel()
	l.drain()
	if cut := server.Close(drain); cut != nil {
		log.Warn().Err(cut).Msg("sessions were cut off")
	}
	return errors.Join(err, l.close(drain), stopWeb())
}

// relayable refuses what cannot be served without a service account.
func relayable(b config.Backend) error {
	if b.Network != "unix" {
		return nil
	}
	return errors.New("a backend reached by its socket needs a service account: the server would trust sluice's own user " +
		"for any client, and sluice could not see it; use TCP in --backend, or name an account, mysql://USER@unix(PATH)/")
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
