package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-db/sluice/test/demo/stage"
)

// leastRowsPerFlush is what inserts with explicit keys must be batched to.
const leastRowsPerFlush = 100

// errOLTP says that sysbench's own workloads did not come through as they must.
var errOLTP = errors.New("sysbench through sluice")

// oltp runs sysbench's workloads through sluice: no error, no lost connection,
// every row there, and inserts with explicit keys batched.
func (b *bench) oltp(ctx context.Context) error {
	if b.sluice == withoutSluice {
		say("oltp needs sluice")
		return nil
	}
	for _, kind := range b.servers {
		err := b.withServer(ctx, kind, sysbenchPool, func(server *stage.Server) error {
			return b.oltpOn(ctx, server)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

func (b *bench) oltpOn(ctx context.Context, server *stage.Server) (err error) {
	sluice, err := b.startSluice(ctx, server.Addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sluice.Stop()) }()
	t := &table{
		title: fmt.Sprintf("oltp: %s, sysbench through sluice, %d threads, %d s", server.Describe(), b.threads, b.seconds),
		head:  []string{"workload", "transactions/s", "95th percentile ms", "errors", "reconnects", "rows per flush", "rows per statement"},
	}
	size := fmt.Sprintf("--table-size=%d", tableSize)
	for _, w := range []struct {
		name, script, table string
		args                []string
		batched             bool
	}{
		{name: "oltp_read_write", script: "oltp_read_write", args: []string{size}},
		{name: "oltp_insert", script: "oltp_insert", table: "sbtest1", args: []string{size}},
		{name: "inserts with explicit keys", script: "test/bench/explicit_insert.lua", table: "sbexplicit", batched: true},
	} {
		if _, err := b.sysbench(ctx, sluice.Addr, w.script, "prepare", w.args...); err != nil {
			return err
		}
		before, err := b.state(ctx, server, sluice, w.table)
		if err != nil {
			return err
		}
		e, err := b.sysbench(ctx, sluice.Addr, w.script, "run", w.args...)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, sluice.Tail(15))
		}
		after, err := b.state(ctx, server, sluice, w.table)
		if err != nil {
			return err
		}
		say("%s: %s transactions/s", w.name, number(e.rate))
		out := after.out - before.out
		perFlush, perStatement := "", ""
		if w.batched {
			perFlush = number(out / max(1, after.flushes-before.flushes))
			perStatement = number(out / max(1, after.statements-before.statements))
		}
		t.add(w.name, number(e.rate), fmt.Sprintf("%.2f", e.p95), fmt.Sprint(e.ignored), fmt.Sprint(e.reconnects), perFlush, perStatement)
		switch rows := after.rows - before.rows; {
		case e.reconnects > 0:
			return fmt.Errorf("%w: %s lost %d connections", errOLTP, w.name, e.reconnects)
		case w.table != "" && rows != e.transactions:
			return fmt.Errorf("%w: %s inserted %d rows, %d are there", errOLTP, w.name, e.transactions, rows)
		case w.batched && out < leastRowsPerFlush*(after.flushes-before.flushes), w.batched && out == 0:
			return fmt.Errorf("%w: %s: %.0f rows in %.0f flushes", errOLTP, w.name, out, after.flushes-before.flushes)
		}
		if _, err := b.sysbench(ctx, sluice.Addr, w.script, "cleanup", w.args...); err != nil {
			return err
		}
	}
	b.tables = append(b.tables, t.String())
	return nil
}

// state is what is counted before and after a run.
type state struct {
	rows                     int // in the table, asked from the server itself
	out, statements, flushes float64
}

func (b *bench) state(ctx context.Context, server *stage.Server, sluice *stage.Sluice, table string) (state, error) {
	var s state
	if err := sluice.Drained(ctx); err != nil {
		return s, err
	}
	metrics, err := sluice.Metrics(ctx)
	if err != nil {
		return s, err
	}
	s.out, s.statements = metrics["sluice_rows_out_total"], metrics["sluice_statements_out_total"]
	s.flushes = metrics["sluice_flushes_total"]
	if table == "" {
		return s, nil
	}
	err = server.Admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+schema+"."+table).Scan(&s.rows)
	if err != nil {
		return s, fmt.Errorf("count %s: %w", table, err)
	}
	return s, nil
}
