package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-db/sluice/test/demo/index"
	"github.com/sluice-db/sluice/test/demo/stage"
)

// The demo's accounts: the loader's user, and the service account with which
// sluice applies what it has acknowledged.
const (
	appUser     = "loader"
	serviceUser = "sluice"
)

// perTransaction is how many rows the loader commits at once when it does not autocommit.
const perTransaction = 1000

const createTable = `CREATE TABLE %s.ReverseIndex (
	word VARCHAR(64) NOT NULL, score FLOAT NOT NULL, location_id INT UNSIGNED NOT NULL, y SMALLINT NOT NULL,
	PRIMARY KEY (word, location_id), KEY location (location_id)) ENGINE=InnoDB`

// demo is one run.
type demo struct {
	options  options
	password string
	screen   *screen
	server   *stage.Server
	rows     string // the file with the index
}

// leg is one load of the index into a schema of its own.
type leg struct {
	name           string
	schema         string
	perTransaction int
	far            bool // over the delay
	sluice         bool

	loaded stage.Loaded
}

func newDemo(o options) *demo {
	return &demo{options: o, password: rand.Text(), screen: newScreen(os.Stdout)}
}

func legs() []*leg {
	return []*leg{
		{name: "autocommit, direct", schema: "demo_auto_direct"},
		{name: "autocommit, sluice", schema: "demo_auto_sluice", sluice: true},
		{name: "transactions, direct", schema: "demo_tx_direct", perTransaction: perTransaction},
		{name: "transactions, sluice", schema: "demo_tx_sluice", perTransaction: perTransaction, sluice: true},
		{name: "autocommit over %s, direct", schema: "demo_far_auto_direct", far: true},
		{name: "autocommit over %s, sluice", schema: "demo_far_auto_sluice", far: true, sluice: true},
		{name: "transactions over %s, direct", schema: "demo_far_tx_direct", perTransaction: perTransaction, far: true},
		{name: "transactions over %s, sluice", schema: "demo_far_tx_sluice", perTransaction: perTransaction, far: true, sluice: true},
	}
}

func (d *demo) run(ctx context.Context) (err error) {
	if err := d.buildSluice(ctx); err != nil {
		return err
	}
	if err := d.writeIndex(ctx); err != nil {
		return err
	}
	d.screen.say("starting a private MariaDB server with a buffer pool of %s", d.options.bufferPool)
	if d.server, err = stage.StartMariaDB(ctx, stage.ServerOptions{Dir: d.options.dir, BufferPool: d.options.bufferPool}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.server.Stop()) }()
	legs := legs()
	for _, l := range legs {
		if l.far {
			l.name = strings.Replace(l.name, "%s", spaced(d.options.delay), 1)
		}
	}
	if err := d.accounts(ctx, legs); err != nil {
		return err
	}
	if err := d.near(ctx, legs[:4]); err != nil {
		return err
	}
	if err := d.distant(ctx, legs[4:]); err != nil {
		return err
	}
	same, err := d.compare(ctx, legs)
	if err != nil {
		return err
	}
	largest := slices.MaxFunc(legs, func(a, b *leg) int { return cmp.Compare(a.loaded.Count, b.loaded.Count) })
	size, err := d.server.TableBytes(ctx, largest.schema, "ReverseIndex")
	if err != nil {
		return err
	}
	d.screen.results(d, legs, same, size)
	return nil
}

// buildSluice leaves the program's path in the options.
func (d *demo) buildSluice(ctx context.Context) error {
	if d.options.sluice != "" {
		return nil
	}
	d.screen.say("building sluice")
	d.options.sluice = filepath.Join(d.options.dir, "sluice")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", d.options.sluice, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped
	out, err := build.CombinedOutput()
	if err != nil {
		return fmt.Errorf("build sluice: %w\n%s", err, out)
	}
	return nil
}

func (d *demo) writeIndex(ctx context.Context) error {
	root := d.options.text
	if root == "" {
		out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		if err != nil {
			return fmt.Errorf("find Go's source tree: %w", err)
		}
		root = filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	d.screen.say("indexing the text in %s", root)
	d.rows = filepath.Join(d.options.dir, "index.tsv")
	file, err := os.Create(d.rows)
	if err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	summary, err := index.Write(file, index.Options{Root: root, Rows: d.options.rows})
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	d.screen.say("%s rows: one for each of %s words in each of %s files",
		thousands(summary.Rows), thousands(summary.Words), thousands(summary.Files))
	return nil
}

// accounts makes the schemas, the loader's user and the service account with
// the rights that it needs and no others.
func (d *demo) accounts(ctx context.Context, legs []*leg) error {
	statements := []string{
		"CREATE DATABASE sluice",
		fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", appUser, d.password),
		fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", serviceUser, d.password),
		fmt.Sprintf("GRANT CREATE, SELECT, INSERT, UPDATE, DELETE ON sluice.* TO %s@'127.0.0.1'", serviceUser),
	}
	for _, l := range legs {
		statements = append(statements,
			"CREATE DATABASE "+l.schema,
			fmt.Sprintf(createTable, l.schema),
			fmt.Sprintf("GRANT SELECT, INSERT ON %s.* TO %s@'127.0.0.1'", l.schema, appUser))
		if l.sluice {
			statements = append(statements,
				fmt.Sprintf("GRANT SELECT, INSERT, TRIGGER ON %s.* TO %s@'127.0.0.1'", l.schema, serviceUser))
		}
	}
	return d.server.Exec(ctx, statements...)
}

// near runs the legs against the server as it stands.
func (d *demo) near(ctx context.Context, legs []*leg) error {
	return d.loadAll(ctx, "sluice-near", d.server.Addr, legs)
}

// distant runs the legs with the relay in front of the server, for the direct
// loads and for sluice alike.
func (d *demo) distant(ctx context.Context, legs []*leg) (err error) {
	relay, err := stage.StartRelay(d.server.Addr, d.options.delay)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, relay.Close()) }()
	return d.loadAll(ctx, "sluice-far", relay.Addr(), legs)
}

func (d *demo) loadAll(ctx context.Context, name, backend string, legs []*leg) (err error) {
	sluice, err := stage.StartSluice(ctx, stage.SluiceOptions{
		Binary: d.options.sluice, Dir: d.options.dir, Name: name,
		Backend: backend, User: serviceUser, Password: d.password,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sluice.Stop()) }()
	for _, l := range legs {
		load := stage.Load{
			Command: []string{"perl", "test/demo/load.pl"}, File: d.rows, PerTransaction: l.perTransaction,
			Limit: d.options.limit,
			Addr:  backend, Schema: l.schema, User: appUser, Password: d.password,
		}
		switch {
		case l.sluice:
			load.Addr, load.Sluice = sluice.Addr, sluice
		case l.far:
			load.Limit = d.options.farLimit
		}
		if l.loaded, err = d.screen.watch(ctx, l.name, load); err != nil {
			err = fmt.Errorf("%s: %w", l.name, err)
			if l.sluice {
				err = fmt.Errorf("%w\n%s", err, sluice.Tail(15))
			}
			return err
		}
		if err := d.server.Settle(ctx, l.schema+".ReverseIndex"); err != nil {
			return err
		}
	}
	return nil
}

// compare holds every table against a reference with the rows that its loader
// sent. It gives what the complete tables have in common.
func (d *demo) compare(ctx context.Context, legs []*leg) (stage.Same, error) {
	var most stage.Same
	references := map[int]string{}
	for _, l := range legs {
		rows := l.loaded.Rows
		if references[rows] == "" {
			references[rows] = fmt.Sprintf("demo_reference_%d", rows)
			if err := d.loadReference(ctx, references[rows], rows); err != nil {
				return most, err
			}
		}
		same, err := stage.Compare(ctx, d.server.Admin, selection(references[rows]), selection(l.schema))
		if err != nil {
			return most, err
		}
		if same.Rows != l.loaded.Count {
			return most, fmt.Errorf("%w: the loader counted %d rows in %s, there are %d",
				stage.ErrDiffer, l.loaded.Count, l.schema, same.Rows)
		}
		d.screen.say("%-32s %9s rows equal, checksum %016x", l.name, thousands(same.Rows), same.Checksum)
		if same.Rows > most.Rows {
			most = same
		}
	}
	return most, nil
}

// loadReference loads the first rows of the index in their own order, directly
// and many to a statement: the table that every loader of these rows must get.
func (d *demo) loadReference(ctx context.Context, schema string, rows int) error {
	if err := d.server.Exec(ctx, "CREATE DATABASE "+schema, fmt.Sprintf(createTable, schema)); err != nil {
		return err
	}
	return stage.LoadRows(ctx, d.server.Admin, "INSERT IGNORE INTO "+schema+".ReverseIndex (word, score, location_id, y)", d.rows, rows)
}

// selection reads a table in key order. A FLOAT is shown with all its bits.
func selection(schema string) stage.Selection {
	return stage.Selection{
		Name:  schema,
		Query: "SELECT word, score + 0e0, location_id, y FROM " + schema + ".ReverseIndex ORDER BY word, location_id",
	}
}
