package otelguard_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/integrations/otelguard"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/resilienttest"
)

// counted are the instruments that events are counted with.
var counted = []string{
	"stoic.calls", "stoic.call.", "stoic.attempts", "stoic.retry.delay", "stoic.rejections", "stoic.exhausted", "stoic.late_results",
	"stoic.circuit.changes", "stoic.store.",
}

// script plays calls whose numbers are known: see the test below.
func script(t *testing.T, options resilient.Options) []*resilient.Guard {
	answer := errors.New("no such plan")
	options.Classify = func(err error) resilient.Outcome {
		if errors.Is(err, answer) {
			return resilient.OutcomeSuccess
		}
		return resilient.OutcomeUnjudged
	}
	plans := guard(t, "plans", policy(threshold(4)), options)
	play := func(g *resilient.Guard, op resilient.Op, steps ...resilienttest.Step[int]) error {
		s := resilienttest.Script[int]{Steps: steps}
		return resilient.Do(t.Context(), g, op, s.RunErr)
	}
	fine, down := resilienttest.Step[int]{Wait: sec}, resilienttest.Step[int]{Wait: 2 * sec, Err: errDown}
	for range 5 {
		require.NoError(t, play(plans, get, fine)) // 1 s each
	}
	require.NoError(t, play(plans, get, down, down, fine))                                         // 2 + 1 + 2 + 1 + 1 = 7 s
	require.Error(t, play(plans, get, resilienttest.Step[int]{Err: answer}))                       // an error, but no failure
	require.Error(t, play(plans, apply, resilienttest.Step[int]{Err: resilient.Neutral(errDown)})) // nor this
	late, err := plans.Acquire(t.Context())
	require.NoError(t, err)
	require.Error(t, play(plans, get, down, down, down)) // 8 s, exhausted
	require.Error(t, play(plans, get, down))             // 2 s: the fourth failure in a row opens
	require.Error(t, play(plans, get, fine))             // rejected
	_, err = plans.Acquire(t.Context())                  // rejected
	require.Error(t, err)
	late.Settle(nil) // 10 s after it was acquired
	time.Sleep(time.Until(plans.Circuit().Snapshot().Until))
	require.NoError(t, play(plans, get, fine)) // the probe
	plans.Circuit().ForceOpen()
	require.Error(t, play(plans, apply, fine)) // rejected
	plans.Circuit().Release()

	store := newFragileStore()
	options.Store = store
	shared := guard(t, "shared", policy(), options)
	for _, lost := range []bool{false, true, false, true} {
		store.down.Store(lost)
		time.Sleep(2 * sec)
		require.NoError(t, play(shared, get, fine))
	}
	return []*resilient.Guard{plans, shared}
}

// The numbers agree exactly with what a scripted run did, with spans and without.
func TestNumbersAgreeWithAScriptedRun(t *testing.T) {
	for name, options := range map[string]otelguard.Options{
		"metrics alone": {NoSpanEvents: true}, "with events": {}, "with a span for each attempt": {AttemptSpans: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMeasured(t, options)
				script(t, observers(m))
				assert.Equal(t, map[string]float64{
					"stoic.calls{operation=get,result=success,service=plans}":    7,
					"stoic.calls{operation=get,result=error,service=plans}":      3,
					"stoic.calls{operation=get,result=rejected,service=plans}":   1,
					"stoic.calls{operation=apply,result=error,service=plans}":    1,
					"stoic.calls{operation=apply,result=rejected,service=plans}": 1,
					"stoic.calls{operation=,result=success,service=plans}":       1,
					"stoic.calls{operation=,result=rejected,service=plans}":      1,
					"stoic.calls{operation=get,result=success,service=shared}":   4,

					"stoic.call.duration.count{operation=get,result=success,service=plans}":  7,
					"stoic.call.duration.sum{operation=get,result=success,service=plans}":    5 + 7 + 1,
					"stoic.call.duration.count{operation=get,result=error,service=plans}":    3,
					"stoic.call.duration.sum{operation=get,result=error,service=plans}":      0 + 8 + 2,
					"stoic.call.duration.count{operation=apply,result=error,service=plans}":  1,
					"stoic.call.duration.sum{operation=apply,result=error,service=plans}":    0,
					"stoic.call.duration.count{operation=,result=success,service=plans}":     1,
					"stoic.call.duration.sum{operation=,result=success,service=plans}":       10,
					"stoic.call.duration.count{operation=get,result=success,service=shared}": 4,
					"stoic.call.duration.sum{operation=get,result=success,service=shared}":   4,

					"stoic.call.attempts.count{operation=get,service=plans}":   10,
					"stoic.call.attempts.sum{operation=get,service=plans}":     5 + 3 + 1 + 3 + 1 + 1,
					"stoic.call.attempts.count{operation=apply,service=plans}": 1,
					"stoic.call.attempts.sum{operation=apply,service=plans}":   1,
					"stoic.call.attempts.count{operation=,service=plans}":      1,
					"stoic.call.attempts.sum{operation=,service=plans}":        1,
					"stoic.call.attempts.count{operation=get,service=shared}":  4,
					"stoic.call.attempts.sum{operation=get,service=shared}":    4,

					"stoic.attempts{operation=get,outcome=success,service=plans}":   5 + 1 + 1 + 1,
					"stoic.attempts{operation=get,outcome=failure,service=plans}":   2 + 3 + 1,
					"stoic.attempts{operation=apply,outcome=neutral,service=plans}": 1,
					"stoic.attempts{operation=,outcome=success,service=plans}":      1,
					"stoic.attempts{operation=get,outcome=success,service=shared}":  4,

					"stoic.retry.delay.count{operation=get,service=plans}": 2 + 2,
					"stoic.retry.delay.sum{operation=get,service=plans}":   4,

					"stoic.rejections{operation=get,service=plans,state=open}":          1,
					"stoic.rejections{operation=,service=plans,state=open}":             1,
					"stoic.rejections{operation=apply,service=plans,state=forced-open}": 1,

					"stoic.exhausted{operation=get,reason=attempts-used-up,service=plans}": 1,
					"stoic.exhausted{operation=get,reason=circuit-opened,service=plans}":   1,

					"stoic.late_results{operation=,service=plans}": 1,

					"stoic.circuit.changes{from=closed,service=plans,to=open}":        1,
					"stoic.circuit.changes{from=open,service=plans,to=half-open}":     1,
					"stoic.circuit.changes{from=half-open,service=plans,to=closed}":   1,
					"stoic.circuit.changes{from=closed,service=plans,to=forced-open}": 1,
					"stoic.circuit.changes{from=forced-open,service=plans,to=closed}": 1,

					"stoic.store.losses{service=shared}": 2,
				}, only(m.collect(t), counted...))
			})
		})
	}
}

// P97: what many goroutines do at once is what an observer beside has seen, transitions among it.
func TestP97NumbersAgreeUnderLoad(t *testing.T) {
	m, recorder := newMeasured(t, otelguard.Options{}), &resilienttest.Recorder{}
	quick := func(p *resilient.Policy) { p.Retry.Backoff, p.Retry.BaseDelay = resilient.BackoffNone, 0 }
	plans := guard(t, "plans", policy(quick, threshold(10), func(p *resilient.Policy) {
		p.Circuit.RecoveryTimeout, p.Circuit.Cooldown = time.Millisecond, 0
	}), observers(m, recorder))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 2000 {
				_ = resilient.Do(context.Background(), plans, get, func(context.Context) error {
					if rand.IntN(2) == 0 {
						return errDown
					}
					return nil
				})
			}
		})
	}
	all.Wait()
	want := map[string]float64{}
	for _, e := range resilienttest.Events[resilient.CallDone](recorder) {
		result := "success"
		if e.Err != nil {
			result = "error"
		}
		want["stoic.calls{operation=get,result="+result+",service=plans}"]++
	}
	for _, e := range resilienttest.Events[resilient.AttemptDone](recorder) {
		want[fmt.Sprintf("stoic.attempts{operation=get,outcome=%s,service=plans}", e.Outcome)]++
	}
	for _, e := range resilienttest.Events[resilient.CallRejected](recorder) {
		want[fmt.Sprintf("stoic.rejections{operation=get,service=plans,state=%s}", e.Rejection.State)]++
		if e.Attempts == 0 {
			want["stoic.calls{operation=get,result=rejected,service=plans}"]++
		}
	}
	changes := resilienttest.Events[resilient.CircuitChanged](recorder)
	require.NotEmpty(t, changes)
	for _, e := range changes {
		want[fmt.Sprintf("stoic.circuit.changes{from=%s,service=plans,to=%s}", e.From, e.To)]++
	}
	assert.Equal(t, want, only(m.collect(t), "stoic.calls", "stoic.attempts", "stoic.rejections", "stoic.circuit.changes"))
}

// P102, A43: the state is right when somebody looks, though nobody calls.
func TestP102A43TheStateIsRightWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeasured(t, otelguard.Options{})
		plans := guard(t, "plans", policy(threshold(1), func(p *resilient.Policy) {
			p.Circuit.MaxProbes, p.Circuit.SuccessesToClose, p.AttemptTimeout = 2, 2, 30*sec
		}), resilient.Options{}) // it need not be observed
		m.Watch(resilient.GuardList{plans})
		state := func() string { return is(t, m.collect(t), "stoic.circuit.state{service=plans,state=") }
		number := func(name string) float64 { return m.collect(t)["stoic.circuit."+name+"{service=plans}"] }
		unix := func(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }

		assert.Equal(t, "closed", state())
		assert.Len(t, only(m.collect(t), "stoic.circuit.state"), 7, "the others are 0")
		assert.NotContains(t, m.collect(t), "stoic.circuit.since{service=plans}")
		assert.Equal(t, []float64{60, 33, 2, 0}, []float64{number("recovery_timeout"), number("lease"), number("probe_limit"), number("probes")})

		opened := time.Now()
		_ = resilient.Do(t.Context(), plans, apply, returns(errDown))
		assert.Equal(t, "open", state())
		assert.Equal(t, []float64{unix(opened), unix(opened.Add(time.Minute)), 1, 1},
			[]float64{number("since"), number("until"), number("generation"), number("failures")})
		time.Sleep(time.Minute - time.Nanosecond)
		assert.Equal(t, "open", state())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, "probe-due", state())
		time.Sleep(time.Hour)
		assert.Equal(t, "probe-due", state(), "and stays so until somebody calls")
		assert.InDelta(t, unix(opened), number("since"), 0.001)

		probe, err := plans.Acquire(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "half-open", state())
		assert.Equal(t, 1.0, number("probes"))
		time.Sleep(34 * sec)
		assert.Equal(t, 0.0, number("probes"), "its lease has lapsed")
		probe.Settle(nil)
		plans.Circuit().ForceClosed()
		assert.Equal(t, "forced-closed", state())
		assert.NotContains(t, m.collect(t), "stoic.circuit.until{service=plans}")
		require.NoError(t, plans.Circuit().Steer(t.Context(), breaker.Order{Force: breaker.ForceOpen, Author: "me", Reason: "test", For: time.Hour}))
		assert.Equal(t, "forced-open", state())
		assert.Equal(t, unix(time.Now().Add(time.Hour)), number("until"))
		time.Sleep(time.Hour)
		assert.Equal(t, "half-open", state(), "a force that is over is over, though nobody has called")
	})
}

func TestA42TheStoresModeIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, store := newMeasured(t, otelguard.Options{}), newFragileStore()
		shared := guard(t, "shared", policy(), resilient.Options{Store: store})
		alone := guard(t, "alone", policy(), resilient.Options{})
		m.Watch(resilient.GuardList{shared})
		m.Watch(resilient.GuardList{alone})
		modes := func() []string {
			var found []string
			for name, value := range only(m.collect(t), "stoic.circuit.sharing") {
				if value == 1 {
					found = append(found, name)
				}
			}
			return found
		}
		assert.ElementsMatch(t, []string{"stoic.circuit.sharing{mode=shared,service=shared}", "stoic.circuit.sharing{mode=alone,service=alone}"}, modes())
		store.down.Store(true)
		require.NoError(t, resilient.Do(t.Context(), shared, get, returns(nil)))
		assert.ElementsMatch(t, []string{"stoic.circuit.sharing{mode=lost,service=shared}", "stoic.circuit.sharing{mode=alone,service=alone}"}, modes())
		require.NoError(t, m.Close())
		require.NoError(t, m.Close(), "twice")
		assert.Empty(t, modes())
	})
}

// A circuit that only observes is shown as one, with what it would have done.
func TestACircuitThatOnlyObservesIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeasured(t, otelguard.Options{})
		trial := guard(t, "trial", policy(threshold(1), func(p *resilient.Policy) { p.Circuit.Observe = true }), observers(m))
		m.Watch(resilient.GuardList{trial, guard(t, "plans", policy(), observers(m))})
		for range 4 {
			_ = resilient.Do(t.Context(), trial, apply, returns(errDown))
		}
		numbers := m.collect(t)
		assert.Equal(t, "open", is(t, numbers, "stoic.circuit.state{service=trial,state="))
		assert.Equal(t, map[string]float64{
			"stoic.circuit.observing{service=trial}": 1, "stoic.circuit.would_reject{service=trial}": 3,
			"stoic.circuit.observing{service=plans}": 0, "stoic.circuit.would_reject{service=plans}": 0,
			"stoic.calls{operation=apply,result=error,service=trial}": 4,
		}, only(numbers, "stoic.circuit.observing", "stoic.circuit.would", "stoic.calls"))
	})
}

// What is left of a budget, and the calls that it ended.
func TestRetryBudgetsAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeasured(t, otelguard.Options{})
		budget, err := resilient.NewBudget(resilient.TokenBucket{Capacity: 5, RetryCost: 1, ThrottledCost: 1})
		require.NoError(t, err)
		options := observers(m)
		options.Budgets = map[string]*resilient.Budget{"shared": budget}
		m.WatchBudgets(options.Budgets)
		g := guard(t, "plans", policy(func(p *resilient.Policy) { p.Retry.Budget = "shared" }), options)
		left := func() float64 { return m.collect(t)["stoic.retry.budget.left{budget=shared}"] }
		assert.Equal(t, 5.0, left())
		_ = resilient.Do(t.Context(), g, get, returns(errDown))
		assert.Equal(t, 3.0, left())
		for range 2 {
			_ = resilient.Do(t.Context(), g, get, returns(errDown))
		}
		assert.Zero(t, left())
		assert.Equal(t, 1.0, m.collect(t)["stoic.exhausted{operation=get,reason=retry-budget-used-up,service=plans}"])
	})
}

// The number of series has a bound, whatever operations are called; others do not suffer.
func TestOperationsAreBounded(t *testing.T) {
	m := newMeasured(t, otelguard.Options{MaxOperations: 10})
	plans := guard(t, "plans", policy(), observers(m))
	orders := guard(t, "orders", policy(), observers(m))
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 500 {
				_ = resilient.Do(context.Background(), plans, resilient.NonIdempotent(fmt.Sprint("get/", worker, "/", i)), returns(nil))
			}
		})
	}
	all.Wait()
	_ = resilient.Do(context.Background(), orders, get, returns(nil))
	calls := only(m.collect(t), "stoic.calls")
	assert.Len(t, calls, 10+1+1)
	assert.Equal(t, 1990.0, calls["stoic.calls{operation=_OTHER,result=success,service=plans}"])
	assert.Equal(t, 1.0, calls["stoic.calls{operation=get,result=success,service=orders}"])
}

func TestServicesAreBounded(t *testing.T) {
	m := newMeasured(t, otelguard.Options{})
	for i := range otelguard.MaxServices + 10 {
		m.Observe(context.Background(), resilient.LateResult{Call: resilient.Call{Service: fmt.Sprint("s", i), Operation: "get"}})
	}
	var fromOthers float64
	for name, value := range only(m.collect(t), "stoic.late_results") {
		if strings.Contains(name, "service=_OTHER") || strings.Contains(name, "overflow") {
			fromOthers += value
		}
	}
	assert.GreaterOrEqual(t, fromOthers, 10.0)
}

// A86, A91: whatever the errors and names hold, no attribute has a secret, nor any text of an error.
func TestA86A91NoAttributeHoldsTheTextOfAnError(t *testing.T) {
	const marker, text = "hunter2SECRETmarker", "text-of-an-error"
	synctest.Test(t, func(t *testing.T) {
		m := newMeasured(t, otelguard.Options{})
		secret := errors.New(text + " postgres://admin:" + marker + "@db password=" + marker)
		g := guard(t, "postgres://admin:"+marker+"@db", policy(threshold(4)), observers(m))
		m.Watch(resilient.GuardList{g})
		op := resilient.Idempotent("jdbc:postgresql://admin:" + marker + "@db/plans?password=" + marker)
		for range 3 {
			_ = resilient.Do(t.Context(), g, op, returns(secret))
		}
		numbers := m.collect(t)
		require.Greater(t, len(numbers), 25)
		for name := range numbers {
			assert.NotContains(t, name, marker)
			assert.NotContains(t, name, text)
		}
	})
}

func TestNilAndUnknownEventsAreNoTrouble(t *testing.T) {
	var none *otelguard.Instrumentation
	none.Observe(t.Context(), resilient.CallDone{})
	none.Watch(resilient.GuardList{})
	require.NoError(t, none.Close())
	assert.True(t, none.CallsOnly())
	m := newMeasured(t, otelguard.Options{})
	m.Watch(nil)
	m.Watch(resilient.GuardList{{}}) // a guard that was not made
	m.Observe(t.Context(), nil)
	m.Observe(t.Context(), resilient.CallRejected{})
	m.Observe(t.Context(), resilient.CallDone{Attempts: 1, Outcome: 200})
	assert.NotEmpty(t, m.collect(t))
	telemetry, err := otelguard.New(nil)
	require.NoError(t, err)
	require.NoError(t, telemetry.Close())
}
