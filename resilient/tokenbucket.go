package resilient

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// TokenBucket is the rule of a [Budget] that retries empty and successes fill: while
// much succeeds every retry is paid for, and once little does there are none. A success
// is what the guard takes for one, an error too (see [Options].Classify). It knows no
// time. Start from [DefaultTokenBucket]; the zero value is not valid.
type TokenBucket struct {
	// Capacity is how many tokens there are at most, and at the beginning:
	// 1 … 1 000 000.
	Capacity int
	// RetryCost is what a retry takes, and what it brings back if it succeeds:
	// 1 … Capacity.
	RetryCost int
	// ThrottledCost is RetryCost for one after an error that is [Throttled], or has a
	// hint ([RetryAfter]): 1 … Capacity.
	ThrottledCost int
	// Refill is what a call brings in that succeeds at its first attempt: 0 … Capacity.
	Refill int
}

// DefaultTokenBucket has the figures of the AWS SDKs' retry quota of 2026: 500 tokens,
// 14 for a retry, 5 for one after throttling, 1 from a call that succeeds at once.
func DefaultTokenBucket() TokenBucket {
	return TokenBucket{Capacity: 500, RetryCost: 14, ThrottledCost: 5, Refill: 1}
}

func (TokenBucket) budgetRule() {}

// maxTokens is the largest number that a rule of a budget may have.
const maxTokens = 1_000_000

// Validate returns nil, or one error, of one line, that names every field out of its
// range.
func (t TokenBucket) Validate() error {
	var faults []string
	check := func(field string, value, low, high int) {
		if value < low || value > high {
			faults = append(faults, fmt.Sprintf("%s is %d, want %d … %d", field, value, low, high))
		}
	}
	check("Capacity", t.Capacity, 1, maxTokens)
	most := min(max(1, t.Capacity), maxTokens)
	check("RetryCost", t.RetryCost, 1, most)
	check("ThrottledCost", t.ThrottledCost, 1, most)
	check("Refill", t.Refill, 0, most)
	if len(faults) == 0 {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}

// bucket is a [Budget] by tokens. Its methods but refill need the budget's mutex.
type bucket struct {
	rule TokenBucket

	// What a success touches, without the mutex. level may for a moment be more than a
	// capacity that has just been lowered, so tokens is what counts.
	level    atomic.Int64
	capacity atomic.Int64
	each     atomic.Int64 // rule.Refill
}

func newBucket(rule TokenBucket) *bucket {
	b := &bucket{rule: rule}
	b.level.Store(int64(rule.Capacity))
	b.capacity.Store(int64(rule.Capacity))
	b.each.Store(int64(rule.Refill))
	return b
}

func (b *bucket) tokens() int64 { return min(b.level.Load(), b.capacity.Load()) }

// refill is what a success brings in: one atomic load if the bucket is full.
func (b *bucket) refill() { b.add(b.each.Load()) }

func (b *bucket) add(tokens int64) {
	for {
		level, capacity := b.level.Load(), b.capacity.Load()
		if level >= capacity || tokens == 0 || b.level.CompareAndSwap(level, min(level+tokens, capacity)) {
			return
		}
	}
}

func (b *bucket) draw(throttled bool) (drawn, bool) {
	cost := int64(b.rule.RetryCost)
	if throttled {
		cost = int64(b.rule.ThrottledCost)
	}
	for {
		level := b.level.Load()
		left := min(level, b.capacity.Load()) - cost
		if left < 0 {
			return drawn{}, false
		}
		if b.level.CompareAndSwap(level, left) {
			return drawn{tokens: cost}, true
		}
	}
}

// set scales what there is with the capacity, downwards.
func (b *bucket) set(rule TokenBucket) {
	was, is := int64(b.rule.Capacity), int64(rule.Capacity)
	for {
		level := b.level.Load()
		if b.level.CompareAndSwap(level, min(level, was)*is/was) {
			break
		}
	}
	b.capacity.Store(is)
	b.each.Store(int64(rule.Refill))
	b.rule = rule
}
