package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// A86, A89, A91: a secret goes into every input of a guarded call, one at a time, and comes out of none of the sinks.
func TestSecretsLeaveThroughNoSink(t *testing.T) {
	const url, text = marker.URL, marker.Text
	plain := errors.New("down")
	sinks := marker.New(t, "resilient")
	for input, seed := range map[string]poison{
		"service name":                 {service: "svc " + marker.Pair},
		"operation name":               {operation: url},
		"error":                        {fail: func() error { return errors.New(text) }},
		"wrapped error":                {fail: func() error { return fmt.Errorf("%s: %w", marker.Pair, errors.New(text)) }},
		"joined errors":                {fail: func() error { return errors.Join(errors.New(marker.Pair), errors.New(text)) }},
		"error with fields":            {fail: func() error { return &secretError{Password: marker.Secret} }},
		"panic value":                  {fail: func() error { panic(text) }},
		"marked error":                 {fail: func() error { return resilient.Permanent(errors.New(text)) }},
		"hint":                         {fail: func() error { return resilient.RetryAfter(errors.New(text), 0) }},
		"check's error":                {check: errors.New(text)},
		"classifier's panic":           {classify: func(error) resilient.Outcome { panic(text) }},
		"observer's panic":             {observe: func() { panic(text) }},
		"budget name":                  {budget: marker.Pair},
		"context's cause":              {cause: errors.New(text)},
		"store's error":                {store: errors.New(text)},
		"operator's author and reason": {order: breaker.Order{Author: "ann, " + marker.Pair, Reason: text}},
		"told cause":                   {told: text},
		"arguments":                    {argument: secretError{Password: marker.Secret}},
	} {
		t.Run(input, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { seed.spread(t, sinks.Seed(t, input), plain) })
		})
	}
}

type secretError struct{ Password string }

func (e *secretError) Error() string { return "login failed, Password=" + e.Password }

// poison is what goes in: nothing secret but in one of them.
type poison struct {
	service, operation, budget, told string
	fail                             func() error
	check, cause, store              error
	classify                         func(error) resilient.Outcome
	observe                          func()
	order                            breaker.Order
	argument                         secretError
}

// spread uses everything that says something.
func (p poison) spread(t *testing.T, out *marker.Seed, plain error) {
	if p.service == "" {
		p.service = "plans"
	}
	if p.operation == "" {
		p.operation = "get"
	}
	if p.fail == nil {
		p.fail = func() error { return plain }
	}
	var log journal
	observer := resilient.ObserverFunc(func(_ context.Context, event resilient.Event) {
		putEvent(out, event)
		if p.observe != nil {
			p.observe()
		}
	})
	store := &fragileStore{MemoryStore: breaker.NewMemoryStore(nil)}
	options := func(more ...func(*resilient.Options)) *resilient.Options {
		o := &resilient.Options{Logger: log.logger(), Observers: []resilient.Observer{observer}, Classify: p.classify}
		for _, edit := range more {
			edit(o)
		}
		return o
	}
	ours := func(err error) { putErrors(out, err) }
	op := resilient.Idempotent(p.operation)
	fail := func(ctx context.Context) (int, error) {
		out.Put("nesting path", nesting.Path(ctx))
		out.Put("nesting on the wire", nesting.Capture(ctx).String())
		return 0, p.fail()
	}
	if p.check != nil {
		fail = resilient.Check(func(context.Context) (int, error) { return 0, nil }, func(int) error { return p.check })
	}
	do := func(ctx context.Context, g *resilient.Guard) {
		ours(called(func() error { _, err := resilient.Execute(ctx, g, op, fail); return err }))
	}

	// Used up, opened in the middle, refused; looked at.
	g := named(t, p.service, steady(threshold(4)), options())
	for range 3 {
		do(t.Context(), g)
	}
	out.Put("names", g.Name(), g.Circuit().Name())
	out.Put("snapshot", g.Circuit().Snapshot())

	// One alternative after the other, and none.
	one := resilient.Alternative[int]{Guard: named(t, p.service, steady(attempts(1)), options()), Call: fail}
	ours(called(func() error {
		answer, err := resilient.FirstOf(t.Context(), op, one, one)
		out.Put("answer", answer)
		return err
	}))

	// A future; arguments; the end of the caller's context between two attempts.
	_, err := resilient.Async(t.Context(), one.Guard, op, func(context.Context) (int, error) { panic(fmt.Sprint(p.fail())) }).Await(t.Context())
	ours(err)
	wrapped := resilient.Wrap(one.Guard, op, func(context.Context, secretError) (int, error) { return 0, plain })
	_, err = wrapped(t.Context(), p.argument)
	ours(err)
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(sec/2, func() { cancel(p.cause) })
	do(ctx, named(t, p.service, steady(), options()))

	// Policies that are refused.
	_, err = resilient.NewGuard(p.service, resilient.Policy{}, options())
	out.Put("policy error", err)
	_, err = resilient.NewGuard(p.service, steady(func(r *resilient.Policy) { r.Retry.Budget = p.budget + "x" }), options())
	out.Put("policy error", err)

	// A permit that comes too late; the second run of what has succeeded.
	late := named(t, p.service, steady(), options())
	permit, err := late.Acquire(t.Context())
	require.NoError(t, err)
	late.Circuit().ForceOpen()
	late.Circuit().Reset()
	_ = called(func() error { permit.Settle(p.fail()); return nil })
	runs := 0
	replaying := named(t, p.service, steady(), options(func(o *resilient.Options) {
		o.Replay = func(_ context.Context, call resilient.Call) func(resilient.Outcome, error) {
			return func(_ resilient.Outcome, err error) { out.Put("replay", call, err) }
		}
	}))
	require.NoError(t, called(func() error {
		return resilient.Do(t.Context(), replaying, op, func(context.Context) error {
			if runs++; runs == 1 {
				return nil
			}
			return p.fail()
		})
	}))

	p.share(t, out, store, options(func(o *resilient.Options) { o.Store = store }), do)
	out.Put("log at debug", log.text())
}

// share is what a store has to do with it.
func (p poison) share(t *testing.T, out *marker.Seed, store *fragileStore, options *resilient.Options, do func(context.Context, *resilient.Guard)) {
	g := named(t, p.service, steady(threshold(2)), options)
	do(t.Context(), g)
	if p.order.Author != "" {
		p.order.Force, p.order.For = breaker.ForceOpen, time.Minute
		// Not by Steer, which takes secrets out: by a program of whoever.
		_, err := store.Do(t.Context(), g.Circuit().Name(), breaker.Command{Kind: breaker.Operate, ID: 7, Order: p.order})
		require.NoError(t, err)
		out.Put("snapshot", g.Circuit().Snapshot())
		require.NoError(t, g.Circuit().Steer(t.Context(), p.order))
	}
	if p.told != "" { // and not by a circuit of ours, either
		settings := breaker.DefaultSettings()
		settings.FailureThreshold = 1
		reset := breaker.Order{Reset: true, Author: "ann", Reason: "drill"}
		answer, err := store.Do(t.Context(), g.Circuit().Name(), breaker.Command{Kind: breaker.Operate, ID: 8, Order: reset, Settings: settings})
		require.NoError(t, err)
		answer, err = store.Do(t.Context(), g.Circuit().Name(), breaker.Command{
			Kind: breaker.Settle, ID: 9, Round: answer.Record.Round, Outcome: breaker.Failure, Cause: p.told, Settings: settings,
		})
		require.NoError(t, err)
		require.Contains(t, answer.Record.Cause, marker.Secret)
	}
	do(t.Context(), g)
	out.Put("snapshot", g.Circuit().Snapshot())
	if down := p.store; down != nil || p.order.Author == "" {
		if down == nil {
			down = errors.New("away")
		}
		store.fault.Store(&down)
	}
	out.Put("order's error", g.Circuit().Steer(t.Context(), breaker.Order{Reset: true, Author: "ann", Reason: "drill"}),
		g.Circuit().Steer(t.Context(), breaker.Order{}))
	time.Sleep(time.Hour)
	do(t.Context(), g)
	store.fault.Store(nil)
	time.Sleep(time.Hour)
	do(t.Context(), g)
	out.Put("snapshot", g.Circuit().Snapshot())
}

// putEvent is what exporters make labels, spans and records of.
func putEvent(out *marker.Seed, event resilient.Event) {
	switch e := event.(type) {
	case resilient.AttemptDone:
		out.Put("AttemptDone", e, e.Err)
	case resilient.RetryScheduled:
		out.Put("RetryScheduled", e, e.Err)
	case resilient.CallDone:
		out.Put("CallDone", e, e.Err)
	case resilient.CallRejected:
		out.Put("CallRejected", e, e.Rejection)
	case resilient.LateResult:
		out.Put("LateResult", e)
	case resilient.FellOver:
		out.Put("FellOver", e, e.Err)
	case resilient.CircuitChanged:
		out.Put("CircuitChanged", e, e.Cause)
	case resilient.StoreChanged:
		out.Put("StoreChanged", e, e.Cause)
	default:
		out.Put(fmt.Sprintf("%T", e), e)
	}
}

// putErrors looks at the errors that are ours; what a function has returned is the caller's, secrets and all.
func putErrors(out *marker.Seed, err error) {
	var (
		exhausted *resilient.ExhaustedError
		rejected  *resilient.RejectedError
		none      *resilient.NoAnswerError
		panicked  *resilient.PanicError
	)
	if errors.As(err, &exhausted) {
		out.Put("ExhaustedError", exhausted)
	}
	if errors.As(err, &rejected) {
		out.Put("RejectedError", rejected)
	}
	if errors.As(err, &none) {
		out.Put("NoAnswerError", none, none.Operation, none.Services)
	}
	if errors.As(err, &panicked) {
		out.Put("PanicError", panicked)
	}
}

// called turns a panic into an error that says nothing.
func called(fn func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("panicked")
		}
	}()
	return fn()
}

// What encodes or prints one of our errors gets its text, and none of the errors that it carries.
func TestErrorsAreTheirTextInEveryForm(t *testing.T) {
	carried := &secretError{Password: marker.Secret}
	for _, err := range []error{
		&resilient.ExhaustedError{Service: "plans", Attempts: 3, Last: carried},
		&resilient.NoAnswerError{Services: []string{"plans"}, Failures: []error{carried}},
		&resilient.PanicError{Value: carried, Stack: []byte(marker.Pair)},
		&resilient.RejectedError{Service: "plans", Cause: carried},
	} {
		assert.Equal(t, err.Error(), fmt.Sprintf("%#v", err))
		text, failed := err.(interface{ MarshalText() ([]byte, error) }).MarshalText()
		require.NoError(t, failed)
		assert.Equal(t, err.Error(), string(text))
		assert.NotContains(t, string(text), marker.Secret)
	}
}
