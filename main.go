// Command sluice is a MySQL wire-protocol proxy for loaders. This package holds
// its commands, signals, wiring and exit codes, and nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-db/sluice/config"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailed  = 1 // sluice was told clearly what to do and could not, or check found that serve would refuse
	exitMisused = 2 // the command line or the configuration is wrong
)

func main() {
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	p := &program{
		args: os.Args[1:], environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr,
		terminal: isatty.IsTerminal(os.Stderr.Fd()),
		signals:  signals,
		// What was acknowledged is in the journal: it is safe to stop anywhere.
		abort: func() { os.Exit(exitFailed) },
	}
	os.Exit(p.run())
}

// program is one run of sluice, with what it takes from the system.
type program struct {
	args, environ  []string
	stdout, stderr io.Writer
	terminal       bool // a person reads stderr
	signals        <-chan os.Signal
	abort          func() // ends the process at once
}

// failure is an error of a command that was properly called.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// run executes the command line and returns the exit code.
func (p *program) run() int {
	root := p.commands()
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	var failed failure
	if errors.As(err, &failed) {
		return exitFailed // the command has said why
	}
	var problems config.Problems
	if errors.As(err, &problems) {
		count := "a mistake"
		if n := len(problems); n > 1 {
			count = fmt.Sprintf("%d mistakes", n)
		}
		fmt.Fprintf(p.stderr, "sluice: the configuration has %s:\n", count)
		for _, one := range problems {
			fmt.Fprintf(p.stderr, "  %s\n", one.Error())
		}
		return exitMisused
	}
	fmt.Fprintf(p.stderr, "sluice: %v\n", err)
	return exitMisused
}

// commands builds the command tree.
func (p *program) commands() *cobra.Command {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "A MySQL proxy that gathers inserts into large ordered statements",
		Long:          overview,
		Example:       serveExample,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(command *cobra.Command, _ []string) error {
			command.SetOut(p.stderr)
			return errors.Join(command.Help(), errors.New("no command is given"))
		},
		Args: noArguments,
	}
	root.SetArgs(p.args)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("sluice {{.Version}}\n")
	root.SetHelpCommand(helpCommand(root))
	root.AddCommand(
		p.configured("serve", "Relay clients to the server and batch their inserts",
			"Runs until SIGTERM or SIGINT, then drains: it accepts nobody, flushes, and exits 0.\nA second signal stops it at once, exit 1; what was acknowledged stays in the journal.", serveExample,
			func(ctx context.Context, cfg *config.Config, log zerolog.Logger) error {
				log.Info().Str("version", version()).Stringer("backend", cfg.Backend).Msg("start")
				if err := runServe(ctx, cfg, log); err != nil {
					log.Error().Err(err).Msg("stopped by an error")
					return err
				}
				log.Info().Msg("stopped")
				return nil
			}),
		p.configured("check", "Say what serve would lack, and how to mend it",
			"Takes the flags of serve. Exits 1 if serve would refuse to start.", checkExample,
			func(ctx context.Context, cfg *config.Config, log zerolog.Logger) error {
				return runCheck(ctx, cfg, p.stdout, log)
			}),
		&cobra.Command{
			Use:   "version",
			Short: "Print the version",
			Args:  noArguments,
			Run: func(*cobra.Command, []string) {
				fmt.Fprintln(p.stdout, "sluice", version())
			},
		},
	)
	return root
}

// What help shows.
const (
	overview = `sluice stands between loaders and a MySQL or MariaDB server. It gathers row-by-row
inserts into large statements in primary-key order and relays everything else.
Point the loader at sluice's port instead of the server's.`
	password     = "  export SLUICE_BACKEND_PASSWORD=...   # of the service account, USER below\n"
	serveExample = password + "  sluice serve --backend mysql://USER@127.0.0.1:3306/ --listen 127.0.0.1:3307 --data-dir DIR"
	checkExample = password + "  sluice check --backend mysql://USER@127.0.0.1:3306/ --data-dir DIR"
)

// helpCommand is cobra's, with an error for a command that does not exist.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say what a command does and takes",
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return errors.Join(err, noArguments(root, rest))
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// configured makes a command that takes every setting as a flag.
func (p *program) configured(use, short, long, example string, run func(context.Context, *config.Config, zerolog.Logger) error) *cobra.Command {
	command := &cobra.Command{
		Use: use + " --FLAG VALUE...", Short: short, Long: short + ".\n\n" + long, Example: example,
		Args: cobra.ArbitraryArgs, DisableFlagParsing: true, DisableFlagsInUseLine: true, // config reads them: all mistakes at once
	}
	command.Flags().SortFlags = false
	flags := config.Bind(command.Flags())
	command.RunE = func(_ *cobra.Command, args []string) error {
		if flags.Parse(args) {
			return command.Help()
		}
		cfg, warnings, err := flags.Load(p.environ)
		if err != nil {
			for _, w := range warnings {
				fmt.Fprintf(p.stderr, "sluice: warning: %s\n", w)
			}
			return err
		}
		log := p.logger(cfg.Log)
		for _, w := range warnings {
			log.Warn().Msg(w)
		}
		ctx, release := untilSignal(p.signals, log, p.abort)
		defer release()
		if err := run(ctx, cfg, log); err != nil {
			return failure{err}
		}
		return nil
	}
	return command
}

// logger writes for a person or for a machine.
func (p *program) logger(opts config.Log) zerolog.Logger {
	out := p.stderr
	if opts.Format == config.LogConsole || opts.Format == config.LogAuto && p.terminal {
		out = zerolog.ConsoleWriter{Out: p.stderr, TimeFormat: time.TimeOnly + ".000", NoColor: !p.terminal}
	}
	level, err := zerolog.ParseLevel(string(opts.Level))
	if err != nil { // config knows the same names; a log that says too much is the better error
		level = zerolog.TraceLevel
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}

// noArguments refuses arguments without repeating them: one may be a backend
// with its password, whose flag was forgotten.
func noArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if command.HasSubCommands() {
		command.SuggestionsMinimumDistance = 2
		meant := ""
		if close := command.SuggestionsFor(args[0]); len(close) > 0 {
			meant = ", did you mean " + strings.Join(close, " or ") + "?"
		}
		return errors.New("unknown command" + meant + "; see sluice --help")
	}
	return fmt.Errorf("%s takes nothing but flags; see %s --help", command.Name(), command.CommandPath())
}

// flagError is for the commands that are not configured. Like noArguments it repeats no
// value.
func flagError(command *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	switch {
	case !errors.As(err, &unknown):
		return fmt.Errorf("%w; see %s --help", err, command.CommandPath())
	case unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("a flag begins with two dashes; see %s --help", command.CommandPath())
	}
	return fmt.Errorf("unknown flag --%s: settings are flags of serve and check, behind the command; see sluice --help", unknown.GetSpecifiedName())
}
