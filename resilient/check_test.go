package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

var errBad = errors.New("bad result")

// atLeast is a check.
func atLeast(least int) func(int) error {
	return func(n int) error {
		if n < least {
			return errBad
		}
		return nil
	}
}

// A bad result is a failure before anything is counted, in every way into the pipeline.
func TestCheckedResults(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(noDelay), nil)
		calls := 0
		counting := func(context.Context) (int, error) { calls++; return calls, nil }
		value, err := in.call(t.Context(), g, get, resilient.Check(counting, atLeast(3)))
		require.NoError(t, err)
		assert.Equal(t, []int{3, 3}, []int{value, calls})

		calls = 0
		value, err = in.call(t.Context(), g, get, resilient.Check(counting, atLeast(100)))
		require.ErrorIs(t, err, errBad)
		assert.Equal(t, []int{3, 3}, []int{value, calls}, "P34: the last result is handed on")
		assert.Equal(t, 3, g.Circuit().Snapshot().Failures)

		calls = 0
		_, err = in.call(t.Context(), g, get, resilient.Check(counting, func(int) error { return resilient.Permanent(errBad) }))
		assert.Equal(t, 1, calls, "marks hold")
		require.ErrorIs(t, err, errBad)

		looked := false
		_, err = in.call(t.Context(), g, apply, resilient.Check(
			func(context.Context) (int, error) { return 7, errDown }, func(int) error { looked = true; return nil }))
		assert.Equal(t, errDown, err)
		assert.False(t, looked, "the result of a failure is not asked about")

		one := newGuard(t, steady(threshold(1)), nil)
		_, err = in.call(t.Context(), one, apply, resilient.Check(counting, atLeast(100)))
		require.Error(t, err)
		assert.Equal(t, breaker.Open, one.Circuit().State())
	})
}

func TestCheck1FitsWrap(t *testing.T) {
	g := newGuard(t, steady(noDelay), nil)
	calls := 0
	wrapped := resilient.Wrap(g, get, resilient.Check1(func(_ context.Context, step int) (int, error) {
		calls += step
		return calls, nil
	}, atLeast(4)))
	value, err := wrapped(t.Context(), 2)
	require.NoError(t, err)
	assert.Equal(t, 4, value)
	_, err = resilient.Wrap(g, get, resilient.Check1(func(context.Context, int) (int, error) { return 0, errDown }, atLeast(4)))(t.Context(), 0)
	require.ErrorIs(t, err, errDown)
}

// P31: no text of ours has the result in it.
func TestP31NoErrorPrintsTheResult(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		const secret = 123456789
		seen := &recorder{}
		log := &journal{}
		g := newGuard(t, steady(noDelay), &resilient.Options{Observers: []resilient.Observer{seen}, Logger: log.logger()})
		_, err := in.call(t.Context(), g, get, resilient.Check(
			func(context.Context) (int, error) { return secret, nil }, func(int) error { return errBad }))
		require.ErrorIs(t, err, errBad)
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err), log.text(), fmt.Sprintf("%+v", seen.all())} {
			assert.NotContains(t, text, "123456789")
		}
	})
}

// P58: there is nothing to call, or nothing to check with: nothing runs.
func TestP58CheckOfNil(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		if in.name != "Execute" && in.name != "Async" && in.name != "Wrap0" {
			return // the others get a function of their own round it
		}
		g := newGuard(t, steady(threshold(1)), nil)
		for _, fn := range []func(context.Context) (int, error){
			resilient.Check(nil, atLeast(1)),
			resilient.Check(func(context.Context) (int, error) { return 0, nil }, nil),
		} {
			_, err := in.call(t.Context(), g, get, fn)
			require.ErrorIs(t, err, resilient.ErrNilFunction)
		}
		assert.Equal(t, breaker.Closed, g.Circuit().State())
	})
	g := newGuard(t, steady(), nil)
	for _, fn := range []func(context.Context, int) (int, error){
		resilient.Check1[int](nil, atLeast(1)),
		resilient.Check1(func(context.Context, int) (int, error) { return 0, nil }, nil),
	} {
		_, err := resilient.Wrap(g, get, fn)(t.Context(), 1)
		require.ErrorIs(t, err, resilient.ErrNilFunction)
	}
}

// The first classifier of a chain that has an opinion decides.
func TestChain(t *testing.T) {
	var asked []string
	says := func(name string, outcome resilient.Outcome) func(error) resilient.Outcome {
		return func(error) resilient.Outcome {
			asked = append(asked, name)
			return outcome
		}
	}
	none := says("none", resilient.OutcomeUnjudged)
	tests := []struct {
		name  string
		chain []func(error) resilient.Outcome
		want  resilient.Outcome
		asked []string
	}{
		{"empty", nil, resilient.OutcomeUnjudged, nil},
		{"no opinion", []func(error) resilient.Outcome{none, nil, none}, resilient.OutcomeUnjudged, []string{"none", "none"}},
		{"the first", []func(error) resilient.Outcome{says("a", resilient.OutcomeNeutral), none}, resilient.OutcomeNeutral, []string{"a"}},
		{"a failure is an opinion", []func(error) resilient.Outcome{none, says("a", resilient.OutcomeFailure), says("b", resilient.OutcomeSuccess)},
			resilient.OutcomeFailure, []string{"none", "a"}},
		{"chains in chains", []func(error) resilient.Outcome{resilient.Chain(none), resilient.Chain(none, says("b", resilient.OutcomeSuccess))},
			resilient.OutcomeSuccess, []string{"none", "none", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked = nil
			assert.Equal(t, tt.want, resilient.Chain(tt.chain...)(errDown))
			assert.Equal(t, tt.asked, asked)
		})
	}
	list := []func(error) resilient.Outcome{none}
	chain := resilient.Chain(list...)
	list[0] = says("changed", resilient.OutcomeNeutral)
	assert.Equal(t, resilient.OutcomeUnjudged, chain(errDown), "the chain has its own copy")

	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(1), noDelay), &resilient.Options{
			Classify: resilient.Chain(resilient.NotFound, resilient.Answers(errOther)),
		})
		for _, err := range []error{fs.ErrNotExist, errOther} {
			_, got := in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, err })
			assert.Equal(t, err, got, "an answer")
			assert.Equal(t, breaker.Closed, g.Circuit().State())
		}
		_, _ = in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, errDown })
		assert.Equal(t, breaker.Open, g.Circuit().State(), "where none has an opinion it is a failure")
	})
}
