package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-db/sluice/test/demo/stage"
)

// perlAutocommit measures the case that sluice is made for: one Perl client that
// sends row by row in autocommit mode into a table larger than the buffer pool.
func (b *bench) perlAutocommit(ctx context.Context) error {
	base, rows, err := b.writeRows(ctx)
	if err != nil {
		return err
	}
	for _, kind := range b.servers {
		err := b.withServer(ctx, kind, b.bufferPool, func(server *stage.Server) error {
			return b.perlOn(ctx, server, base, rows)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// perlFigures are the legs over the runs.
type perlFigures struct {
	fake, direct, acknowledged, applied samples
	idle, peak                          samples // resident bytes of sluice
	rowsPerStatement                    samples
}

func (b *bench) perlOn(ctx context.Context, server *stage.Server, base, rows string) error {
	say("%s: a table of %s rows to begin with", server.Describe(), number(float64(b.baseRows)))
	if err := b.createBase(ctx, server, base); err != nil {
		return err
	}
	if err := b.copyBase(ctx, server, schema+"_reference"); err != nil {
		return err
	}
	if err := stage.LoadRows(ctx, server.Admin, insertInto(schema+"_reference"), rows, 0); err != nil {
		return err
	}
	size, err := server.TableBytes(ctx, schema+"_reference", "ReverseIndex")
	if err != nil {
		return err
	}
	var figures perlFigures
	for run := range b.runs {
		if err := b.perlRun(ctx, server, rows, run+1, &figures); err != nil {
			return err
		}
	}
	b.tables = append(b.tables, b.perlTable(server, figures, size))
	return nil
}

// perlRun runs each leg once.
func (b *bench) perlRun(ctx context.Context, server *stage.Server, rows string, run int, figures *perlFigures) error {
	fake, err := b.loadFake(ctx, "0", perl, rows)
	if err != nil {
		return err
	}
	say("run %d, fake: %s rows/s", run, number(fake.SentRate()))
	figures.fake = append(figures.fake, fake.SentRate())

	if err := b.copyBase(ctx, server, schema+"_direct"); err != nil {
		return err
	}
	load := b.load(perl, rows, server.Addr, schema+"_direct")
	load.Limit = b.directLimit
	loaded, err := load.Run(ctx, func(int) {})
	if err != nil {
		return err
	}
	say("run %d, direct: %s rows/s", run, number(loaded.Rate()))
	figures.direct = append(figures.direct, loaded.Rate())
	if loaded.Rows == b.rows {
		if err := compare(ctx, server, schema+"_direct"); err != nil {
			return err
		}
	}
	if b.sluice == withoutSluice {
		return nil
	}
	return b.perlSluice(ctx, server, rows, run, figures)
}

func (b *bench) perlSluice(ctx context.Context, server *stage.Server, rows string, run int, figures *perlFigures) (err error) {
	if err := b.copyBase(ctx, server, schema+"_sluice"); err != nil {
		return err
	}
	sluice, err := b.startSluice(ctx, server.Addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sluice.Stop()) }()
	idle, err := sluice.Memory()
	if err != nil {
		return err
	}
	load := b.load(perl, rows, sluice.Addr, schema+"_sluice")
	load.Sluice = sluice
	loaded, err := load.Run(ctx, func(int) {})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, sluice.Tail(15))
	}
	peak, err := sluice.PeakMemory()
	if err != nil {
		return err
	}
	metrics, err := sluice.Metrics(ctx)
	if err != nil {
		return err
	}
	say("run %d, sluice: %s rows/s acknowledged, %s applied", run, number(loaded.SentRate()), number(loaded.Rate()))
	figures.acknowledged = append(figures.acknowledged, loaded.SentRate())
	figures.applied = append(figures.applied, loaded.Rate())
	figures.idle = append(figures.idle, float64(idle))
	figures.peak = append(figures.peak, float64(peak))
	if statements := metrics["sluice_statements_out_total"]; statements > 0 {
		figures.rowsPerStatement = append(figures.rowsPerStatement, metrics["sluice_rows_out_total"]/statements)
	}
	if err := compare(ctx, server, schema+"_sluice"); err != nil {
		return fmt.Errorf("%w\nthe loader counted %d rows, sluice took %.0f, put out %.0f and rejected %.0f\n%s", err, loaded.Count,
			metrics["sluice_rows_in_total"], metrics["sluice_rows_out_total"], metrics["sluice_rejects_total"], sluice.Tail(15))
	}
	return nil
}

func (b *bench) perlTable(server *stage.Server, f perlFigures, size int64) string {
	t := &table{
		title: fmt.Sprintf("perl-autocommit: %s, %s rows into %s, table of %d MB, buffer pool %s, median of %d",
			server.Describe(), number(float64(b.rows)), number(float64(b.baseRows)), size>>20, b.bufferPool, b.runs),
		head: []string{"leg", "rows/s", "spread", "to direct", "to fake"},
	}
	add := func(name string, s samples) {
		t.add(name, number(s.median()), s.spread(), ratio(s.median(), f.direct.median()), ratio(s.median(), f.fake.median()))
	}
	add("fake, answers OK at once", f.fake)
	add("direct", f.direct)
	if b.sluice != withoutSluice {
		add("sluice, until the client's last OK", f.acknowledged)
		add("sluice, until nothing is pending", f.applied)
		t.add("sluice, rows a merged statement", number(f.rowsPerStatement.median()), "", "", "")
		t.add("sluice, resident MB idle / at most", number(f.idle.median()/(1<<20))+" / "+number(f.peak.median()/(1<<20)), "", "", "")
	}
	return t.String()
}

const createTable = `CREATE TABLE %s.ReverseIndex (
	word VARCHAR(64) NOT NULL, score FLOAT NOT NULL, location_id INT UNSIGNED NOT NULL, y SMALLINT NOT NULL,
	PRIMARY KEY (word, location_id)) ENGINE=InnoDB`

func insertInto(schema string) string {
	return "INSERT IGNORE INTO " + schema + ".ReverseIndex (word, score, location_id, y)"
}

// createBase makes the table that each leg starts with a copy of.
func (b *bench) createBase(ctx context.Context, server *stage.Server, base string) error {
	if err := server.Exec(ctx, "CREATE DATABASE "+schema+"_base", fmt.Sprintf(createTable, schema+"_base")); err != nil {
		return err
	}
	return stage.LoadRows(ctx, server.Admin, insertInto(schema+"_base"), base, 0)
}

// copyBase makes the schema anew. The secondary index is built at the end,
// which is quick, and the copy is written out before a clock starts.
func (b *bench) copyBase(ctx context.Context, server *stage.Server, schema string) error {
	err := server.Exec(ctx,
		"DROP DATABASE IF EXISTS "+schema,
		"CREATE DATABASE "+schema,
		fmt.Sprintf(createTable, schema),
		"INSERT INTO "+schema+".ReverseIndex SELECT * FROM bench_base.ReverseIndex ORDER BY word, location_id",
		"ALTER TABLE "+schema+".ReverseIndex ADD KEY location (location_id)")
	if err != nil {
		return err
	}
	return server.Settle(ctx, schema+".ReverseIndex")
}

// compare holds a leg's table against the reference.
func compare(ctx context.Context, server *stage.Server, leg string) error {
	query := func(schema string) stage.Selection {
		return stage.Selection{Name: schema, Query: "SELECT word, score + 0e0, location_id, y FROM " + schema +
			".ReverseIndex ORDER BY word, location_id"}
	}
	same, err := stage.Compare(ctx, server.Admin, query(schema+"_reference"), query(leg))
	if err != nil {
		return err
	}
	say("%s: %s rows as they must be", leg, number(float64(same.Rows)))
	return nil
}
