package resilient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// What is wrong with a call itself. Nothing has run, and no circuit was touched.
var (
	// ErrNilGuard says that the guard is nil or the zero value. [Passthrough] is the
	// way to protect nothing.
	ErrNilGuard = errors.New("resilient: the guard is nil or was not made by NewGuard; use Passthrough() to protect nothing")
	// ErrNilContext says that the context is nil.
	ErrNilContext = errors.New("resilient: the context is nil; use context.Background()")
	// ErrNilFunction says that the function is nil.
	ErrNilFunction = errors.New("resilient: the function is nil")
	// ErrAsyncFunction says that the function's result is a *Future or a channel:
	// it returns before its work is done, so its return would be taken for its
	// completion. Give the work itself to [Async].
	ErrAsyncFunction = errors.New("resilient: the function returns a *Future or a channel, so it ends before its work does; use Async with the work itself")
	// ErrNoAlternatives says that [FirstOf] was given none.
	ErrNoAlternatives = errors.New("resilient: there is no alternative to call")
	// ErrInvalidOp says that the op has a negative limit.
	ErrInvalidOp = errors.New("resilient: the op has a negative timeout")
)

// RejectedError says that an attempt was refused by a circuit: nothing ran. See
// [breaker.RejectedError].
type RejectedError = breaker.RejectedError

// Limit names one of our own time limits. The zero value is none.
type Limit uint8

const (
	// LimitTotal is the limit of the whole call.
	LimitTotal Limit = iota + 1
	// LimitAttempt is the limit of one attempt.
	LimitAttempt
)

// String returns "total" or "attempt".
func (l Limit) String() string {
	switch l {
	case LimitTotal:
		return "total"
	case LimitAttempt:
		return "attempt"
	default:
		return "unknown"
	}
}

// TimeoutError says which of our own limits ended something. It is the cause
// (see context.Cause) of the context that a function is called with, and errors.Is
// finds context.DeadlineExceeded in it. It is immutable.
type TimeoutError struct {
	// Limit is which one.
	Limit Limit
	// After is how long it is.
	After time.Duration
}

// Error says which limit, and how long it is.
func (e *TimeoutError) Error() string {
	if e == nil {
		return context.DeadlineExceeded.Error()
	}
	return fmt.Sprintf("%s timeout of %v", e.Limit, e.After)
}

// Is reports whether the target is context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout is true: it is what net.Error asks.
func (e *TimeoutError) Timeout() bool { return true }

// Reason is which limit ended a call. The zero value is none.
type Reason uint8

const (
	// ReasonAttempts says that all the attempts were made, more than one.
	ReasonAttempts Reason = iota + 1
	// ReasonTimeout says that one of our time limits cut the last attempt.
	ReasonTimeout
	// ReasonNoTimeLeft says that the next attempt would have begun at or after the
	// end of the time.
	ReasonNoTimeLeft
	// ReasonCircuit says that the circuit opened in the middle of the call.
	ReasonCircuit
	// ReasonContext says that the caller's context ended between two attempts.
	ReasonContext
	// ReasonRetryAfter says that the server asked for a longer wait than the
	// policy allows.
	ReasonRetryAfter
	// ReasonAttemptLimit says that one of [Options].AttemptLimits was reached.
	ReasonAttemptLimit
	// ReasonBudget says that the [Budget] had nothing left for a retry.
	ReasonBudget
	// ReasonSwitchedOff says that retries were turned off meanwhile: see [Switch].
	ReasonSwitchedOff
)

var reasonTexts = [...]string{
	ReasonAttempts:   "attempts used up",
	ReasonTimeout:    "timed out",
	ReasonNoTimeLeft: "no time left",
	ReasonCircuit:    "circuit opened",
	ReasonContext:    "context ended",
	ReasonRetryAfter: "asked to wait longer than allowed",

	ReasonAttemptLimit: "no more attempts for this error",
	ReasonBudget:       "retry budget used up",
	ReasonSwitchedOff:  "retries switched off",
}

// String returns a few words.
func (r Reason) String() string {
	if int(r) >= len(reasonTexts) || reasonTexts[r] == "" {
		return "unknown"
	}
	return reasonTexts[r]
}

// ExhaustedError says that a limit ended a call whose attempts failed. Find it
// with errors.As. It wraps both errors that it carries. It is immutable.
type ExhaustedError struct {
	// Service and Operation are the names of the guard and the op, with secrets
	// taken out.
	Service, Operation string
	// Attempts is how many were made.
	Attempts int
	// Reason is the limit.
	Reason Reason
	// Last is the last attempt's error, as the function returned it, secrets and all.
	// The text of the ExhaustedError itself has them taken out.
	Last error
	// Limit is the rejection, the *[TimeoutError] or the context's cause that
	// stands for the limit; nil for the other reasons, which say it all.
	Limit error
	// RetryAfter is how long the server asked to wait after the last attempt; 0 if
	// it did not.
	RetryAfter time.Duration
}

// Error is one line of bounded length with secrets taken out: the names, the
// number of attempts, the limit and the last error.
func (e *ExhaustedError) Error() string {
	if e == nil {
		return "resilient: exhausted"
	}
	text := fmt.Sprintf("%s: gave up after %d %s", joinNames(e.Service, e.Operation), e.Attempts, plural(e.Attempts, "attempt"))
	if e.Reason != ReasonAttempts { // which the number has said
		text += ": " + e.Reason.String()
	}
	if e.Limit != nil {
		text += " (" + limitText(e.Limit) + ")"
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(" (retry after %v)", e.RetryAfter)
	}
	if e.Last != nil {
		text += ": " + safeText(e.Last)
	}
	return text
}

// GoString is the text, so that %#v prints none of the fields.
func (e *ExhaustedError) GoString() string { return e.Error() }

// MarshalText is the text: what encodes the error does not encode its fields.
func (e *ExhaustedError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// namesItself reports whether an error's text begins with the guard's name.
func namesItself(err error) bool {
	switch err.(type) {
	case *ExhaustedError, *RejectedError:
		return true
	default:
		return false
	}
}

// limitText is a limit's text; of a rejection without its cause, which in the middle
// of a call is the failure that the text ends with.
func limitText(limit error) string {
	if r, ok := limit.(*RejectedError); ok && r != nil {
		return (&RejectedError{Service: r.Service, State: r.State, Until: r.Until}).Error()
	}
	return safeText(limit)
}

// Unwrap returns the last attempt's error and the limit, where there is one.
func (e *ExhaustedError) Unwrap() []error {
	switch {
	case e == nil || e.Last == nil && e.Limit == nil:
		return nil
	case e.Limit == nil:
		return []error{e.Last}
	case e.Last == nil:
		return []error{e.Limit}
	default:
		return []error{e.Last, e.Limit}
	}
}

// Timeout reports whether the limit or the last attempt's error is a timeout: it is what
// *url.Error asks.
func (e *ExhaustedError) Timeout() bool {
	var timeout interface{ Timeout() bool }
	return e != nil && (errors.As(e.Limit, &timeout) && timeout.Timeout() || errors.As(e.Last, &timeout) && timeout.Timeout())
}

// NoAnswerError says that [FirstOf] went from one alternative to the next and none
// answered. Find it with errors.As. It wraps all the errors that it carries. It is
// immutable.
type NoAnswerError struct {
	// Operation is the op's name, with secrets taken out.
	Operation string
	// Services are the names of the guards that were tried, in their order.
	Services []string
	// Failures are what they ended with, as they returned it, secrets and all. The text
	// of the NoAnswerError itself has them taken out.
	Failures []error
	// Limit is what kept the next one from being tried: the *[TimeoutError] of the whole
	// call, or the cause of the caller's context. Nil if all were tried.
	Limit error
}

// Error is one line with secrets taken out: each service with a failure of bounded
// length.
func (e *NoAnswerError) Error() string {
	if e == nil {
		return "resilient: no alternative answered"
	}
	text := "no alternative answered"
	if e.Operation != "" {
		text = e.Operation + ": " + text
	}
	if e.Limit != nil {
		text += " (" + safeText(e.Limit) + ")"
	}
	for i, failure := range e.Failures {
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		text += separator
		if !namesItself(failure) && i < len(e.Services) {
			text += e.Services[i] + ": "
		}
		text += safeText(failure)
	}
	return text
}

// GoString is the text, so that %#v prints none of the fields.
func (e *NoAnswerError) GoString() string { return e.Error() }

// MarshalText is the text: what encodes the error does not encode its fields.
func (e *NoAnswerError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Unwrap returns the failures and the limit, where there is one.
func (e *NoAnswerError) Unwrap() []error {
	if e == nil {
		return nil
	}
	all := slices.Clone(e.Failures)
	if e.Limit != nil {
		all = append(all, e.Limit)
	}
	return all
}

// PanicError is how a panic or a runtime.Goexit of a function that [Async] runs
// reaches [Future.Await]. In [Execute] both go on as what they are. It is a failure
// that is not retried. It is immutable.
type PanicError struct {
	// Value is what the function panicked with; nil for a Goexit.
	Value any
	// Goexit reports that the function ended its goroutine with runtime.Goexit.
	Goexit bool
	// Stack is the stack at the panic, as debug.Stack gives it; nil for a Goexit.
	Stack []byte
}

// Error names the value with secrets taken out, without the stack.
func (e *PanicError) Error() string {
	switch {
	case e == nil:
		return "panic"
	case e.Goexit:
		return "the function ended its goroutine (runtime.Goexit)"
	default:
		return "panic: " + sanitize.Message(fmt.Sprint(e.Value))
	}
}

// GoString is the text, so that %#v prints none of the fields.
func (e *PanicError) GoString() string { return e.Error() }

// MarshalText is the text: what encodes the error does not encode its fields.
func (e *PanicError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Unwrap returns the value if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	if e == nil {
		return nil
	}
	err, _ := e.Value.(error)
	return err
}

// errDidNotReturn stands for a panic or a Goexit as a circuit's cause: Execute
// lets both pass untouched, so it never sees the value.
var errDidNotReturn = errors.New("the function panicked or ended its goroutine")

// safeText is an error's text as it may leave. Sprint, since a foreign Error
// method may panic.
func safeText(err error) string { return sanitize.Message(fmt.Sprint(err)) }

func joinNames(service, operation string) string {
	if operation == "" {
		return service
	}
	return service + "." + operation
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
