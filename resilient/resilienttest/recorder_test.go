package resilienttest_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/resilienttest"
)

func TestRecorderKeepsWhatHappensInOrder(t *testing.T) {
	var r resilienttest.Recorder
	options := quiet()
	options.Observers = []resilient.Observer{&r}
	policy := impatient()
	policy.Circuit.FailureThreshold = 2
	g := newGuard(t, policy, options)
	s := resilienttest.Script[int]{Steps: steps{{Err: errDown}}}
	_, err := resilient.Execute(t.Context(), g, resilient.Idempotent("get"), s.Run)
	require.ErrorIs(t, err, errDown)
	_, err = resilient.Execute(t.Context(), g, resilient.Idempotent("get"), s.Run)
	require.ErrorAs(t, err, new(*resilient.RejectedError))

	// The circuit opens while the second attempt is settled, before its event.
	all := resilienttest.Events[resilient.Event](&r)
	require.Len(t, all, 6)
	assert.IsType(t, resilient.AttemptDone{}, all[0])
	assert.IsType(t, resilient.RetryScheduled{}, all[1])
	assert.IsType(t, resilient.CircuitChanged{}, all[2])
	assert.IsType(t, resilient.AttemptDone{}, all[3])
	assert.IsType(t, resilient.CallDone{}, all[4])
	assert.IsType(t, resilient.CallRejected{}, all[5])

	attempts := resilienttest.Events[resilient.AttemptDone](&r)
	require.Len(t, attempts, 2)
	assert.Equal(t, []int{1, 2}, []int{attempts[0].Attempt, attempts[1].Attempt})
	changes := resilienttest.Events[resilient.CircuitChanged](&r)
	require.Len(t, changes, 1)
	assert.Equal(t, breaker.Open, changes[0].To)
	assert.Empty(t, resilienttest.Events[resilient.LateResult](&r))
}

func TestRecorderZeroValueIsEmpty(t *testing.T) {
	assert.Empty(t, resilienttest.Events[resilient.Event](new(resilienttest.Recorder)))
}

// Every event is there whose Observe has returned, whatever else is going on, and
// those of one goroutine are in their order. Many short rounds: what could be lost
// is what comes while another goroutine is in the middle of Observe.
func TestRecorderLosesNothing(t *testing.T) {
	const rounds, goroutines, each = 500, 4, 20
	for range rounds {
		var r resilienttest.Recorder
		var all sync.WaitGroup
		for i := range goroutines {
			all.Go(func() {
				name := string(rune('a' + i))
				for n := 1; n <= each; n++ {
					r.Observe(context.Background(), resilient.AttemptDone{Call: resilient.Call{Operation: name}, Attempt: n})
					if mine := attemptsOf(&r, name); !assert.Len(t, mine, n) || !assert.IsIncreasing(t, append(mine, each+1)) {
						return
					}
				}
			})
		}
		all.Wait()
		require.Len(t, resilienttest.Events[resilient.Event](&r), goroutines*each)
	}
}

func attemptsOf(r *resilienttest.Recorder, operation string) (attempts []int) {
	for _, e := range resilienttest.Events[resilient.AttemptDone](r) {
		if e.Operation == operation {
			attempts = append(attempts, e.Attempt)
		}
	}
	return attempts
}
