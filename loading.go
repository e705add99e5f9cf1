package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/sluice-db/sluice/backend"
	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/backend/metrics"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/config"
	"github.com/sluice-db/sluice/proxy"
	"github.com/sluice-db/sluice/rewrite"
)

// pingTimeout bounds how long readiness waits for the server.
const pingTimeout = 2 * time.Second

// dialTimeout bounds a connect to the backend.
const dialTimeout = 5 * time.Second

// loading is the batching side of serve: journal, engine and what sessions need of them.
type loading struct {
	cfg      *config.Config
	log      zerolog.Logger
	counters *metrics.Metrics
	tls      *wire.TLS // to the server

	journal  *journal.Journal
	rejects  *journal.Rejects
	batching []atomic.Pointer[proxy.Batching] // one per listener
	engine   atomic.Pointer[backend.Engine]
	down     atomic.Pointer[error] // why the engine is not there yet
	running  sync.WaitGroup
}

// open opens the data directory and the engine. A backend that is down is waited
// for in start; one that refuses the service account is an error.
func (l *loading) open(ctx context.Context) error {
	dir := l.cfg.DataDir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ownFiles(fmt.Errorf("data directory: %w", err))
	}
	sync, err := journal.ParseSyncMode(string(l.cfg.Journal.Sync))
	if err != nil {
		return err
	}
	l.journal, err = journal.Open(journal.Options{
		Dir: journalDir(dir), Sync: sync, MaxBytes: int64(l.cfg.Journal.MaxBytes),
		Keep: l.keep(), Logger: l.log,
	})
	if err != nil {
		return ownFiles(err)
	}
	if l.rejects, err = journal.OpenRejects(journal.RejectOptions{Dir: rejectsDir(dir), Logger: l.log}); err != nil {
		return errors.Join(ownFiles(err), l.journal.Close())
	}
	l.watch()
	if err := l.connect(ctx); err != nil {
		if !backend.Passes(err) {
			return errors.Join(ownFiles(err), l.rejects.Close(), l.journal.Close())
		}
		l.log.Error().Err(err).Msg("backend not reached: waiting for it")
		l.down.Store(&err)
	}
	return nil
}

// ownFiles adds what to do to an error of the data directory.
func ownFiles(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) && !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; data_dir has to be a directory that sluice's user owns and may write to", err)
	}
	return err
}

// watch shows the journal in the metrics, before the engine is there from its own count.
func (l *loading) watch() {
	stats := l.journal.Stats
	l.counters.WatchJournal(metrics.Journal{
		Size: func() int64 { return stats().Bytes },
		Oldest: func() time.Duration {
			if oldest := stats().Oldest; !oldest.IsZero() {
				return time.Since(oldest)
			}
			return 0
		},
		PendingRows: func() int64 {
			if e := l.engine.Load(); e != nil {
				return e.PendingRows()
			}
			return int64(stats().UnappliedRows)
		},
		PendingBytes: func() int64 {
			if e := l.engine.Load(); e != nil {
				return e.PendingBytes()
			}
			return int64(stats().UnappliedBytes)
		},
	})
}

// ownedDir is the data directory, or none: it is used with a service account only.
func ownedDir(cfg *config.Config) string {
	if !cfg.Backend.HasServiceAccount() {
		return ""
	}
	return cfg.DataDir
}

// journalDir, rejectsDir and identityPath are where the data directory keeps its journal,
// its reject log and the name of the server that the journal's rows went to.
func journalDir(dataDir string) string   { return filepath.Join(dataDir, "journal") }
func rejectsDir(dataDir string) string   { return filepath.Join(dataDir, "rejects") }
func identityPath(dataDir string) string { return filepath.Join(dataDir, "server") }

// keep is how long applied segments stay; the configuration's 0 is none at all.
func (l *loading) keep() time.Duration {
	if l.cfg.Journal.Keep == 0 {
		return -1
	}
	return l.cfg.Journal.Keep
}

func (l *loading) limits() backend.Limits {
	return backend.Limits{
		ChunkRows: l.cfg.Chunk.Rows, ChunkBytes: int(l.cfg.Chunk.Bytes), StatementBytes: int(l.cfg.Statement.Bytes),
	}
}

// windowBytes keeps the windows that are applied at a time within memory.max: a
// window takes about twice its bytes in memory, with keys and order, and the
// collector needs room besides.
func (l *loading) windowBytes(want config.Bytes) int {
	return int(min(want, l.cfg.Memory.Max/config.Bytes(3*l.cfg.Apply.Connections)))
}

// account is the service account of a configuration.
func account(b config.Backend, t *wire.TLS) backend.Account {
	return backend.Account{Network: b.Network, Addr: b.Address, User: b.User, Password: b.Password.Reveal(), TLS: t, Timeout: dialTimeout}
}

// connect makes the engine.
func (l *loading) connect(ctx context.Context) error {
	e, err := backend.New(ctx, backend.Options{
		Account: account(l.cfg.Backend, l.tls),
		Journal: l.journal, Rejects: l.rejects, Connections: l.cfg.Apply.Connections, Schema: l.cfg.Checkpoint.Schema,
		Identity: identityPath(l.cfg.DataDir),
		Limits:   l.limits(), BarrierTimeout: l.cfg.Barrier.Timeout, Log: l.log,
		Settings: func(user, schema, table string) backend.Settings {
			w := l.cfg.Resolve(user, schema, table).Window
			s := backend.Settings{WindowBytes: l.windowBytes(w.Bytes), Delay: w.Delay, MaxDelay: w.MaxDelay}
			if !w.Rows.Auto() {
				s.WindowRows = int(w.Rows)
			}
			return s
		},
		Observer: backend.Observer{
			Flushed:  l.flushed,
			Rejected: func(n int) { l.counters.Rejects.Add(float64(n)) },
		},
	})
	if err != nil {
		return err
	}
	l.engine.Store(e)
	return nil
}

// start runs the engine, once the backend is there.
func (l *loading) start(ctx context.Context) {
	if !l.cfg.Backend.HasServiceAccount() {
		return
	}
	l.running.Go(func() {
		for l.engine.Load() == nil {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return
			}
			if err := l.connect(ctx); err != nil {
				if was := l.down.Swap(&err); was == nil || (*was).Error() != err.Error() {
					l.log.Error().Err(err).Msg("backend not reached: waiting for it")
				}
				continue
			}
			l.log.Info().Msg("backend reached")
		}
		l.down.Store(nil)
		if err := l.engine.Load().Run(ctx); err != nil {
			l.log.Error().Err(err).Msg("engine ended")
		}
	})
}

// ready says why sluice cannot keep its promises now.
func (l *loading) ready() error {
	if down := l.down.Load(); down != nil {
		return *down
	}
	e := l.engine.Load()
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	return errors.Join(e.Ready(), e.Ping(ctx))
}

// drain has the engine apply what is pending while sessions end.
func (l *loading) drain() {
	if e := l.engine.Load(); e != nil {
		e.Drain()
	}
}

// close drains the engine and closes the data directory.
func (l *loading) close(ctx context.Context) error {
	l.running.Wait()
	if l.journal == nil {
		return nil
	}
	if e := l.engine.Load(); e != nil {
		if err := e.Close(ctx); err != nil {
			l.log.Warn().Err(err).Msg("not everything was drained")
		}
	} else if n := l.journal.Stats().UnappliedRows; n > 0 {
		l.log.Warn().Uint64("rows", n).Msg("not everything was drained: rows are left in the journal and are applied at the next start")
	}
	return errors.Join(l.rejects.Close(), l.journal.Close())
}

// ruledOn says that some rule switches batching on.
func (l *loading) ruledOn() bool {
	for i := range l.cfg.Rules {
		if p := l.cfg.Rules[i].Profile; p != nil && *p == config.ProfileLoader {
			return true
		}
	}
	return false
}

// loginTimeout is how long a client may take to log in.
func (l *loading) loginTimeout() time.Duration {
	t := l.cfg.Login.Timeout
	if e := l.engine.Load(); e != nil {
		t = min(t, e.LoginTime())
	}
	return t
}

// algorithms is what clients may compress with.
func algorithms(c config.Compression) (a wire.Algorithm) {
	for configured, algorithm := range map[config.Compression]wire.Algorithm{
		config.Zlib: wire.Zlib, config.Zstd: wire.Zstd, config.Uncompressed: wire.Uncompressed,
	} {
		if c&configured != 0 {
			a |= algorithm
		}
	}
	return a
}

// proxyOptions are the listeners' side.
func (l *loading) proxyOptions() (proxy.Options, error) {
	offered, err := clientTLS(l.cfg.TLS, func() (tls.Certificate, error) { return ownCertificate(ownedDir(l.cfg)) })
	if err != nil {
		return proxy.Options{}, err
	}
	for _, o := range outdated(l.cfg, offered, l.tls) {
		l.log.Warn().Msg(o)
	}
	o := proxy.Options{
		TLS: offered, RequireTLS: l.cfg.TLS.Mode == config.TLSRequire, BackendTLS: l.tls,
		Compression: algorithms(l.cfg.ProtocolCompressionAlgorithms),
		Backend:     proxy.Address{Network: l.cfg.Backend.Network, Addr: l.cfg.Backend.Address},
		Log:         l.log, LoginTimeout: l.loginTimeout, DialTimeout: dialTimeout,
		MaxSessions: l.cfg.MaxSessions, ServiceUser: l.cfg.Backend.User,
		Counters: proxy.Counters{
			SessionOpened: func() { l.counters.Sessions.Inc(); l.counters.SessionsTotal.Inc() },
			SessionClosed: l.counters.Sessions.Dec,
			LoginFailed:   l.counters.LoginFailures.Inc,
			Command:       func(c byte) { l.counters.Command(c).Inc() },
		},
		Ready: func() error {
			if down := l.down.Load(); down != nil {
				return *down
			}
			return nil
		},
	}
	if o.Backend.Network == "unix" {
		o.Vouched = func(ctx context.Context) error { return l.engine.Load().Vouched(ctx) }
	}
	for _, a := range l.cfg.Listen {
		o.Listen = append(o.Listen, proxy.Listener{
			Address: proxy.Address{Network: a.Network, Addr: a.Address}, Relay: a.Profile == config.ProfileOff && !l.ruledOn(),
		})
	}
	memory := backend.NewMemory(int64(l.cfg.Memory.Max / 3)) // the rest is for windows, see windowBytes
	l.batching = make([]atomic.Pointer[proxy.Batching], len(o.Listen))
	o.Batching = func(listener int) *proxy.Batching {
		if b := l.batching[listener].Load(); b != nil {
			return b
		}
		resolve := func(user, schema, table string) config.Effective {
			return l.cfg.ResolveOn(l.cfg.Listen[listener], user, schema, table)
		}
		b := &proxy.Batching{
			Engine: l.engine.Load(), Burst: l.cfg.Burst, Limits: l.limits(), Strict: l.cfg.Consistency == config.Strict,
			HoldRows: l.cfg.Chunk.Rows, HoldBytes: int(l.cfg.Chunk.Bytes), Memory: memory,
			Off: func(user, schema, table string) bool {
				return resolve(user, schema, table).Profile == config.ProfileOff
			},
			Reject: func(user, schema, table string) bool {
				return resolve(user, schema, table).OnError == config.OnErrorReject
			},
			Exact: func(user, schema, table string) bool {
				return resolve(user, schema, table).AffectedRows == config.AffectedExact
			},
		}
		b.Observe.Batched = func(rows int, took time.Duration) {
			l.counters.Batched.Inc()
			l.counters.RowsIn.Add(float64(rows))
			l.counters.AckSeconds.Observe(took.Seconds())
		}
		b.Observe.Barrier = l.counters.Barrier.Inc
		b.Observe.Relayed = func(why rewrite.Reason) {
			l.counters.Relayed.Inc()
			l.counters.RelayedFor(string(why)).Inc()
		}
		b.Observe.Flushed = l.flushed
		l.batching[listener].Store(b)
		return b
	}
	return o, nil
}

// flushReasons maps the engine's reasons to the metrics' labels.
var flushReasons = map[string]metrics.Reason{
	"rows": metrics.FlushRows, "bytes": metrics.FlushBytes, "delay": metrics.FlushDelay, "memory": metrics.FlushMemory,
	"barrier": metrics.FlushBarrier, "commit": metrics.FlushCommit, "replay": metrics.FlushReplay, "drain": metrics.FlushDrain,
}

func (l *loading) flushed(f backend.Flush) {
	l.counters.Flush(flushReasons[f.Reason]).Inc()
	l.counters.RowsOut.Add(float64(f.Rows))
	l.counters.StatementsOut.Add(float64(f.Sent))
	l.counters.FlushSeconds.Observe(f.Took.Seconds())
}
