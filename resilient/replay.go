package resilient

import (
	"context"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// ReplayFunc is the replay mode, which finds ops in tests that are declared
// idempotent and are not. Package resilienttest makes one; see [Options].Replay.
//
// It is called when the function of an idempotent op has succeeded, with the
// function's context. The function is run once more then, at once, and done is
// called with how the guard judges what that ended with, and with the error,
// secrets taken out of its text: nil, or the function's own, or a *[PanicError].
// If done is nil there is no second run. What either of the two panics with is
// logged and goes no further.
type ReplayFunc func(ctx context.Context, call Call) (done func(outcome Outcome, err error))

// replay runs a function that has succeeded once more, if its op may be repeated.
// The second run belongs to the attempt of the first, and leaves no trace in it:
// it is no attempt for the circuit, for observers or for the limit of attempts,
// and what it returns is dropped.
func (g *Guard) replay(ctx context.Context, op *Op, again func(ctx context.Context) error) {
	if !op.Idempotent() || g.onlyReads(op) || ctx.Err() != nil {
		return
	}
	done := g.replaying(ctx, op)
	if done == nil {
		return
	}
	contained(func() error { return again(ctx) }, func(err error) {
		defer g.journal().Contain("Replay", nil)
		outcome := breaker.Success
		if err != nil {
			outcome = g.judge(ctx, err).outcome
		}
		done(outcome, sanitize.Error(err))
	})
}

// replaying asks for a second run. A hook that panics wants none.
func (g *Guard) replaying(ctx context.Context, op *Op) (done func(outcome Outcome, err error)) {
	defer g.journal().Contain("Replay", nil)
	return g.options.Replay(ctx, g.names(op.name))
}
