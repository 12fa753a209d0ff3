package resilienttest

import (
	"context"
	"fmt"
	"reflect"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/sanitize"
)

// TB is what [Replay] needs of a *testing.T; a rapid.T has it too.
type TB interface {
	Errorf(format string, args ...any)
}

// Replay is the replay mode, for [resilient.Options].Replay: it finds ops that are
// declared idempotent and are not. Every function of an idempotent op that has
// succeeded is run a second time, as a retry would after an answer that was lost.
// The op is reported to t
//
//   - if the second run changes the state: what probe returns before it and after
//     it is not equal;
//   - if the second run fails, for a caller would get that error for work that was
//     done. An error that [resilient.Options].Classify calls an answer, such as "not
//     found" after a delete, is no failure; neither is the caller's cancellation.
//
// The state S is a plain value that tells what the ops have done: a count, a
// checksum, a struct of these, or fmt.Sprint of a map, whose order is fixed. It
// must not hold pointers, which stay equal whatever happens to what they point to;
// an S that is one itself is reported at once, and nothing is replayed. What may
// differ, such as the time of the last access, is left out.
//
// probe is called with the values of the call's context, but without its deadline
// and cancellation, and need not be safe for concurrent use if no guarded calls
// overlap. They had better not, nor may anything else change the state meanwhile:
// it would be taken for the second run's work. An idempotent op that is called
// inside of another runs twice in each run of that one. What probe itself calls is
// not replayed. A probe that fails or panics is reported.
//
// Use it where the dependency is healthy: a fault that is made to order in the
// second run is reported too.
func Replay[S comparable](t TB, probe func(ctx context.Context) (S, error)) resilient.ReplayFunc {
	switch kind := reflect.TypeFor[S]().Kind(); kind {
	case reflect.Pointer, reflect.UnsafePointer, reflect.Chan, reflect.Interface:
		t.Errorf("replay: the probe's state is of kind %v, which does not tell what has changed; nothing is replayed", kind)
		return nil
	default:
	}
	r := replay[S]{t: t, probe: probe}
	return r.begin
}

// replay is what the two halves of a replay have in common.
type replay[S comparable] struct {
	t     TB
	probe func(ctx context.Context) (S, error)
}

// probing is the key that marks the context of a probe.
type probing struct{}

// begin takes the state after the first run, and returns what takes it after the
// second.
func (r replay[S]) begin(ctx context.Context, call resilient.Call) (done func(resilient.Outcome, error)) {
	if ctx.Value(probing{}) != nil {
		return nil // or a probe that makes guarded calls would never end
	}
	ctx = context.WithValue(context.WithoutCancel(ctx), probing{}, true)
	once, ok := r.state(ctx, call)
	if !ok {
		return nil
	}
	return func(outcome resilient.Outcome, err error) {
		if outcome == resilient.OutcomeFailure {
			r.t.Errorf("replay: %s of %s is declared idempotent, but a second run fails: %v",
				call.Operation, call.Service, err)
		}
		if twice, ok := r.state(ctx, call); ok && twice != once {
			r.t.Errorf("replay: %s of %s is declared idempotent, but a second run changes the state:\n\tafter one run:  %v\n\tafter two runs: %v",
				call.Operation, call.Service, once, twice)
		}
	}
}

// state asks the probe. The guard would only log its panic, and the test pass.
func (r replay[S]) state(ctx context.Context, call resilient.Call) (state S, ok bool) {
	defer func() {
		if value := recover(); value != nil {
			r.t.Errorf("replay: the probe panicked at %s of %s: %v", call.Operation, call.Service, sanitize.Message(fmt.Sprint(value)))
			ok = false
		}
	}()
	state, err := r.probe(ctx)
	if err != nil {
		r.t.Errorf("replay: the probe failed at %s of %s: %v", call.Operation, call.Service, sanitize.Error(err))
		return state, false
	}
	return state, true
}
