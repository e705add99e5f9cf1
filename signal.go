package main

import (
	"context"
	"os"
	"sync"

	"github.com/rs/zerolog"
)

// untilSignal returns a context that the first signal cancels. A second signal
// calls abort. release ends the one goroutine that listens and waits for it.
func untilSignal(signals <-chan os.Signal, log zerolog.Logger, abort func()) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case s := <-signals:
				if !first {
					log.Warn().Stringer("signal", s).Msg("second signal: stop at once; what was acknowledged is in the journal")
					abort()
					return
				}
				log.Info().Stringer("signal", s).Msg("drain; a second signal stops at once")
				cancel()
			}
		}
	})
	return ctx, func() {
		close(done)
		listening.Wait()
		cancel()
	}
}
