package toolguard

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Limits say when a tool is withheld and how it comes back. The zero value of each
// field takes what stands behind it: in [Options].Tools the Options' own limits, there
// the default.
type Limits struct {
	// FailureThreshold is how many errors in a row open the tool's circuit:
	// 1 … 1 000 000, by default 3.
	FailureThreshold int
	// RecoveryTimeout is the first cooldown, how long the tool is withheld: at most
	// 24 h, by default 60 s.
	RecoveryTimeout time.Duration
	// RecoveryMultiplier lets it grow with each probe that fails: 1 (fixed) … 100, by
	// default 2.
	RecoveryMultiplier float64
	// MaxRecoveryTimeout is where that ends: RecoveryTimeout … 24 h, by default 600 s, or
	// the RecoveryTimeout if that is longer.
	MaxRecoveryTimeout time.Duration
	// ProbeLease is how long a turn keeps the place of a probe for the model to use, before
	// the call begins: at most 24 h, by default 2 min. A call that has begun has its
	// Timeout on top, and a margin. For so long the others go on withholding the tool, should
	// the process with the probe die, or the store that it would tell of the outcome.
	ProbeLease time.Duration
	// Timeout is how long a call may take: at most 24 h, by default 30 s, or [NoTimeout].
	// It is to be shorter than the time after which the caller gives up (60 s in many
	// clients): a caller who gives up looks like a cancellation, which does not count, and
	// so a backend that hangs would never be found.
	Timeout time.Duration
}

// NoTimeout is a [Limits].Timeout that leaves the time to the caller.
const NoTimeout time.Duration = -1

// Mode is how a broken tool is kept away from the model. Whatever the mode is,
// [Guard.Begin] refuses its calls. The zero value is Withhold.
type Mode uint8

const (
	// Withhold takes the tool from the list.
	Withhold Mode = iota
	// Mask leaves the list as it is, for the sake of the provider's prompt cache, and has
	// [Turn.Allowed] say which of them the model may choose.
	Mask
	// GuardOnly leaves the list as it is and only refuses the calls: for providers that
	// refuse a list which changes. A probe is claimed when the tool is called.
	GuardOnly
)

// Result is what a call ended with, for [Options].Classify.
type Result struct {
	// Tool is its name, as it was given to Begin.
	Tool string
	// Value is what it returned; nil where only an error is known.
	Value any
	// Err is its error.
	Err error
}

// Options say which tools are watched, and how. A nil *Options is valid, and so is the
// zero value: nothing is watched then, and no store is asked. They are copied by [New];
// the functions are called concurrently, with no lock held, and may use the guard. What
// one of them panics with is logged and goes no further.
type Options struct {
	// Monitor names the tools that are watched.
	Monitor []string
	// MonitorAll watches all. Exclude the tools that the agent's framework supplies with
	// each call (structured output, hand-over, exit): without one of those an agent cannot
	// finish. The integrations do so.
	MonitorAll bool
	// Exclude names tools that are never watched, whatever Monitor and MonitorAll say.
	Exclude []string

	// Limits are those of each tool.
	Limits
	// Tools are the limits of single tools, by name: what is zero in them is taken from
	// Limits.
	Tools map[string]Limits

	// Mode is how a tool is kept away.
	Mode Mode
	// MaxWithheldShare is how much of a turn's list may be kept from the model: 0 … 1, and
	// 0 is 1. Beyond it tools stay in the list, those that are back first, and their calls
	// are refused: for models and providers that cannot do with an empty list.
	MaxWithheldShare float64
	// MaxFailuresPerSession is how many calls with an Error a session may see, of all
	// watched tools together; then all of them are refused. So a model that goes from one
	// broken tool to the next is stopped. 0 is no limit. It needs Session. Failures are
	// counted in this process, also where there is a Store.
	MaxFailuresPerSession int

	// Key says whose tools they are (a tenant, an agent, a session): state is kept for each
	// key and tool. It is only ever shown as a hash. Nil is one key for all.
	Key func(ctx context.Context) string
	// Session names the conversation, for MaxFailuresPerSession; "" has no limit.
	Session func(ctx context.Context) string
	// CheckArguments is asked by [Call] before it asks for the permit; arguments are
	// Call's own. Its error ends the call, and counts for nothing. Nil checks nothing.
	CheckArguments func(ctx context.Context, tool string, arguments any) error
	// Classify judges what neither the error's type nor the context has judged; an err of
	// nil too, for tools that put their failures into the result. It returns false where it
	// has no opinion: then nil is a Success, and anything else an Error.
	Classify func(ctx context.Context, r Result) (o Outcome, ok bool)

	// Switch turns the guard off with the circuits of all that have the same one, for
	// incidents, such as that of a registry: turns withhold nothing and every call is let
	// through, also in a session that has had its failures, with the tool's own time limit;
	// nothing counts, but what began before. What is known stays. Its retries are no
	// concern of the guard's. Nil leaves the guard on.
	Switch *resilient.Switch
	// Store shares what is known of each key and tool with all guards on the same store.
	Store breaker.Store
	// MaxCircuits is how many pairs of key and tool are kept in mind: 10 000 unless more
	// than 0. Those that were not used for longest are forgotten first, and their circuits
	// closed (see [breaker.Circuit.Close]), so that a shared one loses nothing; those that
	// are open not before their time, unless there are twice as many. As many sessions are
	// kept in mind, of those with failures.
	MaxCircuits int

	// Observers are told of each transition, by a [ToolChanged], of a store that is lost and
	// back, by a [StoreChanged], and of nothing else.
	Observers []resilient.Observer
	// Logger takes a record for each of these, and faults of the functions in these
	// options. Nil means slog.Default(), as it is at that moment.
	Logger *slog.Logger
}
