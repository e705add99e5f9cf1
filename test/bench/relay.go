package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluice-db/sluice/test/demo/stage"
)

// relay measures what sluice costs where it only relays: point selects and read-only
// transactions, few and many clients, with and without TLS.
func (b *bench) relay(ctx context.Context) error {
	certificates, err := b.certificates()
	if err != nil {
		return err
	}
	for _, kind := range b.servers {
		err := b.withServer(ctx, kind, sysbenchPool, func(server *stage.Server) error {
			return b.relayOn(ctx, server)
		}, certificates...)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// certificates makes what a server and sysbench show each other, the latter under the
// names that sysbench looks for in its directory, and returns the server's options.
func (b *bench) certificates() ([]string, error) {
	dir := filepath.Join(b.dir, "tls")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make certificates: %w", err)
	}
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, of := range map[string]string{"cacert.pem": cert, "client-cert.pem": cert, "client-key.pem": key} {
		if err := os.Symlink(of, filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("make certificates: %w", err)
		}
	}
	if err := writeCertificate(cert, key); err != nil {
		return nil, fmt.Errorf("make certificates: %w", err)
	}
	b.tls = dir
	return []string{"--ssl-ca=" + cert, "--ssl-cert=" + cert, "--ssl-key=" + key}, nil
}

// way is one way to the server.
type way struct {
	name  string
	addr  string
	rates samples
	p95   samples
}

func (b *bench) relayOn(ctx context.Context, server *stage.Server) (err error) {
	size := fmt.Sprintf("--table-size=%d", tableSize)
	if _, err := b.sysbench(ctx, server.Addr, "oltp_point_select", "prepare", size); err != nil {
		return err
	}
	haproxy, relayed, err := b.startHAProxy(ctx, server.Addr)
	if err != nil {
		return err
	}
	// HAProxy has no exit status for a stop by signal: it ends with the signal's.
	defer func() { _ = haproxy.Stop(stopLimit) }()
	own := []string{"--tls-cert", filepath.Join(b.tls, "cert.pem"), "--tls-key", filepath.Join(b.tls, "key.pem")}
	plain, err := b.startSluice(ctx, server.Addr, own...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plain.Stop()) }()
	secured, err := b.startSluice(ctx, server.Addr, append(own, "--backend", "mysql://"+serviceUser+"@"+server.Addr+"/?tls=skip-verify")...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, secured.Stop()) }()
	for _, script := range strings.Split(b.relayed.scripts, ",") {
		for _, tls := range []bool{false, true} {
			ways := []way{{name: "direct", addr: server.Addr}, {name: "HAProxy, TCP mode", addr: relayed}, {name: "sluice", addr: plain.Addr}}
			title := fmt.Sprintf("relay: %s, sysbench %s", server.Describe(), script)
			if tls {
				title += " over TLS"
				ways[2].name = "sluice, TLS to the client"
				ways = append(ways, way{name: "sluice, TLS on both sides", addr: secured.Addr})
			}
			t := &table{
				title: fmt.Sprintf("%s, %d s, median of %d", title, b.seconds, b.runs),
				head:  []string{"way", "threads", "queries/s", "spread", "95th percentile ms", "to direct", "to HAProxy"},
			}
			for _, text := range strings.Split(b.relayed.threads, ",") {
				threads, err := strconv.Atoi(text)
				if err != nil {
					return fmt.Errorf("--relay-threads: %w", err)
				}
				if err := b.relayRuns(ctx, t, script, threads, tls, ways); err != nil {
					return err
				}
			}
			b.tables = append(b.tables, t.String())
		}
	}
	return nil
}

// relayRuns measures the ways in turn.
func (b *bench) relayRuns(ctx context.Context, t *table, script string, threads int, tls bool, ways []way) error {
	args := []string{fmt.Sprintf("--table-size=%d", tableSize)}
	if tls {
		args = append(args, overTLS)
	}
	with := *b
	with.threads = threads
	for i := range ways {
		ways[i].rates, ways[i].p95 = nil, nil
	}
	for run := range b.runs {
		for i := range ways {
			w := &ways[i]
			e, err := with.sysbench(ctx, w.addr, script, "run", args...)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			say("%s, %d threads, run %d, %s: %s queries/s", script, threads, run+1, w.name, number(e.queries))
			w.rates, w.p95 = append(w.rates, e.queries), append(w.p95, e.p95)
		}
	}
	for _, w := range ways {
		t.add(w.name, fmt.Sprint(threads), number(w.rates.median()), w.rates.spread(), fmt.Sprintf("%.2f", w.p95.median()),
			ratio(w.rates.median(), ways[0].rates.median()), ratio(w.rates.median(), ways[1].rates.median()))
	}
	return nil
}
