package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/sluice-db/sluice/test/demo/stage"
)

// ceilingRows is enough for a few seconds of the slowest client.
const ceilingRows = 100_000

// client is a row-by-row loader.
type client struct {
	name    string
	command []string
}

func (b *bench) clients(ctx context.Context) ([]client, error) {
	program, err := b.build(ctx, "goload", "./test/bench/goload")
	if err != nil {
		return nil, err
	}
	return []client{
		{"Perl, literals", perl},
		{"Go, literals", []string{program, "literals"}},
		{"Go, prepared", []string{program, "prepared"}},
	}, nil
}

var perl = []string{"perl", "test/demo/load.pl"}

// ceiling measures what each client gets from a server that does nothing.
func (b *bench) ceiling(ctx context.Context) error {
	clients, err := b.clients(ctx)
	if err != nil {
		return err
	}
	rows := filepath.Join(b.dir, "ceiling.tsv")
	if err := writeIndex(ctx, ceilingRows, rows); err != nil {
		return err
	}
	plain, spinning := make([]samples, len(clients)), make([]samples, len(clients))
	for run := range b.runs {
		for i, c := range clients {
			for _, leg := range []struct {
				spin string
				into *samples
			}{{"0", &plain[i]}, {"50us", &spinning[i]}} {
				loaded, err := b.loadFake(ctx, leg.spin, c.command, rows)
				if err != nil {
					return err
				}
				say("run %d, %s, spin %s: %s rows/s", run+1, c.name, leg.spin, number(loaded.SentRate()))
				*leg.into = append(*leg.into, loaded.SentRate())
			}
		}
	}
	t := &table{title: "ceiling: a server that answers OK at once, TCP, rows/s",
		head: []string{"client", "plain", "", "50 µs of busy polling", ""}}
	for i, c := range clients {
		t.add(c.name, number(plain[i].median()), plain[i].spread(), number(spinning[i].median()), spinning[i].spread())
	}
	b.tables = append(b.tables, t.String())
	return nil
}

// loadFake runs a loader against the fake server.
func (b *bench) loadFake(ctx context.Context, spin string, command []string, rows string) (loaded stage.Loaded, err error) {
	program, err := b.build(ctx, "fake", "./test/bench/fake")
	if err != nil {
		return loaded, err
	}
	port, err := stage.FreePort()
	if err != nil {
		return loaded, err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	fake, err := stage.StartProcess("fake", b.dir, exec.Command(program, "--listen", addr, "--spin", spin))
	if err != nil {
		return loaded, err
	}
	defer func() { err = errors.Join(err, fake.Stop(stopLimit)) }()
	if err := fake.WaitReady(ctx, func() error { return login(ctx, addr) }); err != nil {
		return loaded, err
	}
	return b.load(command, rows, addr, schema).Run(ctx, func(int) {})
}

// load fills in what all loads have in common.
func (b *bench) load(command []string, rows, addr, schema string) stage.Load {
	return stage.Load{Command: command, File: rows, Addr: addr, Schema: schema, User: appUser, Password: password}
}
