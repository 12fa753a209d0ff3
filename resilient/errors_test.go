package resilient_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func TestExhaustedErrorText(t *testing.T) {
	timeout := &resilient.TimeoutError{Limit: resilient.LimitTotal, After: 10 * sec}
	tests := []struct {
		err  *resilient.ExhaustedError
		want string
	}{
		{
			&resilient.ExhaustedError{Service: "plans", Operation: "get", Attempts: 3, Reason: resilient.ReasonAttempts, Last: errDown},
			"plans.get: gave up after 3 attempts: down",
		},
		{
			&resilient.ExhaustedError{Service: "plans", Attempts: 1, Reason: resilient.ReasonTimeout, Last: errDown, Limit: timeout},
			"plans: gave up after 1 attempt: timed out (total timeout of 10s): down",
		},
		{
			&resilient.ExhaustedError{Service: "plans", Attempts: 1, Reason: resilient.ReasonRetryAfter, Last: errDown, RetryAfter: 2 * time.Minute},
			"plans: gave up after 1 attempt: asked to wait longer than allowed (retry after 2m0s): down",
		},
		{ // a rejection in the middle of a call: its cause is the failure that the text ends with
			&resilient.ExhaustedError{
				Service: "plans", Attempts: 2, Reason: resilient.ReasonCircuit, Last: errDown,
				Limit: &resilient.RejectedError{Service: "plans", State: breaker.ForcedOpen, Cause: errDown},
			},
			"plans: gave up after 2 attempts: circuit opened (plans: circuit forced-open): down",
		},
		{nil, "resilient: exhausted"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.err.Error())
	}
	assert.NotPanics(t, func() { _ = new(resilient.ExhaustedError).Error() })
	assert.Nil(t, new(resilient.ExhaustedError).Unwrap())
	assert.Nil(t, (*resilient.ExhaustedError)(nil).Unwrap())
	assert.Equal(t, []error{errDown}, (&resilient.ExhaustedError{Last: errDown}).Unwrap())
	assert.Equal(t, []error{errOther}, (&resilient.ExhaustedError{Limit: errOther}).Unwrap())
	assert.Equal(t, []error{errDown, errOther}, (&resilient.ExhaustedError{Last: errDown, Limit: errOther}).Unwrap())
}

func TestReasonsAndLimitsHaveTexts(t *testing.T) {
	seen := map[string]bool{}
	for r := resilient.ReasonAttempts; r <= resilient.ReasonSwitchedOff; r++ {
		assert.NotEqual(t, "unknown", r.String())
		assert.False(t, seen[r.String()], r)
		seen[r.String()] = true
	}
	assert.Equal(t, "unknown", resilient.Reason(0).String())
	assert.Equal(t, "unknown", (resilient.ReasonSwitchedOff + 1).String())
	assert.Equal(t, "unknown", resilient.Reason(255).String())
	assert.Equal(t, "total", resilient.LimitTotal.String())
	assert.Equal(t, "attempt", resilient.LimitAttempt.String())
	assert.Equal(t, "unknown", resilient.Limit(0).String())
}

func TestTimeoutError(t *testing.T) {
	err := error(&resilient.TimeoutError{Limit: resilient.LimitAttempt, After: 1500 * ms})
	assert.Equal(t, "attempt timeout of 1.5s", err.Error())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotErrorIs(t, err, context.Canceled)
	assert.True(t, os.IsTimeout(err))
	assert.NotPanics(t, func() { _ = (*resilient.TimeoutError)(nil).Error() })
}

func TestPanicError(t *testing.T) {
	assert.Equal(t, "panic: boom", (&resilient.PanicError{Value: "boom"}).Error())
	require.ErrorIs(t, &resilient.PanicError{Value: errDown}, errDown)
	assert.Nil(t, (&resilient.PanicError{Value: "boom"}).Unwrap())
	assert.NotPanics(t, func() { _ = (*resilient.PanicError)(nil).Error(); _ = (*resilient.PanicError)(nil).Unwrap() })
	assert.NotContains(t, (&resilient.PanicError{Value: 1, Stack: []byte("the stack")}).Error(), "stack")
}

type codeError struct{ code int }

func (e *codeError) Error() string { return fmt.Sprint("code ", e.code) }

func TestP26P27IsAndAsFindTheFunctionsError(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		typed := &codeError{503}
		for _, policy := range []resilient.Policy{steady(), steady(attempts(1)), steady(threshold(1))} {
			_, err := in.call(t.Context(), newGuard(t, policy, nil), get, func(context.Context) (int, error) {
				return 0, fmt.Errorf("reading: %w", errors.Join(errDown, typed))
			})
			require.ErrorIs(t, err, errDown)
			var found *codeError
			require.ErrorAs(t, err, &found)
			assert.Same(t, typed, found)
		}
		answer := errors.New("answer")
		g := newGuard(t, steady(), &resilient.Options{Classify: resilient.Answers(answer)})
		_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, answer })
		assert.Same(t, answer, err, "P27: not retryable, and not lost")
	})
}

// One text of bounded length, whatever the attempts said.
func TestP33TheTextIsOneLineOfBoundedLength(t *testing.T) {
	for name, size := range map[string]int{"1 MB": 1 << 20, "10 kB": 10 << 10} {
		for limit, edit := range map[string]func(*resilient.Policy){"attempts": attempts(10), "circuit": threshold(10), "time": total(5 * sec)} {
			if name == "1 MB" && limit != "attempts" {
				continue // it takes its time under the race detector
			}
			t.Run(name+", "+limit, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					long := errors.New(strings.Repeat("line\n", size/20) + strings.Repeat("ü", size/4))
					op := resilient.Idempotent(strings.Repeat("op\n", 1000))
					g := named(t, strings.Repeat("ñ", 1000), steady(attempts(20), edit), nil)
					err := resilient.Do(t.Context(), g, op, returns(long))
					var exhausted *resilient.ExhaustedError
					require.ErrorAs(t, err, &exhausted)
					text := err.Error()
					assert.NotContains(t, text, "\n")
					assert.Less(t, utf8.RuneCountInString(text), 1200)
					assert.True(t, utf8.ValidString(text), "cut on a rune boundary")
					assert.Contains(t, text, "...")
					require.ErrorIs(t, err, long, "the original is untouched")
				})
			})
		}
	}
}

// T may be anything; no text of ours prints it.
func TestP31NoResultInATextOfOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type person struct{ number string }
		seen, log := &recorder{}, &journal{}
		g := newGuard(t, steady(threshold(3)), &resilient.Options{Logger: log.logger(), Observers: []resilient.Observer{seen}})
		_, err := resilient.Execute(t.Context(), g, get, func(context.Context) (person, error) {
			return person{"123-45-6789"}, errDown
		})
		_, again := resilient.Execute(t.Context(), g, get, func(context.Context) (person, error) { return person{}, nil })
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", again), log.text(), fmt.Sprintf("%+v", seen.all())} {
			assert.NotEmpty(t, text)
			assert.NotContains(t, text, "6789")
		}
	})
}

func TestA59ARejectionNamesTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(1)), nil)
		dns := &net.DNSError{Err: "no such host", Name: "db", Server: "tcp://user:hunter2@dns"}
		_ = resilient.Do(t.Context(), g, apply, returns(dns))
		err := resilient.Do(t.Context(), g, apply, returns(nil))
		var rejected *resilient.RejectedError
		require.ErrorAs(t, err, &rejected)
		assert.Equal(t, breaker.Open, rejected.State)
		assert.Equal(t, 60*sec, time.Until(rejected.Until))
		var found *net.DNSError
		require.ErrorAs(t, err, &found)
		assert.Same(t, dns, found)
		assert.Equal(t, "plans: circuit open until "+rejected.Until.UTC().Format(time.RFC3339)+
			": last failure: lookup db on tcp://***@dns: no such host", err.Error())
		time.Sleep(20 * sec)
		assert.Equal(t, 40*sec, rejected.RetryAfter())
		g.Circuit().ForceOpen()
		require.ErrorAs(t, resilient.Do(t.Context(), g, apply, returns(nil)), &rejected)
		assert.Equal(t, breaker.ForcedOpen, rejected.State)
		assert.Zero(t, rejected.RetryAfter())
		assert.NoError(t, rejected.Cause)
	})
}

func TestNotFound(t *testing.T) {
	assert.Equal(t, resilient.OutcomeSuccess, resilient.NotFound(fmt.Errorf("x: %w", sql.ErrNoRows)))
	assert.Equal(t, resilient.OutcomeSuccess, resilient.NotFound(&fs.PathError{Op: "open", Err: fs.ErrNotExist}))
	_, err := os.Open("testdata/there is no such file")
	assert.Equal(t, resilient.OutcomeSuccess, resilient.NotFound(err))
	assert.Equal(t, resilient.OutcomeUnjudged, resilient.NotFound(errDown))
	assert.Equal(t, resilient.OutcomeUnjudged, resilient.NotFound(sql.ErrConnDone))
}

func TestAnswers(t *testing.T) {
	list := []error{errDown, errOther}
	classify := resilient.Answers(list...)
	list[0] = errors.New("changed")
	assert.Equal(t, resilient.OutcomeSuccess, classify(fmt.Errorf("x: %w", errDown)), "the list is copied")
	assert.Equal(t, resilient.OutcomeSuccess, classify(errOther))
	assert.Equal(t, resilient.OutcomeUnjudged, classify(list[0]))
	assert.Equal(t, resilient.OutcomeUnjudged, resilient.Answers()(errDown))
}

// An answer is a success for the circuit, and the error is the caller's all the same.
func TestAnAnswerHealsTheCircuit(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(), &resilient.Options{Classify: resilient.NotFound})
		_, _ = in.call(t.Context(), g, apply, func(context.Context) (int, error) { return 0, errDown })
		require.Equal(t, 1, g.Circuit().Snapshot().Failures)
		calls := 0
		value, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { calls++; return 5, sql.ErrNoRows })
		assert.Equal(t, sql.ErrNoRows, err)
		assert.Equal(t, 5, value)
		assert.Equal(t, 1, calls)
		assert.Zero(t, g.Circuit().Snapshot().Failures)
	})
}

// net/http tells a timeout by this method.
func TestAnExhaustedErrorIsATimeoutIfOneEndedIt(t *testing.T) {
	for name, test := range map[string]struct {
		err  *resilient.ExhaustedError
		want bool
	}{
		"nil":              {nil, false},
		"attempts":         {&resilient.ExhaustedError{Last: errDown}, false},
		"a limit of ours":  {&resilient.ExhaustedError{Last: errDown, Limit: &resilient.TimeoutError{}}, true},
		"a deadline":       {&resilient.ExhaustedError{Last: fmt.Errorf("get: %w", context.DeadlineExceeded)}, true},
		"the caller's":     {&resilient.ExhaustedError{Last: errDown, Limit: context.DeadlineExceeded}, true},
		"the caller left":  {&resilient.ExhaustedError{Last: errDown, Limit: context.Canceled}, false},
		"nothing is known": {&resilient.ExhaustedError{}, false},
	} {
		assert.Equal(t, test.want, test.err.Timeout(), name)
	}
}
