package resilient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
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

type record = map[string]any

// R22: every record of a call that fails, of the circuit that opens and of its recovery, exactly.
func TestR22Records(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		var log journal
		g := newGuard(t, steady(threshold(4)), &resilient.Options{Logger: log.logger()})
		fn, _ := fails(always)
		_, _ = in.call(t.Context(), g, get, fn) // 3 failures
		_, _ = in.call(t.Context(), g, get, fn) // the 4th opens
		until := g.Circuit().Snapshot().Until
		_, _ = in.call(t.Context(), g, get, fn) // rejected
		time.Sleep(time.Until(until))
		_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, nil })
		require.NoError(t, err)
		retry := func(attempt int) record {
			return record{
				"level": "WARN", "msg": "retry scheduled", "service": "plans", "operation": "get",
				"attempt": float64(attempt), "delay": float64(sec), "error": "down",
			}
		}
		assert.Equal(t, []record{
			retry(1),
			retry(2),
			{
				"level": "ERROR", "msg": "circuit opened", "service": "plans", "from": "closed", "failure_count": 4.0, "rule": "consecutive",
				"round": 1.0, "generation": 1.0, "until": until.Format(time.RFC3339Nano), "error": "down",
			},
			{"level": "INFO", "msg": "circuit half-open", "service": "plans", "from": "open", "failure_count": 0.0, "round": 2.0},
			{"level": "INFO", "msg": "circuit closed", "service": "plans", "from": "half-open", "failure_count": 0.0, "round": 3.0},
		}, log.records(t))
	})
}

func TestR22RecordsOfAFailedRecoveryAndOfOperators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		g := newGuard(t, steady(threshold(1)), &resilient.Options{Logger: log.logger()})
		_ = resilient.Do(t.Context(), g, resilient.NonIdempotent(""), returns(errDown))
		time.Sleep(time.Hour)
		_ = resilient.Do(t.Context(), g, resilient.NonIdempotent(""), returns(errOther))
		until := g.Circuit().Snapshot().Until
		g.Circuit().ForceOpen()
		g.Circuit().ForceClosed()
		g.Circuit().Disable()
		g.Circuit().Reset()
		records := log.records(t)
		var got []string
		for _, r := range records {
			got = append(got, fmt.Sprint(r["level"], " ", r["msg"], " from ", r["from"]))
		}
		assert.Equal(t, []string{
			"ERROR circuit opened from closed", "INFO circuit half-open from open", "ERROR circuit opened from half-open",
			"WARN circuit forced open from open", "WARN circuit forced closed from forced-open",
			"WARN circuit disabled from forced-closed", "INFO circuit closed from disabled",
		}, got)
		assert.Equal(t, record{
			"level": "ERROR", "msg": "circuit opened", "service": "plans", "from": "half-open", "failure_count": 1.0, "rule": "probe",
			"round": 3.0, "generation": 2.0, "until": until.Format(time.RFC3339Nano), "error": "other",
		}, records[2])
	})
}

func TestR22NoRecordForWhatIsHealthy(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		var log journal
		g := newGuard(t, steady(), &resilient.Options{Logger: log.logger()})
		for _, result := range []error{nil, resilient.Permanent(errDown), resilient.Neutral(errDown)} {
			_, _ = in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, result })
			_, _ = in.call(t.Context(), g, apply, func(context.Context) (int, error) { return 0, result })
		}
		_, _ = in.call(t.Context(), g, apply, func(context.Context) (int, error) { return 0, errDown })
		assert.Empty(t, log.text())
	})
}

// The record has the caller's context, where handlers find a request's number.
func TestRecordsHaveTheCallsContext(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		var seen []any
		handler := contextHandler{slog.DiscardHandler, func(ctx context.Context) { seen = append(seen, ctx.Value(key{})) }}
		g := newGuard(t, steady(attempts(2)), &resilient.Options{Logger: slog.New(handler)})
		fn, _ := fails(1)
		_, err := in.call(context.WithValue(t.Context(), key{}, "request 7"), g, get, fn)
		require.NoError(t, err)
		assert.Equal(t, []any{"request 7"}, seen)
	})
}

type contextHandler struct {
	slog.Handler
	see func(ctx context.Context)
}

func (h contextHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h contextHandler) Handle(ctx context.Context, _ slog.Record) error {
	h.see(ctx)
	return nil
}

// Not parallel: the default logger is the only global.
func TestTheDefaultLoggerIsLookedUpWhenItIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := resilient.NewGuard("plans", steady(), nil)
		require.NoError(t, err)
		var log journal
		before := slog.Default()
		defer slog.SetDefault(before)
		slog.SetDefault(log.logger())
		_ = resilient.Do(t.Context(), g, get, returns(errDown))
		assert.Len(t, log.records(t), 2)
	})
}

const jdbcURL = "jdbc:postgresql://admin:" + marker.Secret + "@db.example:5432/plans?password=" + marker.Secret

// R23, A86, A91: one marker, as the name of the guard, the name of the op and the text of the error, and every place where
// text of ours comes out.
func TestR23A86A91NoSecretThroughAnySink(t *testing.T) {
	secrets := map[string]error{
		"a URL":           errors.New("dial postgres://admin:" + marker.Secret + "@db"),
		"a key":           errors.New("refused: api_key=" + marker.Secret + " is wrong"),
		"a header":        errors.New("Authorization: Bearer " + marker.Secret),
		"a literal":       errors.New(`{"password": "` + marker.Secret + `"}`),
		"single quotes":   errors.New(`{'client_secret': '` + marker.Secret + `'}`),
		"joined":          errors.Join(errDown, errors.New("token="+marker.Secret)),
		"behind the cut":  errors.New(strings.Repeat("x", 195) + " password=" + marker.Secret),
		"over the cut":    errors.New(strings.Repeat("x", 185) + "token=" + marker.Secret),
		"several lines":   errors.New("first\npassword=" + marker.Secret + "\nlast"),
		"a panicking one": panicking{},
	}
	for name, secret := range secrets {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				var log journal
				seen := &recorder{}
				texts := map[string]string{}
				text := func(sink string, err error) {
					texts[sink] = err.Error()
					texts[sink+" %v"] = fmt.Sprintf("%v", err)
					texts[sink+" %+v"] = fmt.Sprintf("%+v", err)
					texts[sink+" %q"] = fmt.Sprintf("%q", err)
				}
				guard := func(edits ...func(*resilient.Policy)) *resilient.Guard {
					return named(t, jdbcURL, steady(edits...), &resilient.Options{
						Logger: log.logger(), Observers: []resilient.Observer{seen, resilient.ObserverFunc(func(context.Context, resilient.Event) {
							panic(fmt.Sprint("observer with password=", marker.Secret))
						})},
						ReadOnlyPlan: func(any) bool { panic(secret) },
						Classify:     func(error) resilient.Outcome { panic(secret) },
					})
				}
				op := resilient.Idempotent(jdbcURL)
				fail := func(context.Context) (int, error) { return 0, secret }

				g := guard(threshold(3))
				texts["the guard's name"] = g.Name()
				texts["the circuit's name"] = g.Circuit().Name()
				_, err := in.call(t.Context(), g, op, fail)
				text("attempts used up", err)
				_, err = in.call(t.Context(), g, op, fail)
				text("rejected", err)
				_, err = in.call(t.Context(), guard(threshold(2)), op, fail)
				text("circuit opened", err)
				_, err = in.call(t.Context(), guard(total(sec)), op, fail)
				text("no time left", err)
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(sec/2, func() { cancel(secret) })
				_, err = in.call(ctx, guard(), op, fail)
				text("context ended", err)
				_, err = in.call(t.Context(), guard(), op, func(context.Context) (int, error) { return 0, resilient.RetryAfter(secret, time.Hour) })
				text("retry after", err)
				_, err = in.call(t.Context(), guard(), op.ExecutesTools().WithAttemptTimeout(sec), func(ctx context.Context) (int, error) {
					<-ctx.Done()
					return 0, secret
				})
				text("timed out", err)
				_, err = resilient.Async(t.Context(), guard(), op, func(context.Context) (int, error) { panic(secret) }).Await(t.Context())
				text("panicked", err)
				_, err = resilient.NewGuard(jdbcURL, resilient.Policy{}, nil)
				text("an invalid policy", err)
				text("another invalid policy", g.SetPolicy(resilient.Policy{}))

				for i, e := range seen.all() {
					texts[fmt.Sprintf("event %d %%v", i)] = fmt.Sprintf("%T %v", e, e)
					texts[fmt.Sprintf("event %d %%+v", i)] = fmt.Sprintf("%T %+v", e, e)
					encoded, err := json.Marshal(e)
					require.NoError(t, err)
					texts[fmt.Sprintf("event %d JSON", i)] = string(encoded)
				}
				for i, e := range recorded[resilient.RetryScheduled](seen) {
					text(fmt.Sprint("RetryScheduled ", i), e.Err)
					assert.ErrorIs(t, e.Err, secret, "found as usual")
				}
				for i, e := range recorded[resilient.AttemptDone](seen) {
					text(fmt.Sprint("AttemptDone ", i), e.Err)
				}
				for i, e := range recorded[resilient.CallDone](seen) {
					text(fmt.Sprint("CallDone ", i), e.Err)
				}
				for i, e := range recorded[resilient.CallRejected](seen) {
					text(fmt.Sprint("CallRejected ", i), e.Rejection)
				}
				for i, e := range recorded[resilient.CircuitChanged](seen) {
					if e.Cause != nil {
						text(fmt.Sprint("CircuitChanged ", i), e.Cause)
					}
				}
				var structured journal // errors of ours as attributes of somebody else's records
				for i, e := range seen.all() {
					structured.logger().Info("event", "n", i, "event", fmt.Sprint(e))
				}
				_, err = in.call(t.Context(), g, op, fail)
				structured.logger().Info("an error", "err", err)
				texts["an attribute"] = structured.text()
				for i, line := range strings.Split(log.text(), "\n") {
					texts[fmt.Sprint("log ", i)] = line
				}
				require.Greater(t, len(texts), 60, "the sinks are really there")
				for sink, text := range texts {
					if strings.Contains(text, marker.Secret) {
						t.Errorf("%s: %s", sink, text)
					}
				}
			})
		})
	}
}

// panicking is a foreign error whose Error method panics, with a secret.
type panicking struct{}

func (panicking) Error() string { panic("no text, but password=" + marker.Secret) }

func TestR24LongTextIsCutInRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		g := newGuard(t, steady(attempts(2), threshold(2)), &resilient.Options{Logger: log.logger()})
		_ = resilient.Do(t.Context(), g, get, returns(errors.New(strings.Repeat("é", 201))))
		records := log.records(t)
		require.Len(t, records, 2)
		for _, r := range records {
			assert.Equal(t, strings.Repeat("é", 200)+"...", r["error"])
		}
		log = journal{}
		g = newGuard(t, steady(attempts(2)), &resilient.Options{Logger: log.logger()})
		_ = resilient.Do(t.Context(), g, get, returns(errors.New(strings.Repeat("é", 200))))
		assert.Equal(t, strings.Repeat("é", 200), log.records(t)[0]["error"])
	})
}

// A89: what a function is called with is nobody's business.
func TestA89ArgumentsAreNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		seen := &recorder{}
		g := newGuard(t, steady(threshold(3)), &resilient.Options{Logger: log.logger(), Observers: []resilient.Observer{seen}})
		wrapped := resilient.Wrap(g, get, func(_ context.Context, arg struct{ PIN string }) (string, error) {
			return arg.PIN, errDown
		})
		value, err := wrapped(t.Context(), struct{ PIN string }{"4711-" + marker.Secret})
		assert.Equal(t, "4711-"+marker.Secret, value)
		require.Len(t, log.records(t), 3)
		for _, text := range []string{err.Error(), log.text(), fmt.Sprintf("%+v", seen.all())} {
			assert.NotContains(t, text, "4711")
		}
	})
}

func TestEventsOfACall(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		seen := &recorder{}
		var contexts []any
		g := newGuard(t, steady(), &resilient.Options{Observers: []resilient.Observer{
			nil, seen, resilient.ObserverFunc(func(ctx context.Context, _ resilient.Event) { contexts = append(contexts, ctx.Value(key{})) }),
		}})
		calls := 0
		_, err := in.call(context.WithValue(t.Context(), key{}, 7), g, get, func(context.Context) (int, error) {
			calls++
			time.Sleep(time.Duration(calls) * ms)
			if calls < 3 {
				return 0, errDown
			}
			return 0, nil
		})
		require.NoError(t, err)
		var got []string
		for _, e := range seen.all() {
			got = append(got, fmt.Sprintf("%T %+v", e, e))
		}
		assert.Equal(t, []string{
			"resilient.AttemptDone {Call:{Service:plans Operation:get} Attempt:1 Outcome:failure Err:down Duration:1ms ByHand:false WouldReject:false}",
			"resilient.RetryScheduled {Call:{Service:plans Operation:get} Attempt:1 Delay:1s Err:down}",
			"resilient.AttemptDone {Call:{Service:plans Operation:get} Attempt:2 Outcome:failure Err:down Duration:2ms ByHand:false WouldReject:false}",
			"resilient.RetryScheduled {Call:{Service:plans Operation:get} Attempt:2 Delay:1s Err:down}",
			"resilient.AttemptDone {Call:{Service:plans Operation:get} Attempt:3 Outcome:success Err:<nil> Duration:3ms ByHand:false WouldReject:false}",
			"resilient.CallDone {Call:{Service:plans Operation:get} Attempts:3 Err:<nil> Duration:2.006s Outcome:success}",
		}, got)
		assert.Equal(t, []any{7, 7, 7, 7, 7, 7}, contexts, "with the call's context")
		assert.ErrorIs(t, recorded[resilient.AttemptDone](seen)[0].Err, errDown)
	})
}

func TestEventsOfACallThatEndsWithTheCircuit(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		seen := &recorder{}
		g := newGuard(t, steady(threshold(1)), &resilient.Options{Observers: []resilient.Observer{seen}})
		_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, errDown })
		require.Error(t, err)
		done := recorded[resilient.CallDone](seen)
		require.Len(t, done, 1)
		require.ErrorIs(t, done[0].Err, err, "what the caller gets")
		assert.Equal(t, 1, done[0].Attempts)
		changed := recorded[resilient.CircuitChanged](seen)
		require.Len(t, changed, 1)
		assert.Equal(t, breaker.Closed, changed[0].From)
		assert.Equal(t, breaker.Open, changed[0].To)
		assert.Equal(t, "plans", changed[0].Circuit)
		assert.Equal(t, 1, changed[0].Failures)
		require.ErrorIs(t, changed[0].Cause, errDown)
		assert.Empty(t, recorded[resilient.RetryScheduled](seen))
	})
}

// A call's own events come on the goroutine that makes the call, before it returns.
func TestEventsComeBeforeTheCallReturns(t *testing.T) {
	seen := &recorder{}
	g := newGuard(t, steady(noDelay), &resilient.Options{Observers: []resilient.Observer{seen}})
	_ = resilient.Do(t.Context(), g, get, returns(errDown))
	assert.Len(t, seen.all(), 6)
}

func TestObserversAreToldInTheirOrder(t *testing.T) {
	var order []int
	var observers []resilient.Observer
	for i := range 5 {
		observers = append(observers, resilient.ObserverFunc(func(context.Context, resilient.Event) { order = append(order, i) }))
	}
	g := newGuard(t, steady(), &resilient.Options{Observers: observers})
	observers[0] = nil // the slice is copied
	_ = resilient.Do(t.Context(), g, get, returns(nil))
	assert.Equal(t, []int{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, order)
}

func TestPanicsOfUserCodeAreContainedAndReported(t *testing.T) {
	boom := func() { panic("boom with password=" + marker.Secret) }
	tests := []struct {
		in      string
		options resilient.Options
		calls   int64
	}{
		{"Observer", resilient.Options{Observers: []resilient.Observer{resilient.ObserverFunc(func(context.Context, resilient.Event) { boom() })}}, 3},
		{"Classify", resilient.Options{Classify: func(error) resilient.Outcome { boom(); return resilient.OutcomeSuccess }}, 3},
		{"ReadOnlyPlan", resilient.Options{ReadOnlyPlan: func(any) bool { boom(); return false }}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				var log journal
				after := &recorder{}
				options := tt.options
				options.Logger = log.logger()
				options.Observers = append(options.Observers[:len(options.Observers):len(options.Observers)], after)
				g := newGuard(t, steady(), &options)
				fn, calls := fails(always)
				_, err := in.call(t.Context(), g, get.ExecutesTools(), fn)
				require.ErrorIs(t, err, errDown)
				assert.Equal(t, tt.calls, calls.Load())
				assert.EqualValues(t, tt.calls, g.Circuit().Snapshot().Failures, "a panic in Classify is no opinion")
				assert.NotEmpty(t, recorded[resilient.CallDone](after), "those after it are told")
				var reported []record
				for _, r := range log.records(t) {
					if r["msg"] == "resilient: panic contained" {
						reported = append(reported, r)
					}
				}
				require.NotEmpty(t, reported)
				r := reported[0]
				assert.Equal(t, "ERROR", r["level"])
				assert.Equal(t, "plans", r["service"])
				assert.Equal(t, tt.in, r["in"])
				assert.Equal(t, "boom with password=***", r["panic"])
				assert.Contains(t, r["stack"], "TestPanicsOfUserCode", "the stack is the panic's")
			})
		})
	}
}

func TestALoggerThatPanicsReachesNoCall(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		handler := contextHandler{slog.DiscardHandler, func(context.Context) { panic("the disk is full") }}
		seen := &recorder{}
		g := newGuard(t, steady(threshold(3)), &resilient.Options{Logger: slog.New(handler), Observers: []resilient.Observer{seen}})
		fn, calls := fails(always)
		_, err := in.call(t.Context(), g, get, fn)
		require.ErrorIs(t, err, errDown)
		assert.EqualValues(t, 3, calls.Load())
		assert.Len(t, recorded[resilient.CircuitChanged](seen), 1)
	})
}

// A handler is asked whether it is enabled before it is given a record: that is the user's code, too.
func TestAHandlerThatPanicsInEnabledReachesNoCall(t *testing.T) {
	for _, observers := range [][]resilient.Observer{nil, {&recorder{}}} {
		overEntries(t, func(t *testing.T, in entry) {
			handler := brokenHandler{slog.DiscardHandler}
			g := newGuard(t, steady(threshold(3)), &resilient.Options{Logger: slog.New(handler), Observers: observers})
			fn, calls := fails(always)
			var err error
			assert.Nil(t, panics(func() { _, err = in.call(t.Context(), g, get, fn) }))
			require.ErrorIs(t, err, errDown)
			assert.EqualValues(t, 3, calls.Load())
			assert.Equal(t, breaker.Open, g.Circuit().State())
		})
	}
}

type brokenHandler struct{ slog.Handler }

func (brokenHandler) Enabled(context.Context, slog.Level) bool { panic("not configured") }

// R18: transitions arrive in order and one at a time, also when calls and operators race, and no call waits for a slow
// listener's lock.
func TestR18TransitionsArriveInOrder(t *testing.T) {
	var inside, overlaps atomic.Int64
	var mu sync.Mutex
	var seen []resilient.CircuitChanged
	g := newGuard(t, steady(threshold(1)), &resilient.Options{Observers: []resilient.Observer{
		resilient.ObserverFunc(func(ctx context.Context, e resilient.Event) {
			changed, ok := e.(resilient.CircuitChanged)
			if !ok {
				return
			}
			if inside.Add(1) != 1 {
				overlaps.Add(1)
			}
			if ctx.Done() != nil || ctx.Value(key{}) != nil {
				t.Error("the context of a call")
			}
			mu.Lock()
			seen = append(seen, changed)
			mu.Unlock()
			inside.Add(-1)
		}),
	}})
	ctx := context.WithValue(t.Context(), key{}, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				_ = resilient.Do(ctx, g, apply, returns(errDown))
				g.Circuit().Reset()
			}
		})
	}
	wg.Wait()
	assert.Zero(t, overlaps.Load())
	mu.Lock()
	defer mu.Unlock()
	require.NotEmpty(t, seen)
	state, round := breaker.Closed, uint64(0)
	for _, e := range seen {
		require.Equal(t, state, e.From)
		require.Greater(t, e.Round, round)
		state, round = e.To, e.Round
	}
	assert.Equal(t, state, g.Circuit().State())
}
