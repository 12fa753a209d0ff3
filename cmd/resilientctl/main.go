// Command resilientctl is the operators' tool. Its subcommands:
//
//	resilientctl explain [SERVICE…]      what the policies in force come to
//	resilientctl plot SERVICE            when the attempts of a call are made, as a chart or SVG
//	resilientctl validate FILE…          what is wrong with a configuration, and where
//	resilientctl schema                  the JSON Schema of a configuration
//	resilientctl circuits list           the shared circuits on Redis
//	resilientctl circuits show NAME      one of them
//	resilientctl circuits force-open|force-closed|disable|release|reset NAME
//	resilientctl redact [FILE…]          take secrets out of text
//	resilientctl completion SHELL        completion for bash, zsh, fish or powershell
//
// All but redact, schema and completion write JSON with --json. It exits with
//
//	0  all went well
//	1  something was found: by validate, or by redact -check
//	2  wrong use, or something could not be done, such as a file that cannot be read
//	3  Redis cannot be reached
//	4  there is no circuit of that name
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/sanitize"
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // err is one
}

// What is exited with.
const (
	exitOK = iota
	exitFound
	exitFailed
	exitUnreachable
	exitUnknown
)

// exit is an error with a code of its own. Any other is exitFailed.
type exit struct {
	code int
	err  error // nil if all is said
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// failed says of an error that has nothing to do with Redis so.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return exit{exitFailed, err}
}

// app is one run.
type app struct {
	streams
	json bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	code := execute(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: isTerminal(os.Stderr)})
	stop()
	os.Exit(code)
}

// run is execute without an end from outside.
func run(args []string, s streams) int { return execute(context.Background(), args, s) }

// execute finds the subcommand, runs it, and returns the exit code.
func execute(ctx context.Context, args []string, s streams) int {
	a := &app{streams: s}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitFailed
	if e, ok := errors.AsType[exit](err); ok {
		code = e.code
	}
	if err.Error() != "" {
		say(s.err, "resilientctl: %v\n", sanitize.Error(err))
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "resilientctl",
		Short:         "The operators' tool of stoic",
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			guess := ""
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				guess = fmt.Sprintf(" (did you mean %q?)", near[0])
			}
			return fmt.Errorf("no command %q%s; %s --help lists them", args[0], guess, cmd.Name())
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			say(a.err, "%s", cmd.UsageString())
			return exit{code: exitFailed}
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().BoolVar(&a.json, "json", false, "write JSON")
	root.AddCommand(a.explain(), a.plot(), a.validate(), a.schema(), a.circuits(), a.redact())
	return root
}

// orUsage is check, which says as well how the command is used.
func orUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return fmt.Errorf("%w; use: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// say prints for people. Where that fails there is nobody to tell.
func say(to io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(to, format, args...) }

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
