package policies_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// What Explain foretells is held against what calls do.

// inBubble hides the test's deadline from rapid, which cannot be asked for in a
// bubble.
type inBubble struct{ *testing.T }

// checkInBubble runs a rapid check in a bubble, where waiting takes no time.
func checkInBubble(t *testing.T, check func(*rapid.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { rapid.Check(inBubble{t}, check) })
}

// anyPolicy is any valid one.
func anyPolicy(t *rapid.T) resilient.Policy {
	span := func(name string, low, high time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, name))
	}
	p := resilient.DefaultPolicy()
	r, c := &p.Retry, &p.Circuit
	r.MaxAttempts = rapid.IntRange(1, 12).Draw(t, "attempts")
	r.Backoff = rapid.SampledFrom(resilient.Backoffs()).Draw(t, "strategy")
	r.BaseDelay = span("base", 0, rapid.SampledFrom([]time.Duration{time.Second, time.Minute}).Draw(t, "largest base"))
	r.MaxDelay = span("most", max(r.BaseDelay, r.Backoff.Floor()), 5*time.Minute)
	r.Jitter = rapid.Bool().Draw(t, "jitter")
	r.IdempotentOnly = rapid.Bool().Draw(t, "idempotent only")
	r.MaxRetryAfter = span("hint", 0, time.Minute)
	p.TotalTimeout = span("total", 1, resilient.MaxTotalTimeout)
	if rapid.Bool().Draw(t, "limited") {
		p.AttemptTimeout = span("attempt", 1, rapid.SampledFrom([]time.Duration{time.Second, resilient.MaxTotalTimeout}).Draw(t, "longest attempt"))
	}
	c.Enabled = rapid.Bool().Draw(t, "enabled")
	c.FailureThreshold = rapid.IntRange(1, 30).Draw(t, "threshold")
	c.RecoveryTimeout = span("recovery", 1, time.Hour)
	c.MaxRecoveryTimeout = span("longest recovery", c.RecoveryTimeout, 24*time.Hour)
	c.RecoveryMultiplier = rapid.Float64Range(1, 100).Draw(t, "multiplier")
	c.Cooldown = span("cooldown", 0, time.Hour)
	c.ProbeLease = span("lease", 0, 24*time.Hour)
	c.MaxProbes = rapid.IntRange(1, 100).Draw(t, "probes")
	c.SuccessesToClose = rapid.IntRange(1, 100).Draw(t, "needed")
	c.MinReporters = rapid.IntRange(1, 100).Draw(t, "reporters")
	c.RecoveryJitter = rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "jitter of the open time")
	anyRules(t, c, span)
	return p
}

// anyRules puts rules beside that of failures in a row, or in its place.
func anyRules(t *rapid.T, c *resilient.CircuitPolicy, span func(string, time.Duration, time.Duration) time.Duration) {
	rates := rapid.SampledFrom([]float64{0, 0.01, 0.5, 0.9, 0.95, 1})
	c.FailureRate, c.SlowCallRate = rates.Draw(t, "failure rate"), rates.Draw(t, "slow rate")
	if c.SlowCallRate > 0 {
		c.SlowCallDuration = span("slow", 1, rapid.SampledFrom([]time.Duration{time.Second, 5 * time.Minute}).Draw(t, "longest slow"))
	}
	c.MinimumCalls = rapid.IntRange(1, 40).Draw(t, "minimum")
	c.Window = span("window", time.Second, rapid.SampledFrom([]time.Duration{10 * time.Second, time.Hour}).Draw(t, "longest window"))
	c.WindowBuckets = rapid.IntRange(2, 100).Draw(t, "buckets")
	if (c.FailureRate > 0 || c.SlowCallRate > 0) && rapid.Bool().Draw(t, "no threshold") {
		c.FailureThreshold = 0
	}
}

// guarded returns a guard with that policy, and what is foretold of it.
func guarded(t require.TestingT, p resilient.Policy) (*resilient.Guard, policies.Explanation) {
	reg, err := policies.Load(policies.Config{}, &policies.Options{Options: quiet()})
	require.NoError(t, err)
	g := reg.Guard("plan_service")
	require.NoError(t, g.SetPolicy(p))
	return g, reg.Explain("plan_service")
}

var repeated = resilient.Idempotent("read")

// The attempts of a call begin and end when Explain says, and the call takes no longer,
// whatever each attempt does with its time.
func TestExplainedScheduleHolds(t *testing.T) {
	checkInBubble(t, func(t *rapid.T) {
		p := anyPolicy(t)
		p.Circuit.Enabled = false
		hints := rapid.Bool().Draw(t, "hints")
		g, e := guarded(t, p)
		s := e.Schedule
		require.Len(t, s.Attempts, p.Retry.MaxAttempts)

		begin, n, ended := time.Now(), 0, time.Duration(0)
		err := resilient.Do(t.Context(), g, repeated, func(ctx context.Context) error {
			start := time.Since(begin)
			require.Less(t, n, len(s.Attempts))
			a := s.Attempts[n]
			n++
			require.Equal(t, n, a.Number)
			require.False(t, a.Never)
			if !hints {
				require.GreaterOrEqual(t, start, a.EarliestStart)
				require.LessOrEqual(t, start, a.LatestStart)
				if n > 1 {
					require.GreaterOrEqual(t, start-ended, a.Shortest)
					require.LessOrEqual(t, start-ended, a.Longest)
				}
			}
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0: // it fails at once
			case 1:
				limit := rapid.Int64Range(0, int64(p.AttemptLimit())).Draw(t, "how long")
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(limit)):
				}
			default:
				<-ctx.Done()
			}
			ended = time.Since(begin)
			if !hints {
				require.LessOrEqual(t, ended, a.LatestEnd)
				return errDown
			}
			return resilient.RetryAfter(errDown, time.Duration(rapid.Int64Range(0, int64(p.Retry.MaxRetryAfter)).Draw(t, "hint")))
		})
		require.Error(t, err)
		require.LessOrEqual(t, n, s.Possible)
		took := time.Since(begin)
		require.LessOrEqual(t, took, s.LongestHinted)
		if !hints {
			require.LessOrEqual(t, took, s.Longest)
		}
	})
}

// Without jitter all of it is exact: every attempt that fails at once begins at its
// earliest time; those that hang, and fit, take the whole of the longest time.
func TestExplainedScheduleIsReached(t *testing.T) {
	checkInBubble(t, func(t *rapid.T) {
		p := anyPolicy(t)
		p.Circuit.Enabled = false
		p.Retry.Jitter = false
		p.Retry.Backoff = rapid.SampledFrom([]resilient.Backoff{
			resilient.BackoffExponential, resilient.BackoffFixed, resilient.BackoffLinearIncreasing, resilient.BackoffNone,
		}).Draw(t, "unspread strategy")
		p.Retry.MaxDelay = max(p.Retry.MaxDelay, p.Retry.Backoff.Floor())
		g, e := guarded(t, p)

		begin, n := time.Now(), 0
		require.Error(t, resilient.Do(t.Context(), g, repeated, func(context.Context) error {
			require.Equal(t, e.Schedule.Attempts[n].EarliestStart, time.Since(begin))
			n++
			return errDown
		}))
		require.Equal(t, e.Schedule.Possible, n)

		begin = time.Now()
		require.Error(t, resilient.Do(t.Context(), g, once, hangs))
		require.Equal(t, e.Schedule.Once, time.Since(begin))

		begin = time.Now()
		require.Error(t, resilient.Do(t.Context(), g, repeated, hangs))
		if last := e.Schedule.Attempts[p.Retry.MaxAttempts-1]; last.LatestStart < p.TotalTimeout {
			require.Equal(t, e.Schedule.Longest, time.Since(begin))
		}
	})
}

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// once is an op that is made once, whatever the policy says.
var once = resilient.NonIdempotent("once").InPlan("planning").ExecutesTools()

// The circuit opens when Explain says, and not earlier.
func TestExplainedOpening(t *testing.T) {
	fails := func(context.Context) error { return errDown }
	checkInBubble(t, func(t *rapid.T) {
		p := anyPolicy(t)
		p.Circuit.Enabled = true
		p.Circuit.Observe = rapid.Bool().Draw(t, "observe")                                  // it opens nevertheless
		p.Circuit.RecoveryTimeout, p.Circuit.MaxRecoveryTimeout = 24*time.Hour, 24*time.Hour // it stays open meanwhile
		fn, attempt, want := fails, time.Duration(0), func(o policies.CircuitOutlook) policies.Opening { return o.FailingAtOnce }
		if rapid.Bool().Draw(t, "hanging") {
			fn, attempt, want = hangs, p.AttemptLimit(), func(o policies.CircuitOutlook) policies.Opening { return o.Hanging }
		}
		_, e := guarded(t, p)
		foretold := want(e.Circuit)
		require.Equal(t, p.Circuit.FailureThreshold, e.Circuit.Failures)
		require.Equal(t, p.Circuit.Observe, e.Circuit.Observes)
		opens := func(run func(*resilient.Guard)) (took time.Duration, opened bool) {
			g, _ := guarded(t, p)
			begin := time.Now()
			run(g)
			snap := g.Circuit().Snapshot()
			return snap.Since.Sub(begin), snap.State == breaker.Open
		}
		together := func(callers int, op resilient.Op) (time.Duration, bool) {
			return opens(func(g *resilient.Guard) {
				var wg sync.WaitGroup
				for range callers {
					wg.Go(func() { _ = resilient.Do(t.Context(), g, op, fn) })
				}
				wg.Wait()
			})
		}

		made := 0
		took, opened := opens(func(g *resilient.Guard) {
			most := p.Circuit.FailureThreshold + p.Circuit.MinimumCalls + 200
			for g.Circuit().State() == breaker.Closed && made < most {
				_ = resilient.Do(t.Context(), g, repeated, func(ctx context.Context) error {
					made++
					return fn(ctx)
				})
			}
		})
		spread, longest := false, attempt
		for n := 1; n < p.Retry.MaxAttempts; n++ {
			from, to := p.Retry.Delays(n)
			spread, longest = spread || from < to, longest+to+attempt
		}
		windowed := p.Circuit.FailureRate > 0 || p.Circuit.SlowCallRate > 0 // where longer waits can be too long
		switch {
		case !spread:
			require.Equal(t, foretold.OneCallerAttempts > 0, opened)
			if opened {
				require.Equal(t, foretold.OneCaller, took)
			}
			if opened && !p.Circuit.Observe { // else the call goes on
				require.Equal(t, foretold.OneCallerAttempts, made)
			}
		case longest < p.TotalTimeout && !windowed: // where long waits can end a call, that shortens the whole
			require.GreaterOrEqual(t, took, foretold.OneCaller)
		}
		if foretold.Attempts == 0 {
			require.Equal(t, policies.Opening{}, foretold)
			require.False(t, opened)
			_, opened = together(100, once)
			require.False(t, opened)
			return
		}
		if opened {
			require.GreaterOrEqual(t, took, foretold.ManyCallers)
		}

		took, opened = together(foretold.Attempts, repeated)
		require.True(t, opened)
		require.Equal(t, foretold.ManyCallers, took)
		_, opened = together(foretold.Attempts-1, once)
		require.False(t, opened, "fewer do not")
	})
}

// One caller and a window, where it is close: what is forgotten by the bucket, what comes unevenly, what is just slow.
func TestExplainedOpeningOfOneCaller(t *testing.T) {
	plain := func(p *resilient.Policy) { // 0, 1, 3 s | 3, 4, 6 s | …
		p.Retry.Jitter, p.Circuit.FailureThreshold, p.Circuit.FailureRate = false, 0, 1
	}
	for name, c := range map[string]struct {
		set      func(*resilient.Policy)
		hanging  bool
		attempts int
		after    time.Duration
	}{
		"the window's length is rounded up": {func(p *resilient.Policy) {
			p.Circuit.MinimumCalls, p.Circuit.Window, p.Circuit.WindowBuckets = 2, time.Second, 3
		}, false, 2, time.Second},
		"the first ones are too seldom, the next ones are not": {func(p *resilient.Policy) {
			p.Circuit.MinimumCalls, p.Circuit.Window, p.Circuit.WindowBuckets = 3, 2500*time.Millisecond, 100
		}, false, 4, 3 * time.Second},
		"never": {func(p *resilient.Policy) {
			p.Circuit.MinimumCalls, p.Circuit.Window, p.Circuit.WindowBuckets = 5, 2500*time.Millisecond, 100
		}, false, 0, 0},
		"the row is there first": {func(p *resilient.Policy) {
			p.Circuit.MinimumCalls, p.Circuit.FailureThreshold = 3, 2
		}, false, 2, time.Second},
		"the row is there where the window forgets": {func(p *resilient.Policy) {
			p.Circuit.MinimumCalls, p.Circuit.FailureThreshold, p.Circuit.Window = 3, 4, time.Second
		}, false, 4, 3 * time.Second},
		"as long as a slow one takes": {func(p *resilient.Policy) {
			p.Circuit.FailureRate, p.Circuit.SlowCallRate, p.Circuit.MinimumCalls = 0, 1, 2
			p.AttemptTimeout, p.Circuit.SlowCallDuration = 2*time.Second, 2*time.Second
		}, true, 2, 5 * time.Second},
		"not quite": {func(p *resilient.Policy) {
			p.Circuit.FailureRate, p.Circuit.SlowCallRate, p.Circuit.MinimumCalls = 0, 1, 2
			p.AttemptTimeout, p.Circuit.SlowCallDuration = 2*time.Second, 2*time.Second+1
		}, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := resilient.DefaultPolicy()
				plain(&p)
				c.set(&p)
				g, e := guarded(t, p)
				foretold, fn := e.Circuit.FailingAtOnce, func(context.Context) error { return errDown }
				if c.hanging {
					foretold, fn = e.Circuit.Hanging, hangs
				}
				assert.Equal(t, c.attempts, foretold.OneCallerAttempts)
				assert.Equal(t, c.after, foretold.OneCaller)

				begin, made := time.Now(), 0
				for g.Circuit().State() == breaker.Closed && made < 100 {
					_ = resilient.Do(t.Context(), g, repeated, func(ctx context.Context) error {
						made++
						return fn(ctx)
					})
				}
				if c.attempts == 0 {
					assert.Equal(t, breaker.Closed, g.Circuit().State())
					return
				}
				assert.Equal(t, c.attempts, made)
				assert.Equal(t, c.after, g.Circuit().Snapshot().Since.Sub(begin))
			})
		})
	}
}

// A share that is foretold is the one that the circuit opens at.
func TestExplainedShares(t *testing.T) {
	checkInBubble(t, func(t *rapid.T) {
		p := resilient.DefaultPolicy()
		p.Circuit.FailureThreshold = 0
		p.Circuit.MinimumCalls = rapid.IntRange(1, 200).Draw(t, "minimum")
		rate := float64(rapid.IntRange(1, 100).Draw(t, "percent")) / 100
		slow := rapid.Bool().Draw(t, "slow")
		share := func(o policies.CircuitOutlook) policies.Share { return o.FailureShare }
		if p.Circuit.FailureRate = rate; slow {
			p.Circuit.FailureRate, p.Circuit.SlowCallRate, p.Circuit.SlowCallDuration = 0, rate, time.Millisecond
			share = func(o policies.CircuitOutlook) policies.Share { return o.SlowShare }
		}
		g, e := guarded(t, p)
		foretold := share(e.Circuit)
		require.Equal(t, policies.Share{Rate: rate, Bad: foretold.Bad, Calls: p.Circuit.MinimumCalls, Window: time.Minute}, foretold)
		call := func(bad bool) {
			_ = resilient.Do(t.Context(), g, once, func(context.Context) error {
				switch {
				case !bad:
					return nil
				case slow:
					time.Sleep(time.Millisecond)
					return nil
				}
				return errDown
			})
		}
		for range foretold.Calls - foretold.Bad {
			call(false)
		}
		for range foretold.Bad {
			require.Equal(t, breaker.Closed, g.Circuit().State())
			call(true)
		}
		require.Equal(t, breaker.Open, g.Circuit().State())
	})
}

// A budget pays for as many retries as Explain says.
func TestExplainedBudget(t *testing.T) {
	checkInBubble(t, func(t *rapid.T) {
		rule := resilient.TokenBucket{Capacity: rapid.IntRange(10, 200).Draw(t, "capacity")}
		rule.RetryCost = rapid.IntRange(1, 10).Draw(t, "cost")
		rule.ThrottledCost = rapid.IntRange(1, 10).Draw(t, "throttled")
		rule.Refill = rapid.IntRange(1, 10).Draw(t, "refill")
		retriesOf := func(err error) (retries, toEarnOne int, note string) {
			budget, bad := resilient.NewBudget(rule)
			require.NoError(t, bad)
			options := &policies.Options{Options: quiet(), Defaults: &policies.Defaults{Fallback: &policies.Patch{}}}
			options.Budgets = map[string]*resilient.Budget{"pot": budget}
			reg, bad := policies.Load(policies.ParseJSON([]byte(`{"retry_backoff_strategy":"none","retry_jitter":false,
				"retry_service_overrides":{"x":{"retry":{"budget":"pot"},"circuit_breaker":{"enabled":false}}}}`)), options)
			require.NoError(t, bad)
			call := func(err error) (made int) {
				_ = resilient.Do(t.Context(), reg.Guard("x"), repeated, func(context.Context) error {
					made++
					return err
				})
				return made - 1
			}
			for more := 1; more > 0; {
				more = call(err)
				retries += more
			}
			for budget.Snapshot().Left > 0 && call(err) > 0 {
				t.Fatal("it is empty")
			}
			left := budget.Snapshot().Left
			for budget.Snapshot().Left < rule.RetryCost {
				call(nil)
				toEarnOne++
			}
			if left > 0 { // as if it had been empty
				toEarnOne = (rule.RetryCost + rule.Refill - 1) / rule.Refill
			}
			found, ok := remark(reg.Explain("x"), "retry-budget")
			require.True(t, ok)
			return retries, toEarnOne, found.Text
		}
		plain, successes, note := retriesOf(errDown)
		throttled, _, _ := retriesOf(resilient.Throttled(errDown))
		require.Equal(t, fmt.Sprintf(
			"retries draw on budget pot, with all that name it: when full it pays for %d, or %d of throttled calls; when empty for one after every %d calls that succeed at once",
			plain, throttled, successes), note)
	})
}

// The circuit recovers when Explain says.
func TestExplainedOpenTimes(t *testing.T) {
	checkInBubble(t, func(t *rapid.T) {
		p := anyPolicy(t)
		p.Circuit.Enabled, p.Circuit.FailureThreshold = true, 1
		g, e := guarded(t, p)
		o := e.Circuit
		require.NotEmpty(t, o.Open)
		require.LessOrEqual(t, len(o.Open), 20)
		for i, open := range o.Open {
			require.Equal(t, i+1, open.Generation)
			require.ErrorIs(t, resilient.Do(t.Context(), g, once, func(context.Context) error { return errDown }), errDown)
			snap := g.Circuit().Snapshot()
			require.Equal(t, open.Generation, snap.Generation)
			least, most := open.AfterProbe, open.LongestAfterProbe
			if i == 0 {
				least, most = open.For, open.LongestFor
			}
			if p.Circuit.RecoveryJitter == 0 {
				require.Equal(t, least, most)
			}
			is := time.Until(snap.Until)
			require.GreaterOrEqual(t, is, least)
			require.LessOrEqual(t, is, most)
			time.Sleep(is)
		}
		last := o.Open[len(o.Open)-1]
		switch {
		case o.CapGeneration == last.Generation:
			require.Equal(t, p.Circuit.MaxRecoveryTimeout, last.For)
			require.Equal(t, p.Circuit.MaxRecoveryTimeout, p.Circuit.OpenFor(math.MaxInt))
		case o.CapGeneration > 0:
			require.Len(t, o.Open, 20)
			require.Less(t, p.Circuit.OpenFor(o.CapGeneration-1), p.Circuit.MaxRecoveryTimeout)
			require.Equal(t, p.Circuit.MaxRecoveryTimeout, p.Circuit.OpenFor(o.CapGeneration))
		default:
			require.Less(t, p.Circuit.OpenFor(1_000_000), p.Circuit.MaxRecoveryTimeout)
		}

		// A probe that hangs keeps its place until its lease is over.
		permit, err := g.Acquire(t.Context())
		require.NoError(t, err)
		defer permit.Settle(nil)
		begin := time.Now()
		require.Equal(t, breaker.HalfOpen, g.Circuit().State())
		for range p.Circuit.MaxProbes - 1 {
			_, rejected := g.Circuit().Acquire(g.Circuit().Now(), p.AttemptLimit())
			require.Nil(t, rejected)
		}
		_, rejected := g.Circuit().Acquire(g.Circuit().Now(), p.AttemptLimit())
		require.NotNil(t, rejected)
		require.Equal(t, o.Lease, rejected.Until.Sub(begin))
	})
}

// The average that Explain gives is that of a real circuit, and of the other way to
// reckon: k in a row take one attempt more than k-1 in a row, and all anew if it
// succeeds.
func TestExplainedAverage(t *testing.T) {
	p := resilient.DefaultPolicy()
	average := 0.0
	for k := 1; k <= 100; k++ {
		average = (average + 1) / 0.9
		p.Circuit.FailureThreshold = k
		_, e := guarded(t, p)
		require.InEpsilon(t, average, e.Circuit.NineInTen, 1e-9)
	}
	p.Circuit.FailureThreshold = 1_000_000
	_, e := guarded(t, p)
	require.Equal(t, 1e12, e.Circuit.NineInTen)

	p.Circuit.FailureThreshold = 5
	_, e = guarded(t, p)
	chance := rand.New(rand.NewPCG(1, 2))
	const runs = 20_000
	attempts := 0
	for range runs {
		c, err := breaker.New("c", p.Circuit, nil)
		require.NoError(t, err)
		for c.State() == breaker.Closed {
			permit, rejected := c.Acquire(c.Now(), 0)
			require.Nil(t, rejected)
			outcome := breaker.Failure
			if chance.IntN(10) == 0 {
				outcome = breaker.Success
			}
			c.Settle(permit, outcome, errDown)
			attempts++
		}
	}
	require.InEpsilon(t, e.Circuit.NineInTen, float64(attempts)/runs, 0.02)
}

// Where nine failures in ten reach the share, as many attempts as it needs are enough, and
// a few more until one fails.
func TestExplainedNineInTen(t *testing.T) {
	for _, rate := range []float64{0.3, 0.7} {
		p := resilient.DefaultPolicy()
		p.Circuit.FailureThreshold, p.Circuit.FailureRate = 0, rate
		_, e := guarded(t, p)
		assert.Zero(t, e.Circuit.NineInTen)
		assert.Contains(t, e.String(), "if nine in ten fail      about 20 attempts within 1m\n")
		chance := rand.New(rand.NewPCG(1, 2))
		attempts := 0
		const runs = 1000
		for range runs {
			c, err := breaker.New("c", p.Circuit, nil)
			require.NoError(t, err)
			for c.State() == breaker.Closed {
				permit, rejected := c.Acquire(c.Now(), 0)
				require.Nil(t, rejected)
				outcome := breaker.Failure
				if chance.IntN(10) == 0 {
					outcome = breaker.Success
				}
				c.Settle(permit, outcome, errDown)
				attempts++
			}
		}
		assert.InEpsilon(t, e.Circuit.FailureShare.Calls, float64(attempts)/runs, 0.05)
	}

	p := resilient.DefaultPolicy()
	p.Circuit.FailureRate = 0.5
	_, e := guarded(t, p)
	assert.Contains(t, e.String(), "if nine in ten fail      7 attempts on average\n", "the row is there first")
	p.Circuit.FailureThreshold, p.Circuit.FailureRate = 0, 0.91
	_, e = guarded(t, p)
	assert.Contains(t, e.String(), "if nine in ten fail      it hardly ever opens\n")
}

// Explaining any policy gives text and JSON that can be read.
func TestExplainAnyPolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t)
		p.Retry.MaxAttempts = rapid.IntRange(1, 100).Draw(t, "many attempts")
		p.Circuit.FailureThreshold = rapid.IntRange(1, 1_000_000).Draw(t, "any threshold")
		_, e := guarded(t, p)
		text := e.String()
		for line := range strings.Lines(text) {
			require.Equal(t, strings.TrimRight(line, " \t\n")+"\n", line, "nothing at the end of a line")
		}
		data, err := json.Marshal(e)
		require.NoError(t, err)
		var back map[string]any
		require.NoError(t, json.Unmarshal(data, &back))
		require.Len(t, back["settings"], len(policies.Keys()))
		earlier := policies.Attempt{}
		for _, a := range e.Schedule.Attempts {
			require.LessOrEqual(t, a.Shortest, a.Longest)
			require.LessOrEqual(t, a.EarliestStart, a.LatestStart)
			require.LessOrEqual(t, a.LatestStart, a.LatestEnd)
			require.LessOrEqual(t, a.LatestEnd, p.TotalTimeout)
			require.GreaterOrEqual(t, a.EarliestStart, earlier.EarliestStart)
			require.GreaterOrEqual(t, a.LatestEnd, earlier.LatestEnd)
			require.True(t, a.Never || !earlier.Never, "what comes after never comes never")
			earlier = a
		}
	})
}

// A chain multiplies as Explain says: with the scope in the context, and with each call
// taken out of those above.
func TestExplainedChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := fromOverrides(t, `{"top":{"retry":{"max_attempts":1}},"a":{"retry":{"max_attempts":4}},"b":{"retry":{"max_attempts":3}},
			"c":{"retry":{"max_attempts":2}},"cut":{"retry":{"max_attempts":9},"total_timeout":2.5}}`)
		for _, name := range reg.Names() {
			p := reg.Policy(name)
			p.Circuit.Enabled = false // the figures are for closed ones
			p.Retry.BaseDelay = 0
			p.Retry.Backoff = resilient.BackoffNone
			if name == "cut" {
				p.Retry.Backoff, p.Retry.BaseDelay = resilient.BackoffFixed, time.Second
			}
			require.NoError(t, reg.Guard(name).SetPolicy(p))
		}
		for _, names := range [][]string{
			{}, {"top"}, {"a"}, {"top", "a", "b"}, {"a", "top", "b", "c"}, {"top", "top"}, {"a", "b", "c"}, {"a", "cut"},
		} {
			calls, unguarded := 0, 0
			_ = callChain(t.Context(), reg, names, &calls, func(ctx context.Context) context.Context { return ctx })
			_ = callChain(t.Context(), reg, names, &unguarded, func(context.Context) context.Context { return context.Background() })
			c := reg.ExplainChain(names...)
			assert.Equal(t, calls, c.Calls, names)
			assert.Equal(t, unguarded, c.CallsUnguarded, names)
			require.Len(t, c.Links, len(names))
			if n := len(names); n > 0 {
				assert.Equal(t, policies.Link{Service: names[n-1], Attempts: reg.Explain(names[n-1]).Schedule.Possible, Calls: calls, CallsUnguarded: unguarded}, c.Links[n-1])
			}
		}

		var many []string
		for range 40 {
			many = append(many, "a", "password=hunter2")
		}
		before := reg.Names()
		c := reg.ExplainChain(many...)
		assert.Equal(t, math.MaxInt, c.CallsUnguarded, "beyond the range")
		assert.Equal(t, 4, c.Calls)
		assert.NotContains(t, c.String(), "hunter2")
		assert.Equal(t, before, reg.Names(), "no guard was made")
	})
}

// callChain calls the services one inside of the other.
func callChain(ctx context.Context, reg *policies.Registry, names []string, bottom *int, handOn func(context.Context) context.Context) error {
	if len(names) == 0 {
		*bottom++
		return errDown
	}
	return resilient.Do(ctx, reg.Guard(names[0]), repeated, func(ctx context.Context) error {
		_ = callChain(handOn(ctx), reg, names[1:], bottom, handOn)
		return errDown // and not what came from below: an exhausted call is not repeated
	})
}
