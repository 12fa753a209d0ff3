// Package nesting keeps, in the context, which guarded calls a piece of code
// is running inside of.
//
// The point of it is that retries do not multiply: when a call that retries
// runs a function which makes another guarded call, only the outer one may
// repeat. Three attempts inside three attempts inside three are twenty-seven
// requests to a service that is already down. So an inner call asks UnderRetry
// and, told yes, makes a single attempt and hands its failure up unwrapped.
//
// Nothing is stored outside the context, so the scope follows the call through
// goroutines and libraries, and two requests never see each other. A scope
// counts only while its call runs: a context that outlives its call, kept by
// context.WithoutCancel or by a background job, protects nobody any more.
// Detach says the same explicitly and at once. Where a call goes on in another process,
// [Capture] says what is to be sent along, and [Wire.Enter] restores it there.
package nesting

import (
	"context"
	"slices"
)

// Scope is one guarded call as seen from inside it. The context of every
// guarded call carries one; application code meets it only through From.
//
// Implementations must be safe for concurrent use: a call may hand its context
// to any number of goroutines.
type Scope interface {
	// Service is the name of the guard the call goes through.
	Service() string

	// Operation is the name of the operation; it may be empty.
	Operation() string

	// Running says whether the call has not returned yet; where each attempt has
	// a scope of its own, the attempt. A scope whose call has returned counts no
	// more, though it stays in the chain.
	Running() bool

	// Retrying says whether this call itself may repeat what runs inside it,
	// whatever the calls around it do.
	Retrying() bool

	// Outer is the next scope outwards, nil at the outermost. It answers for
	// the context the call was made with, so it stops where a Detach did.
	Outer() Scope
}

// Key is the context key of the scope: ctx.Value(nesting.Key{}) is the
// innermost Scope, or nil. It is exported for context types that carry a scope
// themselves; everyone else asks From.
type Key struct{}

// From returns the innermost scope of ctx, running or not. It is nil when the
// context belongs to no guarded call, was detached from its calls, or is nil.
func From(ctx context.Context) Scope {
	if ctx == nil {
		return nil
	}
	scope, _ := ctx.Value(Key{}).(Scope)
	return scope
}

// UnderRetry says whether a running call around ctx may repeat what runs in
// it. It is how a guarded call decides to make one attempt only. All scopes are
// asked, not just the innermost: a call without retry in between takes nothing
// away from the retrying one around it. It allocates nothing.
func UnderRetry(ctx context.Context) bool {
	for scope := From(ctx); scope != nil; scope = scope.Outer() {
		if scope.Retrying() && scope.Running() {
			return true
		}
	}
	return false
}

// Depth returns how many running guarded calls are around ctx, 0 for none. It
// allocates nothing.
func Depth(ctx context.Context) int {
	depth := 0
	for scope := From(ctx); scope != nil; scope = scope.Outer() {
		if scope.Running() {
			depth++
		}
	}
	return depth
}

// Path names the running guarded calls around ctx as "service.operation",
// outermost first; an operation without a name leaves just "service". It is nil
// when there are none. The slice is the caller's.
func Path(ctx context.Context) []string {
	var path []string
	for scope := From(ctx); scope != nil; scope = scope.Outer() {
		if scope.Running() {
			path = append(path, label(scope))
		}
	}
	slices.Reverse(path)
	return path
}

func label(scope Scope) string {
	if scope.Operation() == "" {
		return scope.Service()
	}
	return scope.Service() + "." + scope.Operation()
}

// Detach returns a context whose calls are not nested in the ones around ctx,
// so that they may retry on their own. Values, deadline and cancellation stay;
// combine it with context.WithoutCancel for a job that must outlive its call.
//
// It is meant for work that nobody above repeats: a background job, a message
// put on a queue. A context that has no scope comes back unchanged, nil
// included.
func Detach(ctx context.Context) context.Context {
	if From(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, Key{}, nil)
}
