package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

// A86, A91: a secret goes into every input of a guarded call, and comes out of none of the sinks. To add a sink is to
// add a line to collect; to add an input, one to seeds.
func TestSecretsLeaveThroughNoSink(t *testing.T) {
	const marker = "F4KEmarker1"
	const url = "jdbc:postgresql://app:" + marker + "@db.internal:5432/x?password=" + marker
	seeds := map[string]struct {
		service, operation string
		fail               func() error
	}{
		"error":   {"plans", "get", func() error { return errors.New("dial " + url) }},
		"wrapped": {"plans", "get", func() error { return fmt.Errorf("token=%s: %w", marker, errors.New("api_key: "+marker)) }},
		"joined": {"plans", "get", func() error {
			return errors.Join(errors.New("password="+marker), errors.New("Authorization: Bearer "+marker))
		}},
		"fields":     {"plans", "get", func() error { return &secretError{Password: marker} }},
		"service":    {"svc password=" + marker, "get", func() error { return errors.New("down") }},
		"operation":  {"plans", url, func() error { return errors.New("down") }},
		"panic":      {"plans", "get", func() error { panic("secret=" + marker) }},
		"cause":      {"plans", "get", func() error { return resilient.Permanent(errors.New("password=" + marker)) }},
		"hint":       {"plans", "get", func() error { return resilient.RetryAfter(errors.New("password="+marker), 0) }},
		"structured": {"plans", "get", func() error { return fmt.Errorf("got %+v", secretError{Password: marker}) }},
	}
	for name, seed := range seeds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log journal
				var mu sync.Mutex
				var sinks []string
				sink := func(values ...any) {
					mu.Lock()
					defer mu.Unlock()
					for _, value := range values {
						sinks = append(sinks, fmt.Sprintf("%v", value), fmt.Sprintf("%+v", value), fmt.Sprintf("%q", value))
					}
				}
				observer := resilient.ObserverFunc(func(_ context.Context, event resilient.Event) {
					switch e := event.(type) { // what exporters make labels, spans and records of
					case resilient.AttemptDone:
						sink(e, e.Err)
					case resilient.RetryScheduled:
						sink(e, e.Err)
					case resilient.CallDone:
						sink(e, e.Err)
					case resilient.CallRejected:
						sink(e.Call, e.Rejection)
					case resilient.FellOver:
						sink(e, e.Err)
					default:
						sink(e)
					}
					panic("password=" + marker) // what an observer does wrong is logged
				})
				policy := steady(threshold(2))
				guard := named(t, seed.service, policy, &resilient.Options{Logger: log.logger(), Observers: []resilient.Observer{observer}})
				op := resilient.Idempotent(seed.operation)
				for range 4 { // used up, opening, rejected, rejected
					err := called(func() error {
						return resilient.Do(t.Context(), guard, op, func(context.Context) error { return seed.fail() })
					})
					var exhausted *resilient.ExhaustedError
					var rejected *resilient.RejectedError
					if errors.As(err, &exhausted) {
						sink(exhausted.Error())
					}
					if errors.As(err, &rejected) {
						sink(rejected)
					}
				}
				err := called(func() error {
					one := resilient.Alternative[int]{Guard: guard, Call: func(context.Context) (int, error) { return 0, seed.fail() }}
					guard.Circuit().Reset()
					answer, err := resilient.FirstOf(t.Context(), op, one, one)
					sink(answer)
					return err
				})
				var none *resilient.NoAnswerError
				if errors.As(err, &none) {
					sink(none, none.Operation, none.Services)
				} else {
					require.Equal(t, "panic", name)
				}
				sink(guard.Name(), guard.Circuit().Name(), guard.Circuit().Snapshot())
				sinks = append(sinks, log.text())
				require.NotEmpty(t, sinks)
				for _, text := range sinks {
					assert.NotContains(t, text, marker)
				}
				assert.Contains(t, strings.Join(sinks, ""), "***", "the marker came that far")
			})
		})
	}
}

type secretError struct{ Password string }

func (e *secretError) Error() string { return "login failed, Password=" + e.Password }

// called turns a panic into an error that says nothing.
func called(fn func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("panicked")
		}
	}()
	return fn()
}
