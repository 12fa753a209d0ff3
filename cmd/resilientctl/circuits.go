package main

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/sanitize"
)

// redisVariable is what stands for --redis.
const redisVariable = "RESILIENCE_REDIS_URL"

// fleet is where the circuits are.
type fleet struct {
	url, namespace string
	timeout        time.Duration
	from           source
	policies       *policies.Registry // nil if nobody has said where they are
}

func (a *app) circuits() *cobra.Command {
	f := &fleet{}
	cmd := &cobra.Command{
		Use:   "circuits",
		Short: "See and steer the circuits that are shared through Redis",
		Long: `Sees and steers the circuits that a fleet shares through Redis. Names are exact:
one that Redis knows nothing of is exit code 4, and nothing is made of it. A
circuit that is closed and healthy and always was leaves no trace in Redis.

Until when an open circuit is open depends on its policy, which is not in Redis:
it is shown if --prefix or --file says where the policies are. One whose time has
passed is probe-due: it lets the next call through.`,
		Args: cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			if !f.from.told() {
				return nil
			}
			if f.policies, err = a.registry(&f.from); err != nil {
				return err
			}
			for _, found := range f.policies.Findings() {
				say(a.err, "%s\n", found)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			say(a.err, "%s", cmd.UsageString())
			return exit{code: exitFailed}
		},
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.url, "redis", "", "URL of the Redis, as redisstore.Open reads it; default $"+redisVariable+", which no list of processes shows")
	flags.StringVar(&f.namespace, "namespace", "", `what the keys begin with (default "stoic")`)
	flags.DurationVar(&f.timeout, "timeout", 5*time.Second, "how long Redis may take for an answer: 1ms to 10s")
	f.from.where(cmd, flags)
	cmd.AddCommand(a.list(f), a.show(f))
	for _, o := range orders {
		cmd.AddCommand(a.steer(f, o))
	}
	return cmd
}

// open makes the store. It does not connect.
func (f *fleet) open() (*redisstore.Store, error) {
	url := f.url
	if url == "" {
		url = os.Getenv(redisVariable)
	}
	if url == "" {
		return nil, errors.New("say where the Redis is: --redis or $" + redisVariable)
	}
	logging.Disable() // what go-redis has to say is in the errors
	return redisstore.Open(url, &redisstore.Options{
		Namespace: f.namespace, Timeout: f.timeout, Logger: slog.New(slog.DiscardHandler),
	})
}

// with runs a function on the store. An error of it that has no code of its own means
// that Redis cannot be reached.
func (f *fleet) with(do func(*redisstore.Store) error) error {
	store, err := f.open()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	err = do(store)
	if _, coded := errors.AsType[exit](err); err == nil || coded {
		return err
	}
	return exit{exitUnreachable, err}
}

// completeCircuits lists the names of circuits. One that is not to be shown as it is
// cannot be completed.
func (f *fleet) completeCircuits(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var shown []string
	f.timeout = min(f.timeout, time.Second)
	err := f.with(func(store *redisstore.Store) error {
		names, err := store.List(cmd.Context())
		for _, name := range names {
			if name != "" && sanitize.Message(name) == name {
				shown = append(shown, name)
			}
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return shown, cobra.ShellCompDirectiveNoFileComp
}
