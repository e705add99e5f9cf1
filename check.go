package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"github.com/sluice-db/sluice/backend"
	"github.com/sluice-db/sluice/backend/journal"
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
	findings := []finding{checkDataDir(cfg.DataDir)}
	journaled, summary := checkJournal(cfg)
	findings = append(findings, journaled...)
	findings = append(findings, checkListeners(cfg)...)
	findings = append(findings, checkAccount(cfg.Backend))
	return report(out, append(findings, checkServer(ctx, cfg, summary)...))
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

// checkJournal reads the journal that is there, if any, as serve would at its start.
func checkJournal(cfg *config.Config) ([]finding, journal.Summary) {
	dir := journalDir(cfg.DataDir)
	if _, err := os.Stat(dir); err != nil {
		return nil, journal.Summary{}
	}
	f := finding{about: "journal " + dir}
	summary, err := journal.Info(journal.Options{Dir: dir})
	if err != nil {
		f.lacks, f.refuses = err.Error(), true
	}
	return []finding{f}, summary
}

// checkListeners tries the addresses that serve would listen on.
func checkListeners(cfg *config.Config) []finding {
	var findings []finding
	try := func(about, network, address string) {
		f := finding{about: about + " " + address}
		if err := proxy.Listenable(proxy.Address{Network: network, Addr: address}); err != nil {
			f.lacks, f.refuses = err.Error(), true
		}
		findings = append(findings, f)
	}
	for _, l := range cfg.Listen {
		try("listen", l.Network, l.Address)
	}
	if cfg.HTTP != "" {
		try("http", "tcp", cfg.HTTP)
	}
	return findings
}

// checkDataDir looks for a directory that can be written, or made, and leaves nothing
// behind.
func checkDataDir(dir string) finding {
	f := finding{about: "data directory " + dir, refuses: true}
	place := dir // dir, or what is there of its path
	info, err := os.Stat(place)
	for errors.Is(err, os.ErrNotExist) && filepath.Dir(place) != place {
		place = filepath.Dir(place)
		info, err = os.Stat(place)
	}
	switch {
	case err != nil:
		f.lacks = err.Error()
	case !info.IsDir():
		f.lacks = place + " is not a directory"
	case unix.Access(place, unix.W_OK|unix.X_OK) != nil:
		f.lacks = fmt.Sprintf("user %d cannot write to %s", os.Getuid(), place)
	default:
		trial, err := os.MkdirTemp(place, ".sluice-check-")
		if err == nil {
			err = os.Remove(trial)
		}
		if err != nil {
			f.lacks = err.Error()
		}
	}
	if f.lacks != "" {
		f.mend = fmt.Sprintf("name another with --data-dir, or: mkdir -p %s && chown %d %s", dir, os.Getuid(), dir)
	}
	return f
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

// checkServer logs the service account in and looks at its rights and at the
// server's settings.
func checkServer(ctx context.Context, cfg *config.Config, summary journal.Summary) []finding {
	hosts := finding{about: "accounts by host", note: true, lacks: "grants by host and REQUIRE X509 see sluice's address and link, not the client's",
		mend: "let the accounts that log in through sluice be 'user'@'ADDRESS OF SLUICE'"}
	b := cfg.Backend
	if !b.HasServiceAccount() {
		if b.Network == "unix" {
			return []finding{hosts, {about: "backend", refuses: true,
				lacks: "through a socket the server trusts sluice's own user, and without a service account sluice cannot see which accounts do",
				mend:  "use TCP in --backend, or name a service account with SELECT on mysql.*"}}
		}
		return []finding{hosts}
	}
	server := finding{about: "server " + b.Address}
	t, err := backendTLS(b)
	if err != nil {
		return []finding{{about: "TLS to the server", lacks: err.Error(), refuses: true, mend: "mend the file, or name another"}, hosts}
	}
	found, err := backend.Inspect(ctx, account(b, t), cfg.Checkpoint.Schema, identityPath(cfg.DataDir), summary)
	if err != nil {
		server.lacks, server.refuses = err.Error(), !backend.Passes(err)
		if !server.refuses {
			server.mend = "start the server: serve would wait for it"
		} else if errors.Is(err, backend.ErrTLS) {
			server.mend = "name its CA in backend.tls.ca and its name in backend.tls.server_name, or write another ?tls= into --backend"
		}
		return []finding{server, hosts}
	}
	findings := []finding{server}
	for _, f := range found {
		findings = append(findings, finding{about: "server", lacks: f.What, mend: f.Mend, refuses: f.Refuses, note: f.Note})
	}
	return append(findings, hosts)
}
