package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"github.com/sluice-db/sluice/backend"
	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/config"
	"github.com/sluice-db/sluice/proxy"
)

// finding is one thing that check looked at.
type finding struct {
	about   string // what was looked at
	lacks   string // what is wrong with it, empty if nothing is
	mend    string // what to do about it
	refuses bool   // serve would not start
	note    bool   // nothing is lacking: something to know
}

// errRefused is what check ends with when serve would refuse.
var errRefused = errors.New("serve would refuse to start")

// runCheck looks at what serve needs and prints what is lacking.
func runCheck(ctx context.Context, cfg *config.Config, out io.Writer, log zerolog.Logger) error {
	log.Debug().Msg("check")
	var findings []finding
	var summary journal.Summary
	if dir := ownedDir(cfg); dir != "" {
		findings, summary = checkDataDir(dir)
	}
	findings = append(findings, checkListeners(cfg)...)
	toServer, secured := checkTLS(cfg)
	findings = append(append(findings, secured...), checkAccount(cfg.Backend))
	findings = append(findings, checkServer(ctx, cfg, toServer, summary)...)
	return report(out, append(findings, byHost))
}

// report prints the findings and returns errRefused if one of them is grave.
func report(out io.Writer, findings []finding) error {
	var err error
	for _, f := range findings {
		switch {
		case f.lacks == "":
			fmt.Fprintf(out, "ok       %s\n", f.about)
			continue
		case f.note:
			fmt.Fprintf(out, "note     %s: %s\n", f.about, f.lacks)
		case f.refuses:
			err = errRefused
			fmt.Fprintf(out, "refused  %s: %s\n", f.about, f.lacks)
		default:
			fmt.Fprintf(out, "lacking  %s: %s\n", f.about, f.lacks)
		}
		if f.mend != "" {
			fmt.Fprintf(out, "         %s\n", f.mend)
		}
	}
	if err != nil {
		fmt.Fprintln(out, "serve would refuse to start")
	} else {
		fmt.Fprintln(out, "serve would start")
	}
	return err
}

// checkListeners tries the addresses that serve would listen on, all at once.
func checkListeners(cfg *config.Config) []finding {
	var findings []finding
	var addresses []proxy.Address
	add := func(about, network, address string) {
		findings = append(findings, finding{about: about + " " + address, refuses: true})
		addresses = append(addresses, proxy.Address{Network: network, Addr: address})
	}
	for _, l := range cfg.Listen {
		add("listen", l.Network, l.Address)
	}
	if cfg.HTTP != "" {
		add("http", "tcp", cfg.HTTP)
	}
	for i, err := range proxy.Listenable(addresses...) {
		if err != nil {
			findings[i].lacks = err.Error()
		}
	}
	return findings
}

// checkDataDir looks for a directory that can be written, or made, reads what is there as
// serve would at its start, and leaves nothing behind.
func checkDataDir(dir string) ([]finding, journal.Summary) {
	place := finding{about: "data directory " + dir, refuses: true}
	if place.lacks = writable(dir); place.lacks != "" {
		place.mend = fmt.Sprintf("name another with --data-dir, or: mkdir -p %s && chown %d %s", dir, os.Getuid(), dir)
	}
	findings := []finding{place}
	var summary journal.Summary
	read := func(kind, dir string, look func() error) {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 || errors.Is(err, os.ErrNotExist) {
			return // serve makes it
		}
		f := finding{about: kind + " " + dir, refuses: true, lacks: writable(dir)}
		if f.lacks == "" {
			if err := look(); err != nil {
				f.lacks = ownFiles(err).Error()
			}
		}
		findings = append(findings, f)
	}
	read("journal", journalDir(dir), func() (err error) {
		summary, err = journal.Info(journal.Options{Dir: journalDir(dir)})
		return err
	})
	read("reject log", rejectsDir(dir), func() error {
		return journal.CheckRejects(journal.RejectOptions{Dir: rejectsDir(dir)})
	})
	return findings, summary
}

// writable says why files cannot be made in a directory, or the directory itself; empty
// if they can.
func writable(dir string) string {
	place := dir // dir, or what is there of its path
	info, err := os.Stat(place)
	for errors.Is(err, os.ErrNotExist) && filepath.Dir(place) != place {
		place = filepath.Dir(place)
		info, err = os.Stat(place)
	}
	switch {
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return place + " is not a directory"
	case unix.Access(place, unix.W_OK|unix.X_OK) != nil:
		return fmt.Sprintf("user %d cannot write to %s", os.Getuid(), place)
	}
	trial, err := os.MkdirTemp(place, ".sluice-check-")
	if err == nil {
		err = os.Remove(trial)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// checkTLS loads what TLS takes on both sides, and returns that to the server.
func checkTLS(cfg *config.Config) (*wire.TLS, []finding) {
	var findings []finding
	refused := func(about string, err error) {
		if err != nil {
			findings = append(findings, finding{about: about, lacks: err.Error(), refuses: true, mend: "mend the file, or name another"})
		}
	}
	clients, err := clientTLS(cfg.TLS, func() (tls.Certificate, error) { return trialCertificate(ownedDir(cfg)) })
	refused("TLS to clients", err)
	server, err := backendTLS(cfg.Backend)
	refused("TLS to the server", err)
	for _, o := range outdated(cfg, clients, server) {
		findings = append(findings, finding{about: "certificate", lacks: o, mend: "renew it: peers that look refuse it"})
	}
	return server, findings
}

// checkAccount looks for a service account.
func checkAccount(b config.Backend) finding {
	f := finding{about: "service account"}
	if !b.HasServiceAccount() {
		f.lacks = "none is named, so autocommit inserts are relayed one by one and only transactions are batched"
		f.mend = "create an account for sluice and write mysql://USER@HOST:PORT/ in --backend, its password in SLUICE_BACKEND_PASSWORD"
	}
	return f
}

// byHost is to be known in any case.
var byHost = finding{about: "accounts by host", note: true, lacks: "grants by host and REQUIRE X509 see sluice's address and link, not the client's",
	mend: "let the accounts that log in through sluice be 'user'@'ADDRESS OF SLUICE'"}

// checkServer looks at the server's TLS and, with a service account, at that one's rights
// and at the server's settings. t is nil too if it could not be loaded: nothing is asked then.
func checkServer(ctx context.Context, cfg *config.Config, t *wire.TLS, summary journal.Summary) []finding {
	b := cfg.Backend
	if t == nil && b.TLS.On() {
		return nil
	}
	server := finding{about: "server " + b.Address}
	var found []backend.Finding
	var err error
	if b.HasServiceAccount() {
		found, err = backend.Inspect(ctx, account(b, t), cfg.Checkpoint.Schema, identityPath(cfg.DataDir), summary)
		server.refuses = err != nil && !backend.Passes(err)
	} else if err = relayable(b); err != nil {
		server.refuses = true
	} else {
		_, err = backend.Greet(ctx, account(b, t))
	}
	switch {
	case err == nil:
	case errors.Is(err, backend.ErrTLS):
		server.mend = "name its CA in backend.tls.ca and its name in backend.tls.server_name, or write another ?tls= into --backend"
	case server.refuses:
	case b.HasServiceAccount():
		server.mend = "start the server: serve would wait for it"
	default:
		server.mend = "start the server: serve would refuse clients until then"
	}
	if err != nil {
		server.lacks = err.Error()
	}
	findings := []finding{server}
	for _, f := range found {
		findings = append(findings, finding{about: "server", lacks: f.What, mend: f.Mend, refuses: f.Refuses, note: f.Note})
	}
	return findings
}
