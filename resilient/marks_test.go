package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

// wrappings are the ways in which errors are passed on.
var wrappings = map[string]func(err error) error{
	"as it is":      func(err error) error { return err },
	"wrapped":       func(err error) error { return fmt.Errorf("reading: %w", err) },
	"wrapped twice": func(err error) error { return fmt.Errorf("a: %w", fmt.Errorf("b: %w", err)) },
	"joined, first": func(err error) error { return errors.Join(err, errOther) },
	"joined, last":  func(err error) error { return errors.Join(errOther, err) },
	"joined, deep": func(err error) error {
		return fmt.Errorf("a: %w", errors.Join(errOther, errors.Join(errOther, fmt.Errorf("b: %w", err))))
	},
	"one of two %w":     func(err error) error { return fmt.Errorf("%w, and %w", errOther, err) },
	"found by As only":  func(err error) error { return asOnly{err} },
	"marked once more":  func(err error) error { return resilient.RetryAfter(err, 0) },
	"in retry-go's log": func(err error) error { return retryGoLog(errOther, err) },
}

// asOnly hides what it wraps from Unwrap.
type asOnly struct{ hidden error }

func (e asOnly) Error() string        { return "hidden" }
func (e asOnly) As(target any) bool   { return errors.As(e.hidden, target) }
func (e asOnly) Is(target error) bool { return errors.Is(e.hidden, target) }

func TestP21P23PermanentIsAFailureThatIsNotRetried(t *testing.T) {
	for name, wrap := range wrappings {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, steady(), &resilient.Options{
					Classify: func(error) resilient.Outcome { return resilient.OutcomeFailure }, // P23: it has no say
				})
				returned := wrap(resilient.Permanent(errDown))
				calls := 0
				_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
					calls++
					return 0, returned
				})
				assert.Equal(t, 1, calls)
				assert.Equal(t, returned, err, "unchanged")
				assert.Equal(t, 1, g.Circuit().Snapshot().Failures)
			})
		})
	}
}

func TestNeutralIsNotCountedAndNotRetried(t *testing.T) {
	for name, wrap := range wrappings {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, steady(threshold(1)), nil)
				returned := wrap(resilient.Neutral(errDown))
				calls := 0
				_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
					calls++
					return 0, returned
				})
				assert.Equal(t, 1, calls)
				assert.Equal(t, returned, err, "unchanged")
				assert.Zero(t, g.Circuit().Snapshot().Failures)
			})
		})
	}
}

func TestMarksAreHonouredByEveryGuard(t *testing.T) {
	marks := map[string]func(error) error{"Permanent": resilient.Permanent, "Neutral": resilient.Neutral}
	for name, mark := range marks {
		for _, before := range []int{0, 1} { // at the inner call's first attempt, and after a retry
			t.Run(fmt.Sprint(name, before), func(t *testing.T) {
				overEntries(t, func(t *testing.T, in entry) {
					guards := []*resilient.Guard{newGuard(t, steady(), nil), newGuard(t, steady(), nil), newGuard(t, steady(), nil)}
					made := [3]int{}
					_, err := in.call(t.Context(), guards[0], get, func(context.Context) (int, error) {
						made[0]++
						_, err := in.call(context.Background(), guards[1], get, func(context.Context) (int, error) {
							made[1]++
							return in.call(context.Background(), guards[2], get, func(context.Context) (int, error) {
								if made[2]++; made[2] <= before {
									return 0, errOther
								}
								return 0, mark(errDown)
							})
						})
						return 0, fmt.Errorf("outer: %w", err)
					})
					require.ErrorIs(t, err, errDown)
					assert.Equal(t, [3]int{1, 1, 1 + before}, made)
					for i, g := range guards {
						want := 0
						if name == "Permanent" {
							want = 1
						}
						if i == 2 {
							want += before
						}
						assert.Equal(t, want, g.Circuit().Snapshot().Failures, "guard %d", i)
					}
				})
			})
		}
	}
}

func TestP25MarksAddNoText(t *testing.T) {
	for name, mark := range map[string]func(error) error{
		"Permanent": resilient.Permanent, "Neutral": resilient.Neutral,
		"RetryAfter": func(err error) error { return resilient.RetryAfter(err, time.Minute) },
	} {
		assert.Nil(t, mark(nil), name)
		marked := mark(errDown)
		assert.Equal(t, "down", marked.Error(), name)
		assert.Equal(t, "down", fmt.Sprintf("%v", marked), name)
		assert.Equal(t, "x: down", fmt.Errorf("x: %w", marked).Error(), name)
		require.ErrorIs(t, marked, errDown, name)
		assert.Same(t, errDown, errors.Unwrap(marked), name)
		typed := &resilient.TimeoutError{Limit: resilient.LimitTotal}
		var found *resilient.TimeoutError
		require.ErrorAs(t, mark(typed), &found)
		assert.Same(t, typed, found)
	}
}

func TestMarksTogether(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for _, returned := range []error{
			resilient.Permanent(resilient.RetryAfter(errDown, sec)),
			resilient.RetryAfter(resilient.Permanent(errDown), sec),
		} {
			g := newGuard(t, steady(), nil)
			calls := 0
			_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { calls++; return 0, returned })
			assert.Equal(t, 1, calls, "a hint makes nothing repeatable")
			assert.Equal(t, returned, err)
		}
		g := newGuard(t, steady(threshold(1)), nil)
		_, _ = in.call(t.Context(), g, get, func(context.Context) (int, error) {
			return 0, resilient.Neutral(resilient.Permanent(errDown))
		})
		assert.Zero(t, g.Circuit().Snapshot().Failures, "neutral, and not retried: both are honoured")
	})
}

func TestRetryGosOwnMarkIsHonoured(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for name, wrap := range wrappings {
			g := newGuard(t, steady(), nil)
			returned := wrap(unrecoverable(errDown))
			calls := 0
			_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { calls++; return 0, returned })
			assert.Equal(t, 1, calls, name)
			assert.Equal(t, returned, err, name)
			assert.Equal(t, 1, g.Circuit().Snapshot().Failures, name)
		}
	})
}

// maxHint is the longest hint that is waited for.
func maxHint(d time.Duration) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.Retry.MaxRetryAfter = d }
}

func TestA70RetryAfterIsAMinimum(t *testing.T) {
	tests := []struct {
		name   string
		hint   time.Duration
		policy resilient.Policy
		waited time.Duration // before the second attempt
		reason resilient.Reason
	}{
		{"longer than the delay", 7 * sec, steady(attempts(2)), 7 * sec, resilient.ReasonAttempts},
		{"shorter than the delay", 7, steady(attempts(2)), sec, resilient.ReasonAttempts},
		{"zero", 0, steady(attempts(2)), sec, resilient.ReasonAttempts},
		{"as long as allowed", 60 * sec, steady(attempts(2)), 60 * sec, resilient.ReasonAttempts},
		{"longer than allowed", 60*sec + 1, steady(attempts(2)), 0, resilient.ReasonRetryAfter},
		{"120 s, when 60 s is the most", 120 * sec, steady(), 0, resilient.ReasonRetryAfter},
		{"120 s, when 120 s are allowed", 120 * sec, steady(attempts(2), maxHint(120*sec)), 120 * sec, resilient.ReasonAttempts},
		{"120 s, when 100 s are left", 120 * sec, steady(maxHint(120*sec), total(100*sec)), 0, resilient.ReasonNoTimeLeft},
		{"P130 an hour, when 3 s is the most", time.Hour, steady(maxHint(3 * sec)), 0, resilient.ReasonRetryAfter},
		{"P131 more seconds than a duration's", 9223372036 * sec, steady(maxHint(24 * time.Hour)), 0, resilient.ReasonRetryAfter},
		{"none is allowed", 1, steady(func(p *resilient.Policy) { p.Retry.MaxRetryAfter = 0 }), 0, resilient.ReasonRetryAfter},
		{"does not fit the time", 60 * sec, steady(total(60 * sec)), 0, resilient.ReasonNoTimeLeft},
		{"just fits the time", 60 * sec, steady(attempts(2), total(60*sec+1)), 60 * sec, resilient.ReasonAttempts},
		{"above the cap of the delays", 30 * sec, steady(attempts(2), func(p *resilient.Policy) { p.Retry.MaxDelay = sec }), 30 * sec, resilient.ReasonAttempts},
		{"without delays", 3 * sec, steady(attempts(2), noDelay), 3 * sec, resilient.ReasonAttempts},
		{"negative", -1, steady(), 0, resilient.ReasonRetryAfter},
		{"P42 for ever", math.MaxInt64, steady(), 0, resilient.ReasonRetryAfter},
		{"P42 for ever, backwards", math.MinInt64, steady(), 0, resilient.ReasonRetryAfter},
	}
	for _, tt := range tests {
		for wrapping, wrap := range wrappings {
			if wrapping == "marked once more" && tt.hint < 0 {
				continue
			}
			t.Run(tt.name+"/"+wrapping, func(t *testing.T) {
				overEntries(t, func(t *testing.T, in entry) {
					start := time.Now()
					var at []time.Duration
					returned := wrap(resilient.RetryAfter(errDown, tt.hint))
					_, err := in.call(t.Context(), newGuard(t, tt.policy, nil), get, func(context.Context) (int, error) {
						at = append(at, time.Since(start))
						return 0, returned
					})
					want := []time.Duration{0}
					if tt.waited > 0 {
						want = append(want, tt.waited)
					}
					assert.Equal(t, want, at)
					assert.Equal(t, want[len(want)-1], time.Since(start), "it stops at once")
					var exhausted *resilient.ExhaustedError
					require.ErrorAs(t, err, &exhausted)
					assert.Equal(t, tt.reason, exhausted.Reason)
					assert.Equal(t, tt.hint, exhausted.RetryAfter, "the hint is carried")
					assert.Equal(t, returned, exhausted.Last)
					require.ErrorIs(t, err, errDown)
				})
			})
		}
	}
}

func TestOfTwoHintsTheStricterHolds(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for _, returned := range []error{
			errors.Join(resilient.RetryAfter(errDown, 3*sec), resilient.RetryAfter(errOther, 5*sec)),
			resilient.RetryAfter(resilient.RetryAfter(errDown, 5*sec), 3*sec),
		} {
			start := time.Now()
			_, err := in.call(t.Context(), newGuard(t, steady(attempts(2)), nil), get, func(context.Context) (int, error) { return 0, returned })
			require.Error(t, err)
			assert.Equal(t, 5*sec, time.Since(start))
		}
		for _, returned := range []error{
			errors.Join(resilient.RetryAfter(errDown, -1), resilient.RetryAfter(errOther, 5*sec)),
			errors.Join(resilient.RetryAfter(errDown, 5*sec), resilient.RetryAfter(errOther, -1), resilient.RetryAfter(errOther, 0)),
		} {
			start := time.Now()
			_, err := in.call(t.Context(), newGuard(t, steady(attempts(2)), nil), get, func(context.Context) (int, error) { return 0, returned })
			require.Error(t, err)
			assert.Zero(t, time.Since(start), "a negative one is the strictest")
		}
	})
}

// A hint holds for the attempt that it came with.
func TestAHintIsForgottenAfterItsWait(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		start := time.Now()
		var at []time.Duration
		_, err := in.call(t.Context(), newGuard(t, steady(), nil), get, func(context.Context) (int, error) {
			at = append(at, time.Since(start))
			if len(at) == 1 {
				return 0, resilient.RetryAfter(errDown, 9*sec)
			}
			return 0, errDown
		})
		assert.Equal(t, []time.Duration{0, 9 * sec, 10 * sec}, at)
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Zero(t, exhausted.RetryAfter)
	})
}

func TestP29AHintKeepsItsCause(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		_, err := in.call(t.Context(), newGuard(t, steady(attempts(1)), nil), get, func(context.Context) (int, error) {
			return 0, resilient.RetryAfter(errDown, sec)
		})
		require.ErrorIs(t, err, errDown)
	})
}

// What was said about the attempts of a call inside does not hold for the call round it.
func TestMarksInsideOfAnExhaustedCallAreNotAsked(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		inner := &resilient.ExhaustedError{Service: "below", Attempts: 3, Reason: resilient.ReasonAttempts, Last: resilient.Neutral(errDown)}
		g := newGuard(t, steady(), nil)
		_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, inner })
		assert.Same(t, inner, err)
		assert.Equal(t, 1, g.Circuit().Snapshot().Failures)
	})
}

// Whoever judges errors himself sees what a guard sees.
func TestMarksOf(t *testing.T) {
	for name, wrap := range wrappings {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, resilient.Marks{Permanent: true}, resilient.MarksOf(wrap(resilient.Permanent(errDown))))
			assert.Equal(t, resilient.Marks{Neutral: true}, resilient.MarksOf(wrap(resilient.Neutral(errDown))))
			assert.Equal(t, resilient.Marks{RetryAfter: time.Minute}, resilient.MarksOf(wrap(resilient.RetryAfter(errDown, time.Minute))))
		})
	}
	assert.Equal(t, resilient.Marks{Throttled: true}, resilient.MarksOf(fmt.Errorf("a: %w", resilient.Throttled(errDown))))
	require.NoError(t, resilient.Throttled(nil))
	assert.Equal(t, "down", resilient.Throttled(errDown).Error(), "no text is added")
	assert.Equal(t, resilient.Marks{Refused: true}, resilient.MarksOf(fmt.Errorf("a: %w", &resilient.RejectedError{})))
	assert.Equal(t, resilient.Marks{Exhausted: true}, resilient.MarksOf(fmt.Errorf("a: %w", &resilient.ExhaustedError{})))
	assert.Zero(t, resilient.MarksOf(errDown))
	assert.Zero(t, resilient.MarksOf(nil))
	var typedNil *unwrapsItself
	assert.NotPanics(t, func() { resilient.MarksOf(errors.Join(resilient.Neutral(errDown), typedNil)) })
	assert.True(t, resilient.MarksOf(errors.Join(resilient.Neutral(errDown), typedNil)).Neutral, "what was seen before")
}

// unwrapsItself panics if it is a typed nil.
type unwrapsItself struct{ inner error }

func (e *unwrapsItself) Error() string { return e.inner.Error() }
func (e *unwrapsItself) Unwrap() error { return e.inner }
