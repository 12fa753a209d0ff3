package resilient

import (
	"context"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Alternative is one way to an answer: a function, and the guard of what it calls. It
// is a plain value. The zero value is not usable.
type Alternative[T any] struct {
	// Guard protects what Call calls. Two alternatives may have the same one.
	Guard *Guard
	// Call is the function, as [Execute] takes it.
	Call func(ctx context.Context) (T, error)
}

// Answer is what [FirstOf] returns. It is a plain value.
type Answer[T any] struct {
	// Value is what the alternative returned.
	Value T
	// Index is the alternative's place among those that were given, from 0.
	Index int
	// Service is the name of its guard, with secrets taken out.
	Service string
}

// FirstOf calls the alternatives one after the other until one answers, and says which
// that was: a model's provider, then another one; the database, then the cache. Each is
// a call of its own, as [Execute] makes it: with the retries, the circuit and the time
// limits of its own guard, and a context that ends with it.
//
// The next one is called when the one before was refused by its circuit, gave up, or
// failed in another way that counts as a failure, [Permanent] ones included: what one
// provider refuses, another may grant. An answer is not a failure and ends it, also if
// it is an error: what [Options].Classify takes for a success or for neutral, such as
// "not found", and what is [Neutral]. So does the caller's cancellation.
//
// An op that is not idempotent goes to the first alternative and to no other, not even
// where the first one's circuit refused it: a write that lands somewhere else is another
// write. [Op.MayFailOver] lifts that. Tools that must not be repeated in their plan's
// phase (see [Op.ExecutesTools]) are not run by a second alternative either way, nor is
// an op that can be made only once ([Op.Once]).
//
// All of it together takes no longer than the op's total timeout; without one, than the
// longest total timeout of the guards' policies. Each alternative keeps its own policy's
// total timeout within what is left of that. So an alternative which may hang leaves
// time to the next one only if its policy gives it less than the whole.
//
// FirstOf is no retry: under a call that retries, each alternative is called once.
//
// The error is nil; or that of the alternative that answered, or was the only one that
// could be called, as Execute returns it; or a *[NoAnswerError] with all the failures;
// or, before anything ran, [ErrNoAlternatives] or what Execute finds wrong with a call.
// With an error, the answer is that of the last alternative that was called.
func FirstOf[T any](ctx context.Context, op Op, alternatives ...Alternative[T]) (Answer[T], error) {
	var answer Answer[T]
	guards := make([]*Guard, len(alternatives))
	for i, a := range alternatives {
		if err := refusal[T](ctx, a.Guard, op, a.Call == nil); err != nil {
			return answer, err
		}
		guards[i] = a.Guard
	}
	if len(alternatives) == 0 {
		return answer, ErrNoAlternatives
	}
	f := newFallover(op, guards)
	for i := 0; ; i++ {
		g := guards[i]
		answer.Index, answer.Service = i, g.Name()
		var err error
		answer.Value, err = Execute(ctx, g, f.op(), alternatives[i].Call)
		if !f.next(ctx, err) {
			return answer, f.err
		}
	}
}

// fallover is the way from one alternative to the next.
type fallover struct {
	whole  Op
	guards []*Guard
	at     int           // the one that is called
	total  time.Duration // of all together
	began  time.Time
	left   time.Duration // of the total
	failed []error       // of those before
	err    error         // what it ends with
}

func newFallover(op Op, guards []*Guard) *fallover {
	f := &fallover{whole: op, guards: guards, total: op.total}
	if f.total == 0 {
		for _, g := range guards {
			f.total = max(f.total, g.Policy().TotalTimeout)
		}
	}
	f.began, f.left = time.Now(), f.total
	return f
}

// op is the one for the present alternative: its policy's total timeout, within what is
// left of the whole.
func (f *fallover) op() Op {
	op := f.whole
	op.total = min(f.guards[f.at].Policy().TotalTimeout, f.left)
	return op
}

// next takes note of how an alternative ended, and reports whether the next one is to
// be called.
func (f *fallover) next(ctx context.Context, err error) bool {
	f.err = err
	if f.answered(ctx, err) {
		return false
	}
	g := f.guards[f.at]
	f.failed = append(f.failed, err)
	if !f.mayFallOver() {
		f.end(nil)
		return false
	}
	if f.overtaken(ctx) {
		return false
	}
	f.at++
	if g.observed() {
		g.fellOver(ctx, f.whole.name, f.guards[f.at], err)
		return !f.overtaken(ctx) // those who were told may have used up the time
	}
	return true
}

// overtaken reports whether there is nobody or no time left to call another alternative
// for, and ends it then.
func (f *fallover) overtaken(ctx context.Context) bool {
	f.left = f.total - time.Since(f.began)
	switch {
	case ctx.Err() != nil:
		f.end(context.Cause(ctx))
	case f.left <= 0:
		f.end(&TimeoutError{Limit: LimitTotal, After: f.total})
	default:
		return false
	}
	return true
}

// answered reports whether an alternative that ended with err has answered: it did not
// fail, and was not refused. A caller who gave up has no answer either, but nothing
// more is to be tried for him.
func (f *fallover) answered(ctx context.Context, err error) bool {
	if err == nil {
		return true
	}
	v := f.guards[f.at].judge(ctx, err)
	switch {
	case v.outcome == breaker.Failure, v.seen.has(sawRejected) && !v.seen.has(sawNeutral):
		return false
	case v.outcome == breaker.Neutral && ctx.Err() != nil:
		return len(f.failed) == 0
	default:
		return true
	}
}

// mayFallOver reports whether there is another alternative that may be called for the op
// after the present one. Either guard may know that the op's phase only reads.
func (f *fallover) mayFallOver() bool {
	op := &f.whole
	if f.at == len(f.guards)-1 || !op.has(opIdempotent|opMayFailOver) || op.has(opOnce) {
		return false
	}
	return !f.guards[f.at].onlyReads(op) && !f.guards[f.at+1].onlyReads(op)
}

// end fixes what it all ends with. limit, if not nil, kept the next alternative back.
func (f *fallover) end(limit error) {
	if limit == nil && len(f.failed) == 1 {
		return // as it is
	}
	names := make([]string, len(f.failed))
	for i := range names {
		names[i] = f.guards[i].Name()
	}
	f.err = &NoAnswerError{
		Operation: f.guards[0].names(f.whole.name).Operation,
		Services:  names, Failures: f.failed, Limit: limit,
	}
}
