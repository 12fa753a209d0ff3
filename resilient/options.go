package resilient

import (
	"log/slog"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Outcome is what an attempt says about the dependency's health.
type Outcome = breaker.Outcome

const (
	// OutcomeUnjudged is a classifier's way of having no opinion.
	OutcomeUnjudged = breaker.Unjudged
	// OutcomeSuccess says that the dependency answered, be it with a "no".
	OutcomeSuccess = breaker.Success
	// OutcomeFailure says that the dependency did not do its work.
	OutcomeFailure = breaker.Failure
	// OutcomeNeutral says nothing about the dependency.
	OutcomeNeutral = breaker.Neutral
)

// Options wire a guard to the program round it. A nil *Options is valid, and so
// is the zero value. It is copied by [NewGuard]; the functions in it are called
// concurrently, with no lock held, and may use the guard.
type Options struct {
	// Classify judges an error that nothing else has judged (see [Execute]). It
	// returns OutcomeUnjudged where it has no opinion; the error is a failure then.
	// Any outcome but a failure ends the call, without a retry.
	// [Chain] makes one of several.
	Classify func(err error) Outcome
	// AttemptLimits end calls early whose attempts fail in particular ways. They are
	// asked about errors that are to be retried.
	AttemptLimits []AttemptLimit
	// Budgets are the retry budgets that policies may name, by their names. A policy
	// that names another one is refused.
	Budgets map[string]*Budget
	// Switch turns retries and circuits off, for all the guards that have the same one.
	// Nil leaves them on.
	Switch *Switch
	// Cap is for tests: it holds attempts and waits below what policies say. Nil caps
	// nothing.
	Cap *Cap
	// Observers are told of what happens, in this order. What one of them panics
	// with goes to Logger and no further.
	Observers []Observer
	// Logger takes the guard's own records: retries, transitions of the circuit,
	// faults of the functions in these options. Nil means slog.Default(), as it is
	// at that moment.
	Logger *slog.Logger
	// ReadOnlyPlan reports whether a phase, as [Op.InPlan] was given it, is one in
	// which a plan only reads. Nil means that none is. Package policies has one.
	ReadOnlyPlan func(phase any) bool
	// Store shares the guard's circuit with all processes that have a guard of the same
	// name on the same store. Nil keeps it in this process; so does the policy, where
	// its Circuit.Local is set.
	Store breaker.Store
	// Replay is for tests. If it is set, the function of each idempotent op that has
	// succeeded is run twice, but not where ReadOnlyPlan forbids the op's tools to be
	// repeated, nor when the call's time is over. The caller gets what the first run
	// returned. Leave it nil in programs: an op that is not what it is declared to be
	// does its harm.
	Replay ReplayFunc
}
