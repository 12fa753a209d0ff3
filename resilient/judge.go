package resilient

import (
	"context"
	"errors"

	"github.com/avast/retry-go/v4"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// verdict is what one error means for the circuit and for the call.
type verdict struct {
	outcome breaker.Outcome
	retry   bool // another attempt may help
	findings
}

// judge decides on an error that is not nil. ctx is the caller's context. An error
// whose methods panic, as those of a typed nil do, is judged by what could be seen
// of it.
func (g *Guard) judge(ctx context.Context, err error) (v verdict) {
	defer g.journal().Contain("error", func() {
		v.outcome = breaker.Failure
		if v.seen.has(sawNeutral) || v.seen.has(sawRejected) && !v.seen.has(sawExhausted) {
			v.outcome = breaker.Neutral
		}
		v.retry = !v.seen.has(endsRetries)
	})
	v.scan(err)
	switch {
	case v.seen.has(sawNeutral):
		v.outcome = breaker.Neutral
	case v.seen.has(sawPermanent | sawExhausted | sawPanic):
		v.outcome = breaker.Failure
	case v.seen.has(sawRejected):
		// Nothing ran, so nothing was learnt about this guard's own dependency.
		v.outcome = breaker.Neutral
	case !retry.IsRecoverable(err): // retry-go's own mark for a permanent error
		v.outcome = breaker.Failure
	case isCancellation(ctx, err):
		v.outcome = breaker.Neutral
	default:
		v.outcome = g.classify(err)
		v.retry = v.outcome == breaker.Failure
	}
	return v
}

// isCancellation reports whether the error is the cancellation of the caller's
// context: a caller who gave up says nothing about the dependency. An expired
// deadline is not one: a hung dependency shows itself in just that way.
func isCancellation(ctx context.Context, err error) bool {
	if ctx.Err() != context.Canceled {
		return false
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))
}

// classify asks the user's classifier. One that panics has no opinion.
func (g *Guard) classify(err error) (outcome breaker.Outcome) {
	if g.options.Classify == nil {
		return breaker.Failure
	}
	defer g.journal().Contain("Classify", func() { outcome = breaker.Failure })
	outcome = g.options.Classify(err)
	if outcome != breaker.Success && outcome != breaker.Neutral {
		outcome = breaker.Failure
	}
	return outcome
}

// repeatable reports whether the policy and the op allow more than one attempt.
func (g *Guard) repeatable(p *plan, op *Op) bool {
	if p.attempts <= 1 || op.has(opOnce) || p.policy.Retry.IdempotentOnly && !op.has(opIdempotent) {
		return false
	}
	return !g.onlyReads(op)
}

// onlyReads reports whether the op runs tools in a phase that only reads: whatever
// it is declared to be, it is not repeated.
func (g *Guard) onlyReads(op *Op) bool { return op.has(opExecutesTools) && g.readOnly(op.phase) }

// readOnly asks whether a phase only reads. A predicate that panics says yes: the
// answer that repeats nothing.
func (g *Guard) readOnly(phase any) (yes bool) {
	if g.options.ReadOnlyPlan == nil {
		return false
	}
	defer g.journal().Contain("ReadOnlyPlan", func() { yes = true })
	return g.options.ReadOnlyPlan(phase)
}
