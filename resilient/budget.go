package resilient

import (
	"fmt"
	"sync"
	"time"
)

// Budget bounds the retries of all the guards of a process whose policy names it (see
// [RetryPolicy].Budget and [Options].Budgets), so that an outage is not made worse by
// everybody who tries again. Make it with [NewBudget], in one of two forms: a
// [TokenBucket], which retries empty and successes fill, or a [CallRatio], which allows
// so many retries for so many calls. It is safe for concurrent use. The zero value and
// nil are not usable.
//
// A retry is counted when it is scheduled, before the wait, and given back if the wait
// ends without it. A budget that is used up ends the call with [ReasonBudget]; it never
// ends an attempt that runs, nor keeps back a first one. Nested calls draw on the
// budgets that their own guards name; one that is held to a single attempt because a
// call above retries is a part of that call and changes no budget.
//
// With a budget a call that succeeds at once costs an atomic operation or two more, and
// no lock.
type Budget struct {
	origin time.Time  // what its times count from
	mu     sync.Mutex // one retry, or one change of the rule, at a time
	bucket *bucket    // either this
	ratio  *ratio     // or that
}

// BudgetRule says how much a [Budget] holds: a [TokenBucket] or a [CallRatio]. Both are
// plain values.
type BudgetRule interface {
	// Validate returns nil, or one error, of one line, that names every field out of
	// its range.
	Validate() error
	budgetRule()
}

// NewBudget makes a full budget. It returns an error when the rule is nil or not valid.
func NewBudget(rule BudgetRule) (*Budget, error) {
	if err := validateRule(rule); err != nil {
		return nil, err
	}
	b := &Budget{origin: time.Now()}
	switch rule := rule.(type) {
	case TokenBucket:
		b.bucket = newBucket(rule)
	case CallRatio:
		b.ratio = newRatio(rule)
	}
	return b, nil
}

func validateRule(rule BudgetRule) error {
	if rule == nil {
		return fmt.Errorf("resilient: a budget needs a rule")
	}
	switch rule.(type) {
	case TokenBucket, CallRatio:
	default: // a pointer to one
		return fmt.Errorf("resilient: a %T is no rule of a budget; give it by its value", rule)
	}
	if err := rule.Validate(); err != nil {
		return fmt.Errorf("resilient: rule of a budget: %w", err)
	}
	return nil
}

// SetRule puts another rule of the same form in force at once. What has been used stays
// used: tokens are scaled with the capacity, and the calls and retries of a window with
// its length. It returns an error, and changes nothing, when the rule is not valid or of
// the other form.
func (b *Budget) SetRule(rule BudgetRule) error {
	if !b.usable() {
		return errNoBudget
	}
	if err := validateRule(rule); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch rule := rule.(type) {
	case TokenBucket:
		if b.bucket != nil {
			b.bucket.set(rule)
			return nil
		}
	case CallRatio:
		if b.ratio != nil {
			b.ratio.set(rule, b.now())
			return nil
		}
	}
	return fmt.Errorf("resilient: a %T cannot take the place of a rule of the other form", rule)
}

var errNoBudget = fmt.Errorf("resilient: the budget is nil or was not made by NewBudget")

// BudgetSnapshot is what a budget holds at one moment. It is a plain value.
type BudgetSnapshot struct {
	// Rule is the one in force.
	Rule BudgetRule
	// Left is how many tokens there are, or how many retries may still be scheduled in
	// the window.
	Left int
	// Calls and Retries are how many there were in the window of a [CallRatio]; 0 for a
	// [TokenBucket].
	Calls, Retries int
}

// Snapshot returns what the budget holds now. It changes nothing.
func (b *Budget) Snapshot() BudgetSnapshot {
	if !b.usable() {
		return BudgetSnapshot{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bucket != nil {
		return BudgetSnapshot{Rule: b.bucket.rule, Left: int(b.bucket.tokens())}
	}
	calls, retries := b.ratio.in(b.now())
	return BudgetSnapshot{
		Rule:  b.ratio.rule,
		Left:  int(max(0, b.ratio.rule.allows(calls)-retries)),
		Calls: int(calls), Retries: int(retries),
	}
}

// usable reports whether the budget was made by NewBudget.
func (b *Budget) usable() bool { return b != nil && (b.bucket != nil || b.ratio != nil) }

func (b *Budget) now() time.Duration { return time.Since(b.origin) }

// called counts a call whose first attempt begins, at a time since the origin.
func (b *Budget) called(at time.Duration) {
	if b.ratio != nil {
		b.ratio.ring.Load().called(at)
	}
}

// succeeded takes note of a call that succeeded at its first attempt.
func (b *Budget) succeeded() {
	if b.bucket != nil {
		b.bucket.refill()
	}
}

// drawn is what one retry has taken out of a budget. The zero value is nothing.
type drawn struct {
	tokens int64 // of a bucket
	ring   *ring // of a ratio: where it was counted,
	slot   uint64
}

// draw takes out what one retry costs, if it is there. From nil there is always enough.
func (b *Budget) draw(at time.Duration, throttled bool) (d drawn, ok bool) {
	if b == nil {
		return drawn{}, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bucket != nil {
		return b.bucket.draw(throttled)
	}
	return b.ratio.draw(at)
}

// giveBack returns what a retry has taken that will not be made.
func (b *Budget) giveBack(d drawn) {
	if d == (drawn{}) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bucket != nil {
		b.bucket.add(d.tokens)
		return
	}
	d.ring.giveBack(d.slot)
}

// repaid takes note of a retry that has succeeded: a bucket gets its tokens back. The
// ratio is one of load, which that retry was.
func (b *Budget) repaid(d drawn) {
	if d.tokens > 0 {
		b.giveBack(d)
	}
}
