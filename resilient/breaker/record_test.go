package breaker_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// epoch is when the tests of records begin: a time at which rounds are made from it.
const epoch = 400_000 * time.Hour

// TB is what both testing and rapid can be asked for.
type TB interface {
	require.TestingT
	Helper()
}

// apply carries out a command and checks what must hold of every step.
func apply(t TB, r breaker.Record, now time.Duration, c breaker.Command) (breaker.Record, breaker.Answer) {
	t.Helper()
	untouched := fmt.Sprintf("%+v", r)
	next, answer := r.Apply(now, c)
	require.Equal(t, untouched, fmt.Sprintf("%+v", r), "the receiver has changed")
	require.Equal(t, next, answer.Record)
	require.Equal(t, now, answer.Now)

	// A round for each transition, and a transition for each round.
	moved := next.Round != r.Round
	if next.Beneath != r.Beneath || next.Force != r.Force {
		require.True(t, moved, "a transition without a round")
	}
	if moved {
		require.Greater(t, next.Round, r.Round)
		require.GreaterOrEqual(t, next.Round, uint64(now/time.Microsecond))
		require.Equal(t, now, next.Since)
		require.Empty(t, next.Votes)
		// A force that has lapsed and is ordered again is two transitions.
		require.True(t, next.Beneath != r.Beneath || next.Force != r.Force || c.Kind == breaker.Operate, "a round without a transition")
	}
	if answer.Granted && next.Machine.State(c.Settings) == breaker.HalfOpen {
		has := func(l breaker.Lease) bool { return l.Token == c.ID && l.End > now }
		require.True(t, slices.ContainsFunc(next.Leases, has), "granted without a lease")
	}
	wellFormed(t, next, now)
	recovers(t, next, now, c.Settings)
	return next, answer
}

// wellFormed checks what must hold of every state.
func wellFormed(t TB, r breaker.Record, now time.Duration) {
	t.Helper()
	for _, at := range []time.Duration{r.LastFailure, r.LastHalfOpen, r.Since, r.Ordered} {
		require.LessOrEqual(t, at, now, "a time lies ahead")
	}
	require.LessOrEqual(t, r.ForceUntil, now+r.Order.For)
	require.LessOrEqual(t, len(r.Seen), 64)
	require.GreaterOrEqual(t, r.Failures, 0)
	switch r.Beneath {
	case breaker.HalfOpen:
		require.Zero(t, r.Failures)
		require.Empty(t, r.Votes)
		if r.Limit != 0 {
			require.LessOrEqual(t, r.LivePermits(now), r.Limit, "more probes than the limit")
			require.Less(t, r.Successes, r.Needed, "not closed, and successes enough")
		} else {
			require.Empty(t, r.Leases, "probes without a limit")
		}
	case breaker.Open:
		require.Positive(t, r.Generation)
		fallthrough
	default:
		require.Empty(t, r.Leases)
		require.Zero(t, r.Successes)
		require.Zero(t, r.Limit)
	}
	if r.Beneath == breaker.Closed {
		require.Zero(t, r.Generation)
	}
	replicas := map[uint64]bool{}
	for _, v := range r.Votes {
		require.False(t, replicas[v.Replica], "a replica has two votes")
		replicas[v.Replica] = true
	}
}

// recovers checks that in every unforced state there is a time after which a permit is
// granted, and that every force ends.
func recovers(t TB, r breaker.Record, now time.Duration, s breaker.Settings) {
	t.Helper()
	at := now
	if r.Force != breaker.NoForce {
		require.Positive(t, r.ForceUntil, "a force without an end")
		at = max(at, r.ForceUntil)
	}
	if r.Beneath == breaker.Open {
		at = max(at, r.OpenUntil(s))
	}
	for _, l := range r.Leases {
		at = max(at, l.End)
	}
	at += time.Microsecond // an open time need not end with one
	_, answer := r.Apply(at, breaker.Command{Kind: breaker.Acquire, ID: rand.Uint64() | 1, Lease: 1, Settings: s})
	require.True(t, answer.Granted, "no permit at a time when all has ended: %+v", r)
}

// changesNothing checks that a command does what a read does at the same time.
func changesNothing(t TB, r breaker.Record, now time.Duration, c breaker.Command) breaker.Answer {
	t.Helper()
	want, _ := r.Apply(now, breaker.Command{Kind: breaker.Read, Settings: c.Settings})
	got, answer := r.Apply(now, c)
	require.Equal(t, want, got)
	return answer
}

func sharedSettings(t *rapid.T) breaker.Settings {
	s := anySettings(t)
	s.MinReporters = rapid.IntRange(1, 3).Draw(t, "reporters")
	return s
}

func anyCommand(t *rapid.T, r breaker.Record, tokens []uint64) breaker.Command {
	c := breaker.Command{
		Kind: rapid.SampledFrom([]breaker.Kind{
			breaker.Read, breaker.Acquire, breaker.Acquire, breaker.Settle, breaker.Settle, breaker.Settle, breaker.Vote, breaker.Operate,
			breaker.Rebuild,
		}).Draw(t, "kind"),
		ID:       rapid.Uint64Min(1).Draw(t, "id"),
		Settings: sharedSettings(t),
		Round:    r.Round,
	}
	switch c.Kind {
	case breaker.Acquire:
		c.Lease = time.Duration(rapid.IntRange(1, 40).Draw(t, "lease")) * time.Second
		if len(tokens) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
			c.ID = rapid.SampledFrom(tokens).Draw(t, "token")
		}
	case breaker.Settle:
		c.Outcome = rapid.SampledFrom([]breaker.Outcome{
			breaker.Unjudged, breaker.Success, breaker.Failure, breaker.Failure, breaker.Neutral,
		}).Draw(t, "outcome")
		c.Restart = rapid.IntRange(0, 4).Draw(t, "restart") == 0
		if len(tokens) > 0 && rapid.Bool().Draw(t, "probe") {
			c.Token = rapid.SampledFrom(tokens[max(0, len(tokens)-4):]).Draw(t, "token")
			c.ID = c.Token
		}
	case breaker.Vote:
		c.Replica, c.Failures = uint64(rapid.IntRange(1, 4).Draw(t, "replica")), 3
	case breaker.Operate:
		c.Order = breaker.Order{Author: "a", Reason: "r"}
		switch rapid.IntRange(0, 2).Draw(t, "order") {
		case 0:
			c.Order.Reset = true
		case 1:
			c.Order.Force = rapid.SampledFrom([]breaker.Force{
				breaker.ForceOpen, breaker.ForceClosed, breaker.ForceDisabled,
			}).Draw(t, "force")
			c.Order.For = time.Duration(rapid.IntRange(1, 60).Draw(t, "for")) * time.Second
		}
	}
	return c
}

// TestRecordKeepsItsInvariants runs long random histories of replicas whose policies
// differ, and after each command looks at what must hold.
func TestRecordKeepsItsInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, now := breaker.Record{}, epoch
		var tokens []uint64
		var changed []breaker.Command // what was remembered, the latest last
		t.Repeat(map[string]func(*rapid.T){
			"command": func(t *rapid.T) {
				c := anyCommand(t, r, tokens)
				next, answer := apply(t, r, now, c)
				unchanged, _ := r.Apply(now, breaker.Command{Settings: c.Settings})
				if c.Kind != breaker.Acquire && !reflect.DeepEqual(unchanged, next) {
					changed = append(changed, c)
				}
				if answer.Granted {
					tokens = append(tokens, c.ID)
				}
				r = next
			},
			"wait": func(t *rapid.T) {
				now += time.Duration(rapid.IntRange(1, 45).Draw(t, "seconds")) * time.Second
			},
			"wait a little": func(*rapid.T) { now += time.Microsecond },
			"repeat": func(t *rapid.T) {
				if len(changed) == 0 {
					t.Skip("nothing to repeat")
				}
				c := rapid.SampledFrom(changed[max(0, len(changed)-64):]).Draw(t, "repeated")
				c.Settings = sharedSettings(t)
				answer := changesNothing(t, r, now, c)
				require.Equal(t, c.Kind == breaker.Settle || c.Kind == breaker.Vote, answer.Counted)
			},
			"late": func(t *rapid.T) {
				c := anyCommand(t, r, tokens)
				c.Kind = rapid.SampledFrom([]breaker.Kind{breaker.Settle, breaker.Vote}).Draw(t, "late")
				current, _ := r.Apply(now, breaker.Command{})
				c.Round = rapid.SampledFrom([]uint64{current.Round - 1, current.Round + 1, current.Round | 1<<63}).Draw(t, "round")
				if slices.Contains(r.Seen, c.ID) {
					t.Skip("that is a repetition")
				}
				answer := changesNothing(t, r, now, c)
				require.Equal(t, c.Kind == breaker.Settle && c.Outcome == breaker.Neutral, answer.Counted)
			},
			"clock back": func(t *rapid.T) {
				then := now - time.Duration(rapid.IntRange(1, 100).Draw(t, "back"))*time.Second
				untouched := fmt.Sprintf("%+v", r)
				next, _ := r.Apply(then, breaker.Command{Settings: sharedSettings(t)})
				require.Equal(t, untouched, fmt.Sprintf("%+v", r), "the receiver has changed")
				require.GreaterOrEqual(t, next.Round, r.Round)
				wellFormed(t, next, then)
				for _, l := range next.Leases {
					require.LessOrEqual(t, l.End, then+l.Length)
				}
				recovers(t, next, then, sharedSettings(t))
				again, answer := next.Apply(then, breaker.Command{})
				require.False(t, answer.Clamped, "once is enough")
				require.Equal(t, next, again)
			},
		})
	})
}

// A state does not grow with the commands that it has seen, and knows the last 64.
func TestRecordRemembers(t *testing.T) {
	r, settings := breaker.Record{}, breaker.DefaultSettings()
	settings.FailureThreshold = 1000
	failure := func(id uint64) breaker.Command {
		return breaker.Command{Kind: breaker.Settle, ID: id, Outcome: breaker.Failure, Settings: settings}
	}
	for id := range uint64(500) {
		r, _ = apply(t, r, epoch, failure(id+1))
	}
	for id := range uint64(64) {
		require.True(t, changesNothing(t, r, epoch, failure(500-id)).Counted)
	}
	require.Equal(t, 500, r.Failures)
}

// Whether a replica uses its circuit is its own affair: what it reports counts.
func TestRecordIgnoresEnabled(t *testing.T) {
	settings := breaker.DefaultSettings()
	settings.Enabled, settings.FailureThreshold = false, 1
	for _, c := range []breaker.Command{
		{Kind: breaker.Settle, ID: 1, Outcome: breaker.Failure, Settings: settings},
		{Kind: breaker.Vote, ID: 1, Settings: settings},
	} {
		r, answer := breaker.Record{}.Apply(epoch, c)
		require.True(t, answer.Counted)
		require.Equal(t, breaker.Open, r.Beneath)
	}
}

// TestRecordIsTheMachine runs one client's history, without restarts, votes and orders
// that lapse, through a record and through the machine with its counter: who shares a
// circuit with nobody has the circuit that they would have without a store.
func TestRecordIsTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySettings(t)
		m, r, now := model{settings: s}, breaker.Record{}, epoch
		type pair struct {
			permit breaker.Permit
			round  uint64
			token  uint64
		}
		var permits []pair
		do := func(t *rapid.T, c breaker.Command) (answer breaker.Answer) {
			c.Settings = s
			r, answer = apply(t, r, now, c)
			return answer
		}
		t.Repeat(map[string]func(*rapid.T){
			"acquire": func(t *rapid.T) {
				permit, ok := m.acquire(now)
				id := rand.Uint64() | 1
				answer := do(t, breaker.Command{Kind: breaker.Acquire, ID: id, Lease: limit + time.Second})
				require.Equal(t, ok, answer.Granted)
				if ok {
					p := pair{permit: permit, round: r.Round}
					if permit.Probe() {
						p.token = id
					}
					permits = append(permits, p)
				}
			},
			"settle": func(t *rapid.T) {
				if len(permits) == 0 {
					t.Skip("no permit yet")
				}
				at := rapid.IntRange(0, len(permits)-1).Draw(t, "permit")
				p, o := permits[at], anyOutcome.Draw(t, "outcome")
				c := breaker.Command{Kind: breaker.Settle, ID: p.token, Token: p.token, Round: p.round, Outcome: o}
				if p.token == 0 {
					c.ID = rand.Uint64() | 1
				} else {
					permits = slices.Delete(permits, at, at+1) // a repeated one is answered as the first was
				}
				require.Equal(t, m.settle(p.permit, o, now), do(t, c).Counted)
			},
			"wait": func(t *rapid.T) {
				now += time.Duration(rapid.IntRange(1, 45).Draw(t, "seconds")) * time.Second
			},
			"operate": func(t *rapid.T) {
				o := breaker.Order{Author: "a", Reason: "r"}
				switch rapid.IntRange(0, 5).Draw(t, "operation") {
				case 0:
					o.Reset = true
					m.become(m.machine.Reset(now))
				case 1, 2:
					o.Force = rapid.SampledFrom([]breaker.Force{
						breaker.ForceOpen, breaker.ForceClosed, breaker.ForceDisabled,
					}).Draw(t, "force")
					o.For = breaker.LongestOrder
					m.become(m.machine.SetForce(o.Force, now))
				default:
					m.become(m.machine.SetForce(breaker.NoForce, now))
				}
				do(t, breaker.Command{Kind: breaker.Operate, ID: rand.Uint64() | 1, Order: o})
			},
			"": func(t *rapid.T) {
				require.Equal(t, m.machine.Beneath, r.Beneath)
				require.Equal(t, m.machine.Force, r.Force)
				require.Equal(t, m.machine.Generation, r.Generation)
				require.Equal(t, m.machine.LastFailure, r.LastFailure)
				require.Equal(t, m.machine.LastHalfOpen, r.LastHalfOpen)
				require.Equal(t, m.machine.Since, r.Since)
				require.Equal(t, m.machine.Successes, r.Successes)
				require.Equal(t, m.machine.LivePermits(now), r.LivePermits(now))
				require.Equal(t, m.machine.FreeAt(now, s), r.FreeAt(now, s))
				switch r.Beneath {
				case breaker.Closed:
					require.Equal(t, m.run, r.Failures)
				case breaker.Open:
					require.Equal(t, map[bool]int{true: s.FailureThreshold, false: 1}[r.Generation == 1], r.Failures)
				default:
					require.Zero(t, r.Failures)
				}
			},
		})
	})
}
