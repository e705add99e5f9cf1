package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-db/sluice/test/demo/stage"
)

// pointSelect measures what sluice costs where it only relays.
func (b *bench) pointSelect(ctx context.Context) error {
	for _, kind := range b.servers {
		err := b.withServer(ctx, kind, sysbenchPool, func(server *stage.Server) error {
			return b.pointSelectOn(ctx, server)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// way is one way to the server.
type way struct {
	name  string
	addr  string
	rates samples
	p95   samples
}

func (b *bench) pointSelectOn(ctx context.Context, server *stage.Server) (err error) {
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
	ways := []*way{{name: "direct", addr: server.Addr}, {name: "HAProxy, TCP mode", addr: relayed}}
	if b.sluice != withoutSluice {
		sluice, err := b.startSluice(ctx, server.Addr)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, sluice.Stop()) }()
		ways = append(ways, &way{name: "sluice", addr: sluice.Addr})
	}
	for run := range b.runs {
		for _, w := range ways {
			e, err := b.sysbench(ctx, w.addr, "oltp_point_select", "run", size)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			say("run %d, %s: %s selects/s", run+1, w.name, number(e.rate))
			w.rates, w.p95 = append(w.rates, e.rate), append(w.p95, e.p95)
		}
	}
	t := &table{
		title: fmt.Sprintf("point-select: %s, sysbench oltp_point_select, %d threads, %d s, median of %d",
			server.Describe(), b.threads, b.seconds, b.runs),
		head: []string{"way", "selects/s", "spread", "95th percentile ms", "to direct", "to HAProxy"},
	}
	for _, w := range ways {
		t.add(w.name, number(w.rates.median()), w.rates.spread(), fmt.Sprintf("%.2f", w.p95.median()),
			ratio(w.rates.median(), ways[0].rates.median()), ratio(w.rates.median(), ways[1].rates.median()))
	}
	b.tables = append(b.tables, t.String())
	return nil
}
