package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/sanitize"
)

// order is what an operator can want of a circuit.
type order struct {
	name, about string
	force       breaker.Force
	reset       bool
}

var orders = []order{
	{name: "force-open", about: "Let it reject everything for a while", force: breaker.ForceOpen},
	{name: "force-closed", about: "Let it admit everything and count nothing for a while", force: breaker.ForceClosed},
	{name: "disable", about: "Switch it off for a while", force: breaker.ForceDisabled},
	{name: "release", about: "Lift what is forced on it"},
	{name: "reset", about: "Close it, lift what is forced on it, and clear its counts", reset: true},
}

// untold is the reason of those orders that need none.
const untold = "not told"

func (a *app) steer(f *fleet, o order) *cobra.Command {
	var create bool
	given := breaker.Order{Force: o.force, Reset: o.reset}
	cmd := &cobra.Command{
		Use:   o.name + " NAME",
		Short: o.about,
		Args:  orUsage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case given.Author == "":
				return errors.New("say who wants it: --author, or $USER")
			case given.Reason == "":
				return errors.New("say why: --reason")
			}
			if err := given.Validate(); err != nil {
				return err
			}
			given.Author, given.Reason = sanitize.Message(given.Author), sanitize.Message(given.Reason)
			return f.with(func(store *redisstore.Store) error {
				if !create {
					if err := demand(cmd.Context(), store, args[0]); err != nil {
						return err
					}
				}
				return a.send(cmd.Context(), f, store, args[0], breaker.Command{Kind: breaker.Operate, ID: rand.Uint64() | 1, Order: given})
			})
		},
		ValidArgsFunction: f.completeCircuits,
	}
	flags := cmd.Flags()
	flags.StringVar(&given.Author, "author", userName(), "who wants it; default $USER")
	if o.force == breaker.NoForce {
		flags.StringVar(&given.Reason, "reason", untold, "why")
		return cmd
	}
	flags.StringVar(&given.Reason, "reason", "", "why: for those who wonder later (required)")
	flags.DurationVar(&given.For, "for", time.Hour, "how long it holds: at most 720h")
	flags.BoolVar(&create, "create", false, "also of a circuit that Redis knows nothing of, as of one that never failed")
	return cmd
}

func userName() string {
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return os.Getenv("USERNAME") // Windows
}
