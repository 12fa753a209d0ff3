package storetest_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/breaker/storetest"
)

// What most mutants need.
type (
	record  = breaker.Record
	command = breaker.Command
	answer  = breaker.Answer
)

func before(f func(r *record, c *command, now time.Duration)) bug { return bug{before: f} }

func after(f func(old record, r *record, a *answer, c command, now time.Duration)) bug {
	return bug{after: f}
}

func naming(f func(string) string) bug { return bug{name: f} }

func settles(c command, o breaker.Outcome) bool { return c.Kind == breaker.Settle && c.Outcome == o }

// forgetting is of stores that keep nothing for longer.
func forgetting(after time.Duration) bug {
	return before(func(r *record, _ *command, now time.Duration) {
		if now > r.Since+after {
			*r = record{}
		}
	})
}

// turn lets a mutant be wrong every second time.
var turn atomic.Int64

func asFloat(n uint64) uint64 { return uint64(float64(n)) }

// mutants are stores with one fault each, by the check that is to find it.
func mutants() map[string][]bug {
	return map[string][]bug{
		"failures in a row open the circuit": {
			before(func(_ *record, c *command, _ time.Duration) { // a failure more than the threshold
				c.Settings.FailureThreshold++
			}),
			before(func(_ *record, c *command, _ time.Duration) { // what is not judged is not counted
				if settles(*c, breaker.Unjudged) {
					c.Outcome = breaker.Neutral
				}
			}),
			before(func(_ *record, c *command, _ time.Duration) { // neutral is success
				if settles(*c, breaker.Neutral) {
					c.Outcome = breaker.Success
				}
			}),
			after(func(old record, r *record, _ *answer, _ command, _ time.Duration) { // rounds are counted
				if r.Round != old.Round {
					r.Round = old.Round + 1
				}
			}),
		},
		"unknown circuits are healthy": {
			after(func(_ record, r *record, _ *answer, c command, now time.Duration) { // whoever comes first makes a round
				if c.Kind != breaker.Read && r.Round == 0 {
					r.Round = uint64(now.Microseconds())
				}
			}),
		},
		"a success clears the count": {
			before(func(r *record, c *command, _ time.Duration) {
				if settles(*c, breaker.Success) && r.Beneath == breaker.Closed {
					c.Outcome = breaker.Neutral
				}
			}),
		},
		"a restart begins the count anew": {
			before(func(_ *record, c *command, _ time.Duration) { c.Restart = false }),
		},
		"results of other rounds are late": {
			before(func(r *record, c *command, _ time.Duration) { // the round is not compared
				if c.Kind == breaker.Settle {
					c.Round = r.Round
				}
			}),
			after(func(_ record, r *record, a *answer, c command, now time.Duration) { // a late failure moves the time
				if settles(c, breaker.Failure) && !a.Counted {
					r.LastFailure = now.Truncate(time.Microsecond)
				}
			}),
			before(func(r *record, c *command, _ time.Duration) { // earlier ones only
				if c.Round > r.Round {
					c.Round = r.Round
				}
			}),
		},
		"texts come back as they are": {
			before(func(_ *record, c *command, _ time.Duration) { c.Cause, _, _ = strings.Cut(c.Cause, "\x00") }),
			before(func(_ *record, c *command, _ time.Duration) { c.Order.Reason = strings.TrimSpace(c.Order.Reason) }),
		},
		"an open circuit rejects for its open time": {
			after(func(old record, r *record, a *answer, c command, now time.Duration) { // rejections move the time
				if c.Kind == breaker.Acquire && !a.Granted {
					r.LastFailure = now.Truncate(time.Microsecond)
				}
			}),
			after(func(old record, r *record, a *answer, c command, _ time.Duration) { // one step opens, another grants
				if old.Beneath == breaker.Open && r.Beneath == breaker.HalfOpen {
					r.Leases, a.Granted = nil, false
				}
			}),
			after(func(old record, r *record, _ *answer, _ command, _ time.Duration) { // the count is kept
				if r.Beneath == breaker.HalfOpen {
					r.Failures = max(old.Failures, 1)
				}
			}),
			before(func(_ *record, c *command, _ time.Duration) { c.Settings.RecoveryTimeout = time.Millisecond }),
			before(func(_ *record, c *command, _ time.Duration) { c.Settings.RecoveryTimeout = time.Hour }),
		},
		"the open time grows and is capped": {
			before(func(_ *record, c *command, _ time.Duration) { c.Settings.RecoveryMultiplier = 1 }),
			before(func(_ *record, c *command, _ time.Duration) { c.Settings.MaxRecoveryTimeout = 24 * time.Hour }),
		},
		"a failure that says how long opens at once, for so long": {
			before(func(_ *record, c *command, _ time.Duration) { c.Hold = 0 }),
			before(func(_ *record, c *command, _ time.Duration) { c.Hold = min(c.Hold, 1) }), // opens, and no more
			after(func(old record, r *record, _ *answer, _ command, _ time.Duration) { // kept for ever
				r.Hold = max(r.Hold, old.Hold)
			}),
		},
		"the cooldown lies between two recoveries": {
			before(func(_ *record, c *command, _ time.Duration) { c.Settings.Cooldown = 0 }),
		},
		"only a probe's own token counts": {
			before(func(r *record, c *command, _ time.Duration) { // the token is not compared
				if c.Kind == breaker.Settle && len(r.Leases) > 0 {
					c.Token = r.Leases[0].Token
				}
			}),
			before(func(_ *record, c *command, _ time.Duration) { // tokens are numbers of 53 bits
				c.ID, c.Token = asFloat(c.ID), asFloat(c.Token)
			}),
			after(func(old record, r *record, a *answer, c command, _ time.Duration) { // a token can be used twice
				if settles(c, breaker.Success) && r.Round == old.Round {
					r.Leases = old.Leases
				}
			}),
		},
		"a neutral probe gives its place back": {
			after(func(old record, r *record, _ *answer, c command, _ time.Duration) {
				if settles(c, breaker.Neutral) {
					r.Leases = old.Leases
				}
			}),
			before(func(_ *record, c *command, _ time.Duration) {
				if settles(*c, breaker.Neutral) {
					c.Outcome = breaker.Success
				}
			}),
		},
		"a lease lapses, and its probe is late": {
			before(func(r *record, _ *command, now time.Duration) { // leases are not swept
				r.Leases = slices.Clone(r.Leases)
				for i := range r.Leases {
					r.Leases[i].End = now + r.Leases[i].Length
				}
			}),
			before(func(r *record, c *command, now time.Duration) { // a late probe counts
				r.Leases = slices.Clone(r.Leases)
				for i, l := range r.Leases {
					if l.Token == c.Token {
						r.Leases[i].End = now + l.Length
					}
				}
			}),
		},
		"a probe of an earlier round decides nothing": {
			before(func(r *record, c *command, _ time.Duration) { // any token does
				if c.Kind == breaker.Settle && c.Token != 0 && len(r.Leases) > 0 {
					c.Token, c.Round = r.Leases[0].Token, r.Round
				}
			}),
		},
		"limit and needed successes are fixed by the round": {
			before(func(r *record, _ *command, _ time.Duration) { r.Limit = 0 }),
			before(func(r *record, _ *command, _ time.Duration) { r.Needed = 0 }),
			after(func(old record, r *record, _ *answer, _ command, _ time.Duration) { // at the transition only
				if old.Beneath == breaker.HalfOpen {
					r.Limit, r.Needed = old.Limit, old.Needed
				}
			}),
		},
		"successes are not kept over a re-open": {
			after(func(old record, r *record, _ *answer, _ command, _ time.Duration) {
				if old.Beneath == breaker.Open && r.Beneath == breaker.HalfOpen {
					r.Successes = old.Successes
				}
				if old.Beneath == breaker.HalfOpen && r.Beneath == breaker.Open {
					r.Successes = old.Successes
				}
			}),
		},
		"an operator's force holds until it is released": {
			before(func(_ *record, c *command, _ time.Duration) { c.Order.Author = "" }),
			after(func(old record, r *record, _ *answer, c command, now time.Duration) { // renewed, a round more
				if c.Kind == breaker.Operate && r.Round == old.Round {
					r.Round++
				}
			}),
		},
		"a force ends by itself": {
			before(func(r *record, _ *command, now time.Duration) { // never
				if r.Force != breaker.NoForce {
					r.ForceUntil = now + time.Hour
				}
			}),
			before(func(r *record, c *command, now time.Duration) { // when somebody reads
				if r.Force != breaker.NoForce && c.Kind != breaker.Read {
					r.ForceUntil = now + time.Hour
				}
			}),
		},
		"an order voids the permits that are out": {
			after(func(old record, r *record, _ *answer, c command, _ time.Duration) {
				if c.Kind == breaker.Operate {
					r.Leases, r.Round = old.Leases, old.Round
				}
			}),
		},
		"a reset closes and clears": {
			after(func(_ record, r *record, _ *answer, c command, _ time.Duration) { // by deleting
				if c.Kind == breaker.Operate && c.Order.Reset {
					*r = record{}
				}
			}),
			after(func(old record, r *record, _ *answer, c command, _ time.Duration) { // but for the cooldown
				if c.Kind == breaker.Operate && c.Order.Reset {
					r.LastHalfOpen = old.LastHalfOpen
				}
			}),
		},
		"as many replicas as are wanted open the circuit": {
			before(func(_ *record, c *command, _ time.Duration) { c.Replica = rand.Uint64() }),
			before(func(_ *record, c *command, _ time.Duration) { c.Replica = asFloat(c.Replica) }),
			before(func(_ *record, c *command, _ time.Duration) { c.Settings.MinReporters = 1 }),
			before(func(r *record, c *command, _ time.Duration) { // a success forgives a vote
				if settles(*c, breaker.Success) && r.Beneath == breaker.Closed && c.Round == r.Round {
					r.Votes = nil
				}
			}),
		},
		"votes lapse": {
			before(func(r *record, _ *command, now time.Duration) {
				r.Votes = slices.Clone(r.Votes)
				for i := range r.Votes {
					r.Votes[i].End = now + r.Votes[i].Length
				}
			}),
			after(func(_ record, r *record, _ *answer, c command, now time.Duration) { // after the open time, come what may
				r.Votes = slices.Clone(r.Votes)
				for i := range r.Votes {
					r.Votes[i].End = min(r.Votes[i].End, now+c.Settings.RecoveryTimeout)
				}
			}),
		},
		"votes of other rounds are not heard": {
			before(func(r *record, c *command, _ time.Duration) {
				if c.Kind == breaker.Vote {
					c.Round = r.Round
				}
			}),
			after(func(old record, r *record, _ *answer, c command, _ time.Duration) { // they outlive a reset
				if c.Kind == breaker.Operate {
					r.Votes = old.Votes
				}
			}),
		},
		"a repeated command changes nothing": {
			before(func(_ *record, c *command, _ time.Duration) { // IDs are not looked at
				if c.Token == 0 && c.Kind != breaker.Acquire {
					c.ID = rand.Uint64()
				}
			}),
			before(func(r *record, c *command, _ time.Duration) { // one permit more
				if c.Kind == breaker.Acquire && r.Beneath == breaker.HalfOpen {
					c.ID = rand.Uint64()
				}
			}),
			after(func(old record, _ *record, a *answer, c command, _ time.Duration) { // it says that it was late
				if c.Kind == breaker.Settle && slices.Contains(old.Seen, c.ID) {
					a.Counted = false
				}
			}),
			before(func(r *record, _ *command, _ time.Duration) { r.Seen = nil }),
		},
		"a command is known among the last 64": {
			before(func(r *record, _ *command, _ time.Duration) { r.Seen = r.Seen[max(0, len(r.Seen)-63):] }),
		},
		"replies that are lost": {
			{repeat: func(c command) command { c.ID = rand.Uint64(); return c }},
		},
		"names of any characters are kept apart": {
			naming(func(s string) string { s, _, _ = strings.Cut(s, ":"); return s }),
			naming(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }),
			naming(strings.ToLower),
			naming(strings.TrimSpace),
			naming(func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }),
			naming(func(s string) string { return s[:min(len(s), 4096)] }),
			naming(func(s string) string { return strings.NewReplacer("{", "", "}", "").Replace(s) }),
			naming(func(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }),
		},
		"counting and opening are one step": {
			{gap: func(c command) bool { return c.Kind == breaker.Settle }},
		},
		"a success in between is not lost": {
			{twoSteps: true},
			{gap: func(c command) bool { return settles(c, breaker.Failure) }},
			{gap: func(c command) bool { return settles(c, breaker.Success) }},
		},
		"probes are granted by the store only": {
			{gap: func(c command) bool { return c.Kind == breaker.Acquire }},
		},
		"a generation is one failed recovery": {
			after(func(_ record, r *record, a *answer, c command, _ time.Duration) {
				if settles(c, breaker.Failure) && c.Token != 0 && !a.Counted {
					r.Generation++
				}
			}),
		},
		"probes that settle at once have an order": {
			{gap: func(c command) bool { return c.Token != 0 }},
		},
		"what may still decide is remembered": {
			forgetting(23 * time.Hour), forgetting(47 * time.Hour), forgetting(29 * 24 * time.Hour),
		},
		"answers at once have an order": {
			{gap: func(c command) bool { return c.Kind == breaker.Acquire }},
			{gap: func(c command) bool { return c.Kind == breaker.Operate }},
		},
		"a long walk": {
			after(func(old record, r *record, _ *answer, _ command, _ time.Duration) { // a recovery forgets what failed
				if old.Beneath == breaker.HalfOpen && r.Beneath == breaker.Closed {
					r.Cause = ""
				}
			}),
			before(func(r *record, _ *command, _ time.Duration) { // an order is forgotten with its force
				if r.Force == breaker.NoForce {
					r.Order = breaker.Order{}
				}
			}),
		},
		"a context that has ended is an error": {
			{context: context.WithoutCancel},
		},
		"Do returns by the time its context ends": {
			{context: func(ctx context.Context) context.Context {
				if ctx.Err() != nil {
					return ctx
				}
				return context.WithoutCancel(ctx)
			}},
		},
		"what is forgotten is healthy, and its rounds never come again": {
			after(func(old record, r *record, _ *answer, _ command, _ time.Duration) {
				if r.Round != old.Round {
					r.Round = old.Round + 1
				}
			}),
			before(func(r *record, c *command, _ time.Duration) { // what is unknown takes any result
				if r.Round == 0 {
					c.Round = 0
				}
			}),
		},
		"what makes no sense is garbled, and can be rebuilt": {
			{sane: true},
			after(func(_ record, r *record, _ *answer, c command, now time.Duration) { // what makes sense is rebuilt
				if c.Kind == breaker.Rebuild {
					*r, _ = c.Rebuilt(now)
				}
			}),
		},
		"the store's clock decides": {
			{clock: func(now time.Duration) time.Duration { return now - time.Minute }},
			{clock: func(now time.Duration) time.Duration { return now + time.Duration(turn.Add(1)%2)*time.Minute }},
		},
		"time passes as it does in the store": {
			{clock: func(now time.Duration) time.Duration { return now.Truncate(time.Hour) }},
		},
		"a clock that goes backwards delays nothing": {
			after(func(_ record, _ *record, a *answer, _ command, _ time.Duration) { a.Clamped = false }),
			after(func(old record, r *record, _ *answer, _ command, now time.Duration) {
				if old.LastFailure > now {
					r.LastFailure = old.LastFailure
				}
			}),
			after(func(old record, r *record, _ *answer, _ command, now time.Duration) {
				if old.Force == r.Force {
					r.ForceUntil = old.ForceUntil
				}
			}),
			after(func(old record, r *record, _ *answer, _ command, now time.Duration) {
				if len(old.Votes) > 0 && len(r.Votes) > 1 {
					r.Votes[0] = old.Votes[0]
				}
			}),
			after(func(old record, r *record, _ *answer, _ command, now time.Duration) {
				for i := range min(len(old.Leases), len(r.Leases)) {
					r.Leases[i] = old.Leases[i]
				}
			}),
		},
		"a clock that jumps ahead ends what it must": {
			before(func(r *record, _ *command, now time.Duration) {
				if r.ForceUntil != 0 && now > r.ForceUntil+time.Minute {
					r.ForceUntil = now + time.Minute // is the clock to be believed?
				}
			}),
		},
		"news tell of every transition, in order": {
			{news: func(_ *plain, listeners []func(breaker.News), n breaker.News) { // of closed circuits there is no news
				for _, news := range listeners {
					if n.Answer.Record.Beneath != breaker.Closed {
						news(n)
					}
				}
			}},
			{news: func(p *plain, _ []func(breaker.News), n breaker.News) { // all hear all
				p.mu.Lock()
				var all []func(breaker.News)
				for _, w := range p.watchers {
					all = append(all, w...)
				}
				p.mu.Unlock()
				for _, news := range all {
					news(n)
				}
			}},
			{news: func(*plain, []func(breaker.News), breaker.News) {}},
		},
		"news are of the circuit that was asked for": {
			{news: func(p *plain, _ []func(breaker.News), n breaker.News) { // all hear all
				p.mu.Lock()
				var all []func(breaker.News)
				for _, w := range p.watchers {
					all = append(all, w...)
				}
				p.mu.Unlock()
				for _, news := range all {
					news(n)
				}
			}},
		},
		"news are told one at a time": {
			{news: func(_ *plain, listeners []func(breaker.News), n breaker.News) {
				for _, news := range listeners {
					go func() {
						time.Sleep(time.Duration(rand.IntN(1000)))
						news(n)
					}()
				}
			}},
		},
	}
}

// Each mutant is found, and by the check that is there for it.
func TestKitFindsMutants(t *testing.T) {
	names := storetest.CheckNames()
	for check, bugs := range mutants() {
		require.Contains(t, names, check)
		for i, b := range bugs {
			var findings []error
			var notes []string
			synctest.Test(t, func(*testing.T) {
				h := newPlain(b).harness()
				if check == "what may still decide is remembered" {
					h.Advance = time.Sleep
				}
				findings, notes = storetest.Examine(check, h)
			})
			assert.NotEmpty(t, findings, "%s, mutant %d", check, i)
			assert.Empty(t, notes, "%s, mutant %d", check, i)
		}
	}
}

// Each check has a mutant that it finds.
func TestEachCheckHasAMutant(t *testing.T) {
	all := mutants()
	for _, name := range storetest.CheckNames() {
		if name != "terms do not change" && name != "a store without news tells none" { // see below
			assert.NotEmpty(t, all[name], name)
		}
	}
}

// A store that tells news, where the harness says that there are none.
func TestKitFindsNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPlain(bug{}).harness()
		h.News = false
		findings, notes := storetest.Examine("a store without news tells none", h)
		require.NotEmpty(t, findings)
		require.Empty(t, notes)
	})
}

type fickle struct {
	*plain
	asked int
}

func (f *fickle) Terms() breaker.Terms {
	f.asked++
	return breaker.Terms{Timeout: time.Duration(f.asked), MaxViewAge: time.Second}
}

func TestKitFindsOtherTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPlain(bug{}).harness()
		f := &fickle{plain: newPlain(bug{})}
		h.Open = func() breaker.Store { return f }
		findings, _ := storetest.Examine("terms do not change", h)
		require.NotEmpty(t, findings)
	})
}

// The store without a bug passes all checks, and all are made: whether time is real, or
// moved by hand, or the bubble's.
func TestKitOnThePlainStore(t *testing.T) {
	t.Run("in real time", func(t *testing.T) {
		storetest.Run(t, func(*testing.T) storetest.Harness { return newPlain(bug{}).harness() })
	})
	t.Run("by hand", func(t *testing.T) {
		storetest.Run(t, func(*testing.T) storetest.Harness {
			p := newPlain(bug{})
			h := p.harness()
			h.Advance = h.Skew
			return h
		})
	})
	synctest.Test(t, func(t *testing.T) {
		require.Empty(t, storetest.Findings(newPlain(bug{}).harness()))
	})
}

// What a harness lacks is not checked, and said.
func TestKitSaysWhatItDoesNotCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlain(bug{})
		bare, unsaid := storetest.Harness{Open: func() breaker.Store { return p }}, 0
		for _, name := range storetest.CheckNames() {
			_, notes := storetest.Examine(name, bare)
			unsaid += len(notes)
		}
		require.Equal(t, 11, unsaid)
	})
}
