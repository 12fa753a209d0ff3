package toolguard

import (
	"context"

	"github.com/seed42274fcc/stoic/resilient"
)

// Call calls a tool under the guard, and judges what comes of it, in this order:
//
//	arguments ⊃ session's budget ⊃ circuit permit ⊃ the tool's time limit ⊃ fn
//
// [Options].CheckArguments has its say before anything is asked for. Retries belong into
// fn (a [resilient.Execute] there): whatever happens inside is one outcome. Where a
// guarded call round this one repeats it, its attempts are one outcome, too.
//
// What fn returns comes back unchanged, and says, the first that fits:
//
//   - what it is marked with by [WithOutcome]
//   - Ignored, if it is marked by [resilient.Neutral] or is a *[RefusedError]
//   - Interrupted, if the caller's context was cancelled between the attempts of its retries
//   - Error, if it is marked by [resilient.Permanent], its retries were in vain, or a
//     circuit inside of the tool is open: to a model, that is a tool that does not work
//   - Error, if it is an error that comes after the tool's own time limit
//   - Interrupted, if the caller's context was cancelled and it is that cancellation
//   - what [Options].Classify says
//   - Success for nil, Error for anything else, an expired deadline among them
//
// A panic and a runtime.Goexit are an Error, and go on as what they are. The error of a
// call that was refused is that of [Guard.Begin]: hand the Message of a *[RefusedError] to
// the model, as the tool's result. Call waits for fn, also after the time limit: fn must
// heed its context.
func Call[A, R any](ctx context.Context, g *Guard, tool string, arguments A, fn func(context.Context, A) (R, error)) (result R, err error) {
	if fn == nil {
		return result, resilient.ErrNilFunction
	}
	if err := g.check(ctx, tool, arguments); err != nil {
		return result, err
	}
	permit, err := g.Begin(ctx, tool)
	if err != nil {
		return result, err
	}
	returned := false
	defer func() {
		if !returned {
			permit.end(Error, errDidNotReturn, 0)
		}
	}()
	result, err = fn(permit.Context(), arguments)
	returned = true
	permit.EndResult(result, err)
	return result, err
}

// check asks whether the arguments make sense. A check that panics has no opinion.
func (g *Guard) check(ctx context.Context, tool string, arguments any) (err error) {
	if !g.Watches(tool) || g.plan.CheckArguments == nil || ctx == nil {
		return nil
	}
	defer g.journal.Contain("CheckArguments", func() { err = nil })
	return g.plan.CheckArguments(ctx, tool, arguments)
}
