package policies

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// Options wire a registry to the program. A nil *Options is valid, and so is the
// zero value. What it points to is copied.
type Options struct {
	// Options are those of every guard. Their Logger takes the findings too. Without
	// a ReadOnlyPlan of its own every guard asks [ReadOnlyPlan]; without a Switch the
	// registry has one of its own: see [Registry.Switch].
	resilient.Options
	// Defaults are the services and what they begin with; nil means
	// [AgentPlatform].
	Defaults *Defaults
	// LookupEnv finds environment variables; nil means os.LookupEnv.
	LookupEnv func(name string) (value string, isSet bool)
	// Environ lists environment variables as os.Environ does, so that misspelt ones
	// are reported. Nil means os.Environ if LookupEnv is nil too, else that they are
	// not looked for.
	Environ func() []string
	// MaxLazyGuards is how many services that nothing names get a guard of their
	// own; the further ones share one. 0 means 10 000.
	MaxLazyGuards int
	// Replicas is how many processes of the program run side by side, for
	// [Registry.Explain] to judge by. 0 means that nobody knows; with a Store it takes it
	// that there are several.
	Replicas int
	// WatchInterval is how often [Registry.Watch] looks at its file. 0 means 2 s.
	WatchInterval time.Duration
}

const defaultMaxLazyGuards = 10_000

// filled returns the options with every default in its place.
func (o *Options) filled() (Options, error) {
	var own Options
	if o != nil {
		own = *o
	}
	// Lazy guards read these later.
	own.Observers = slices.Clone(own.Observers)
	own.AttemptLimits = slices.Clone(own.AttemptLimits)
	own.Budgets = maps.Clone(own.Budgets)
	if own.Cap != nil {
		own.Cap = new(*own.Cap)
	}
	if own.Switch == nil {
		own.Switch = &resilient.Switch{Logger: own.Logger}
	}
	if own.ReadOnlyPlan == nil {
		own.ReadOnlyPlan = ReadOnlyPlan
	}
	if err := checkBudgets(own.Budgets); err != nil {
		return Options{}, err
	}
	defaults := AgentPlatform()
	if own.Defaults != nil {
		defaults = own.Defaults.clone()
	}
	own.Defaults = &defaults
	if err := defaults.validate(budgetsOf(&own.Options)); err != nil {
		return Options{}, fmt.Errorf("policies: Options.Defaults: %w", err)
	}
	if own.MaxLazyGuards < 0 {
		return Options{}, fmt.Errorf("policies: Options.MaxLazyGuards is %d, want 0 (which means %d) or more", own.MaxLazyGuards, defaultMaxLazyGuards)
	}
	if own.WatchInterval < 0 {
		return Options{}, fmt.Errorf("policies: Options.WatchInterval is %v, want 0 (which means %v) or more", own.WatchInterval, watchInterval)
	}
	if own.Replicas < 0 {
		return Options{}, fmt.Errorf("policies: Options.Replicas is %d, want 0 (unknown) or more", own.Replicas)
	}
	if own.MaxLazyGuards == 0 {
		own.MaxLazyGuards = defaultMaxLazyGuards
	}
	return own, nil
}
