package resilient_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// What foreign code does where the guard calls it: methods of errors, observers that
// take their time, contexts whose timer lags.

// Typed nils of other packages' error types, whose methods panic, are plain failures (P30).
func TestP30TypedNilsOfOthersArePlainFailures(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for _, typedNil := range []error{(*fs.PathError)(nil), (*url.Error)(nil), (*resilient.PanicError)(nil)} {
			g := newGuard(t, steady(attempts(2), threshold(2)), nil)
			calls := 0
			_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
				calls++
				return 0, typedNil
			})
			require.Error(t, err)
			var exhausted *resilient.ExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.True(t, exhausted.Last == typedNil)
			assert.NotEmpty(t, exhausted.Error())
			assert.Equal(t, 2, calls)
			assert.Equal(t, breaker.Open, g.Circuit().State())
		}
	})
}

// P41: an observer of the circuit that takes longer than the call has, or ends its context, is followed by no attempt;
// the probe's place is free again.
func TestP41NoAttemptAfterASlowObserverOfHalfOpen(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for name, slow := range map[string]func(cancel context.CancelFunc){
			"slow":      func(context.CancelFunc) { time.Sleep(2 * sec) },
			"cancelled": func(cancel context.CancelFunc) { cancel() },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			armed := false
			g := newGuard(t, steady(threshold(1), total(sec)), &resilient.Options{Observers: []resilient.Observer{
				resilient.ObserverFunc(func(_ context.Context, event resilient.Event) {
					if e, ok := event.(resilient.CircuitChanged); ok && e.To == breaker.HalfOpen && armed {
						slow(cancel)
					}
				}),
			}})
			open(t, g)
			time.Sleep(time.Until(g.Circuit().Snapshot().Until))
			armed = true
			_, err := in.call(ctx, g, get, func(context.Context) (int, error) {
				t.Error("an attempt was made")
				return 0, nil
			})
			if name == "slow" {
				require.ErrorIs(t, err, context.DeadlineExceeded, name)
			} else {
				require.ErrorIs(t, err, context.Canceled, name)
			}
			snap := g.Circuit().Snapshot()
			assert.Equal(t, breaker.HalfOpen, snap.State)
			assert.Zero(t, snap.Probes)
		}
	})
}

// P45: the cause of a deadline that has just passed comes back, although the context's own timer may lag.
func TestP45TheCauseOfADeadlineThatHasJustPassed(t *testing.T) {
	errShutdown := errors.New("shutdown")
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), sec, errShutdown)
			defer cancel()
			g := newGuard(t, steady(), nil)
			time.Sleep(sec)
			_, err := resilient.Execute(ctx, g, get, succeed)
			require.ErrorIs(t, err, errShutdown)
		})
	}
}

// The context of the last attempt ends with the call, also where each attempt has its own.
func TestTheLastAttemptsContextEndsWithTheCall(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(attempts(3)), nil)
		var last context.Context
		_, err := in.call(t.Context(), g, get.WithAttemptTimeout(sec), func(ctx context.Context) (int, error) {
			last = ctx
			if resilient.Attempt(ctx) < 3 {
				return 0, errDown
			}
			return 1, nil
		})
		require.NoError(t, err)
		require.ErrorIs(t, last.Err(), context.Canceled)
	})
}

func TestTheZeroPermitCountsNothing(t *testing.T) {
	var permit resilient.Permit
	assert.False(t, permit.Settle(nil))
	assert.False(t, permit.Settle(errDown))
}

// A success reads the clock once. Held by structure: on the way of a call that succeeds at once, the one call
// of Now is in run, beside those that only observers or probes cause.
func TestOneClockReading(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "pipeline.go", nil, 0)
	require.NoError(t, err)
	readings := map[string]int{"run": 0, "check": 0, "callersEnd": 0, "count": 0, "derive": 0, "attempt": 0}
	looked := 0
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if _, onTheWay := readings[fn.Name.Name]; !onTheWay {
			continue
		}
		looked++
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				switch call.Sel.Name {
				case "Now", "Since", "Until":
					readings[fn.Name.Name]++
				}
			}
			return true
		})
	}
	require.Equal(t, len(readings), looked)
	require.Equal(t, map[string]int{"run": 1, "check": 0, "callersEnd": 0, "count": 0, "derive": 0, "attempt": 0}, readings)
}
