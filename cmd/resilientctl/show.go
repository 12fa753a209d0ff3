package main

import (
	"context"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

func (a *app) show(f *fleet) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show one of them",
		Args:  orUsage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(func(store *redisstore.Store) error {
				if err := demand(cmd.Context(), store, args[0]); err != nil {
					return err
				}
				return a.send(cmd.Context(), f, store, args[0], breaker.Command{Kind: breaker.Read})
			})
		},
		ValidArgsFunction: f.completeCircuits,
	}
}

// send carries out a command, and shows the circuit as it is then.
func (a *app) send(ctx context.Context, f *fleet, store *redisstore.Store, name string, c breaker.Command) error {
	c.Settings = settings()
	answer, err := store.Do(ctx, name, c)
	if err != nil {
		if legible(err) {
			err = failed(err)
		}
		return err
	}
	one := f.view(name, answer)
	if a.json {
		return a.write(one)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" && value != "-" {
			say(w, "%s\t%s\n", name, value)
		}
	}
	line("circuit", one.Name)
	line("state", one.word())
	line("beneath", one.Beneath)
	line("since", at(one.Since))
	line("until", at(one.Until))
	line("last order by", one.Author)
	line("reason", one.Reason)
	line("ordered", at(one.Ordered))
	say(w, "generation\t%d\nfailures\t%d\n", one.Generation, one.Failures)
	line("last failure", at(one.LastFailure))
	line("cause", one.Cause)
	if one.State == breaker.HalfOpen.String() {
		say(w, "probes out\t%d\nsuccesses\t%d\n", one.Probes, one.Successes)
	}
	return failed(w.Flush())
}
