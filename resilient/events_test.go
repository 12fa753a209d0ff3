package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// fragileStore is a store that can be told to fail.
type fragileStore struct {
	*breaker.MemoryStore
	fault atomic.Pointer[error]
}

func (s *fragileStore) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if fault := s.fault.Load(); fault != nil {
		return breaker.Answer{}, *fault
	}
	return s.MemoryStore.Do(ctx, circuit, c)
}

// A42, A91: a lost store is told and logged once, without its password, and so is that it is back.
func TestA42A91StoreLostAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		seen := &recorder{}
		store := &fragileStore{MemoryStore: breaker.NewMemoryStore(&breaker.MemoryOptions{Silent: true})}
		g := newGuard(t, steady(), &resilient.Options{Store: store, Logger: log.logger(), Observers: []resilient.Observer{seen}})
		use := func() {
			time.Sleep(2 * sec)
			require.NoError(t, resilient.Do(t.Context(), g, get, returns(nil)))
		}
		use()
		down := errors.New("dial redis://:" + marker.Secret + "@db:6379: refused")
		store.fault.Store(&down)
		use()
		lostAt := time.Now()
		use()
		use()
		store.fault.Store(nil)
		use()
		use()

		changes := recorded[resilient.StoreChanged](seen)
		require.Len(t, changes, 2)
		lost, back := changes[0], changes[1]
		assert.Equal(t, []any{"plans", breaker.Shared, breaker.Lost, lostAt}, []any{lost.Circuit, lost.From, lost.To, lost.At.Round(ms)})
		require.ErrorIs(t, lost.Cause, down)
		assert.Equal(t, []any{breaker.Lost, breaker.Shared, nil}, []any{back.From, back.To, back.Cause})
		assert.Equal(t, 6*sec, back.At.Sub(lost.At))

		assert.NotContains(t, fmt.Sprintf("%+v", seen.all())+log.text(), marker.Secret)
		records := log.records(t)
		require.Len(t, records, 2)
		text, _ := records[0]["error"].(string)
		assert.True(t, strings.HasPrefix(text, "dial redis://"), text)
		delete(records[0], "error")
		assert.Equal(t, []record{
			{"level": "WARN", "msg": "circuit goes on without its store", "service": "plans", "from": "shared"},
			{"level": "INFO", "msg": "circuit has its store back", "service": "plans", "from": "lost", "to": "shared"},
		}, records)
	})
}

// What CallDone says of attempts is what AttemptDone says one by one.
func TestCallDoneTellsWhatTheAttemptsCameTo(t *testing.T) {
	answer := errors.New("no such plan")
	for name, tt := range map[string]struct {
		results []error
		want    resilient.Outcome
	}{
		"a success":                 {[]error{nil}, resilient.OutcomeSuccess},
		"a success after a failure": {[]error{errDown, nil}, resilient.OutcomeSuccess},
		"failures":                  {[]error{errDown, errDown, errDown}, resilient.OutcomeFailure},
		"an answer":                 {[]error{answer}, resilient.OutcomeSuccess},
		"an answer after a failure": {[]error{errDown, answer}, resilient.OutcomeSuccess},
		"neutral":                   {[]error{errDown, errDown, resilient.Neutral(errDown)}, resilient.OutcomeNeutral},
		"permanent":                 {[]error{errDown, resilient.Permanent(errDown)}, resilient.OutcomeFailure},
	} {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				seen := &recorder{}
				g := newGuard(t, steady(), &resilient.Options{Observers: []resilient.Observer{seen}, Classify: func(err error) resilient.Outcome {
					if errors.Is(err, answer) {
						return resilient.OutcomeSuccess
					}
					return resilient.OutcomeUnjudged
				}})
				calls := 0
				_, _ = in.call(t.Context(), g, get, func(context.Context) (int, error) {
					calls++
					return 0, tt.results[calls-1]
				})
				done, attempts := recorded[resilient.CallDone](seen), recorded[resilient.AttemptDone](seen)
				require.Len(t, done, 1)
				assert.Equal(t, tt.want, done[0].Outcome)
				require.Len(t, attempts, done[0].Attempts)
				for i, a := range attempts {
					want := resilient.OutcomeFailure
					if i == len(attempts)-1 {
						want = done[0].Outcome
					}
					assert.Equal(t, want, a.Outcome)
					assert.False(t, a.ByHand)
				}
			})
		})
	}
}

func TestCallDoneOfAPanicIsAFailure(t *testing.T) {
	seen := &recorder{}
	g := newGuard(t, steady(), &resilient.Options{Observers: []resilient.Observer{seen}})
	assert.NotNil(t, panics(func() { _ = resilient.Do(t.Context(), g, get, func(context.Context) error { panic("boom") }) }))
	done := recorded[resilient.CallDone](seen)
	require.Len(t, done, 1)
	assert.Equal(t, resilient.OutcomeFailure, done[0].Outcome)
}

// callsOnly is an observer that counts by calls, if it is true.
type callsOnly struct {
	recorder
	is, panics bool
}

func (c *callsOnly) CallsOnly() bool {
	if c.is && c.panics {
		panic("it does not know")
	}
	return c.is
}

func TestObserversOfCallsAreToldOfNoAttempts(t *testing.T) {
	for name, tt := range map[string]struct {
		observers []resilient.Observer
		attempts  int // that the first one is told of
	}{
		"alone":                 {[]resilient.Observer{&callsOnly{is: true}}, 0},
		"two of them":           {[]resilient.Observer{&callsOnly{is: true}, &callsOnly{is: true}}, 0},
		"one that is not":       {[]resilient.Observer{&callsOnly{}}, 3},
		"one that panics":       {[]resilient.Observer{&callsOnly{is: true, panics: true}}, 3},
		"beside one that isn't": {[]resilient.Observer{&callsOnly{is: true}, &recorder{}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, steady(noDelay), &resilient.Options{Observers: tt.observers})
			_ = resilient.Do(t.Context(), g, get, returns(errDown))
			permit, err := g.Acquire(t.Context())
			require.NoError(t, err)
			permit.Settle(nil)
			seen := &tt.observers[0].(*callsOnly).recorder
			attempts := recorded[resilient.AttemptDone](seen)
			require.Len(t, attempts, tt.attempts+1)
			assert.True(t, attempts[tt.attempts].ByHand, "of a permit held by hand they are told")
			assert.Len(t, recorded[resilient.RetryScheduled](seen), 2)
			assert.Len(t, recorded[resilient.CallDone](seen), 1)
		})
	}
}

type counting struct{ calls atomic.Int64 }

func (c *counting) Observe(_ context.Context, event resilient.Event) {
	if _, ok := event.(resilient.CallDone); ok {
		c.calls.Add(1)
	}
}

func (*counting) CallsOnly() bool { return true }

// Not parallel: the counts are of the whole process.
func TestASuccessUnderAnObserverOfCallsAllocatesTwiceAtMost(t *testing.T) {
	c := &counting{}
	g := newGuard(t, steady(), &resilient.Options{Observers: []resilient.Observer{c}})
	calls, ctx := 0, t.Context()
	allocs := testing.AllocsPerRun(1000, func() {
		_ = resilient.Do(ctx, g, get, func(context.Context) error { calls++; return nil })
	})
	assert.LessOrEqual(t, allocs, 2.0)
	assert.EqualValues(t, calls, c.calls.Load())
}
