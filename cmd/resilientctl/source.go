package main

import (
	"errors"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// prefixVariable is what stands for --prefix.
const prefixVariable = "RESILIENCE_PREFIX"

// source is where policies come from.
type source struct {
	prefix, file   string
	config, shared bool
	replicas       int
	budgets        []string
}

func (s *source) flags(cmd *cobra.Command) {
	s.where(cmd, cmd.Flags())
	cmd.Flags().BoolVar(&s.shared, "shared", false, "circuits are shared through a store; implied by the variable PREFIX_CB_STORE")
	cmd.Flags().IntVar(&s.replicas, "replicas", 0, "how many processes of the program run side by side; 0 is unknown")
	budgetsFlag(cmd, &s.budgets)
}

// where are the flags that say where the policies are.
func (s *source) where(cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.StringVar(&s.prefix, "prefix", os.Getenv(prefixVariable), "read environment variables that begin so, such as CLEVERAGENTS; default $"+prefixVariable)
	flags.StringVar(&s.file, "file", "", "read a file instead, or for - the standard input: JSON")
	formFlag(flags, &s.config)
	cmd.MarkFlagsMutuallyExclusive("prefix", "file")
}

// told reports whether anybody has said where the policies are.
func (s *source) told() bool { return s.prefix != "" || s.file != "" || s.config }

const sourceHelp = `
The policies are those of the environment variables that begin with --prefix,
or of --file: the document of overrides, or with --config a whole configuration.
Beneath them are the library's own defaults of services: what a program passes
in Options.Defaults is not known here.`

// registry loads the policies.
func (a *app) registry(s *source) (*policies.Registry, error) {
	options := &policies.Options{Replicas: s.replicas}
	options.Logger = slog.New(slog.DiscardHandler)
	if s.shared || (s.file == "" && os.Getenv(s.prefix+"_CB_STORE") != "") {
		options.Store = breaker.NewMemoryStore(nil) // only that there is one matters
	}
	c, err := a.load(s)
	if err != nil {
		return nil, err
	}
	if options.Budgets, err = budgets(s.budgets, c); err != nil {
		return nil, err
	}
	return policies.Load(c, options)
}

// load reads the configuration.
func (a *app) load(s *source) (policies.Config, error) {
	switch {
	case s.file != "":
		document, err := a.document(s.file)
		return formOf(s.config).Parse(document), err
	case s.config:
		return policies.Config{}, errors.New("--config says what --file is, and there is none")
	case s.prefix == "":
		return policies.Config{}, errors.New("say where the policies are: --prefix, $" + prefixVariable + ", or --file")
	}
	return policies.ParseEnv(s.prefix, nil)
}

// completeServices lists the names of services.
func (a *app) completeServices(s *source) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if s.file == "-" {
			s.file = "" // it is the shell's now
		}
		r, err := a.registry(s)
		if err != nil {
			r, err = policies.Load(policies.Config{}, nil)
		}
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return r.Names(), cobra.ShellCompDirectiveNoFileComp
	}
}
