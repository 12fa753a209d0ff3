package main

import (
	"context"
	"fmt"
	"reflect"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/sanitize"
)

func (a *app) list(f *fleet) *cobra.Command {
	var watch bool
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all of them",
		Long: `Lists all circuits that Redis knows of. With --watch it lists them again
whenever something has changed, until it is interrupted; with --json each time as
an array of its own.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch && interval <= 0 {
				return fmt.Errorf("--interval is %v, want more than 0", interval)
			}
			return f.with(func(store *redisstore.Store) error {
				all, err := f.readAll(cmd.Context(), store)
				if err != nil {
					return err
				}
				if err := a.table(all); err != nil || !watch {
					return err
				}
				return a.follow(cmd.Context(), f, store, all, interval)
			})
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "go on, and list them again when something has changed")
	cmd.Flags().DurationVar(&interval, "interval", 2*time.Second, "how often --watch looks")
	return cmd
}

// follow lists the circuits whenever they are not as they were, until ctx is over. A
// Redis that is gone is reported once, and waited for.
func (a *app) follow(ctx context.Context, f *fleet, store *redisstore.Store, last []circuit, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	lost := false
	for {
		select {
		case <-ctx.Done():
			return nil // interrupted, which is how it ends
		case <-ticker.C:
		}
		all, err := f.readAll(ctx, store)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !lost {
				say(a.err, "resilientctl: %v\n", sanitize.Error(err))
			}
		case lost || !reflect.DeepEqual(all, last):
			last = all
			if !a.json {
				say(a.out, "\n%s\n", time.Now().Format(time.TimeOnly))
			}
			if err := a.table(all); err != nil {
				return err
			}
		}
		lost = err != nil
	}
}

// table lists circuits.
func (a *app) table(all []circuit) error {
	if a.json {
		return a.write(all)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 3, ' ', 0)
	say(w, "CIRCUIT\tSTATE\tSINCE\tUNTIL\tGENERATION\tFAILURES\tWHY\n")
	for _, c := range all {
		say(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\n", c.Name, c.word(), at(c.Since), at(c.Until), c.Generation, c.Failures, c.why())
	}
	return failed(w.Flush())
}

// why is what the state rests on, as far as there is anything to say.
func (c circuit) why() string {
	switch {
	case c.Problem != "":
		return c.Problem
	case c.ForceUntil != nil:
		return c.Author + ": " + c.Reason
	default:
		return c.Cause
	}
}

func at(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.Format(time.RFC3339)
}
