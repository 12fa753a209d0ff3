package httpguard

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
)

// exchange is one guarded call: a request, and what its attempts come to.
type exchange struct {
	transport *Transport
	guard     *resilient.Guard
	request   *http.Request
	sent      bool // the request's own body is in a transport's hands, which closes it
	answered  bool // an attempt has succeeded
	done      bool // the response is in the caller's hands

	// Of the last attempt, where it had a response:
	response *http.Response
	outcome  resilient.Outcome
}

// attempt makes one attempt. A response that is no answer becomes an error, and is kept
// until the next attempt.
func (x *exchange) attempt(ctx context.Context) error {
	replay := x.answered // the replay mode of tests makes a call that has succeeded again
	if !replay {
		x.drop()
	}
	held := resilient.Hold(ctx)
	kept := false
	defer func() {
		if !kept { // be it by a panic
			held.Release()
		}
	}()
	request, err := x.outgoing(held)
	if err != nil {
		return err
	}
	response, err := x.transport.next.RoundTrip(request)
	if err != nil {
		return judged(err)
	}
	if response == nil {
		return errNoResponse
	}
	outcome := x.transport.classify(response)
	if replay {
		_, _ = readSome(response.Body, held)
		return asError(response, outcome, nil)
	}
	var begin []byte
	if outcome == resilient.OutcomeFailure && (x.transport.options.StatusErrors || x.comesAgain(ctx, response)) {
		begin = x.free(response, held)
	} else if kept = held.Keep(); !kept {
		closeResponse(response)
		return context.Cause(held)
	} else {
		response.Body = keepBody(response.Body, held)
	}
	response.Request = x.request // the attempt's has a context that ends
	x.response, x.outcome = response, outcome
	x.answered = outcome == resilient.OutcomeSuccess
	return asError(response, outcome, begin)
}

// outgoing is the request of an attempt.
func (x *exchange) outgoing(ctx context.Context) (*http.Request, error) {
	request := x.request.WithContext(ctx)
	x.announce(request)
	switch {
	case !hasBody(x.request):
	case !x.sent:
		x.sent = true
	case x.request.GetBody == nil:
		return nil, resilient.Neutral(errNoBody)
	default:
		body, err := x.request.GetBody()
		if err != nil { // says nothing about the server
			return nil, resilient.Neutral(fmt.Errorf("httpguard: the request's body for another attempt: %w", err))
		}
		request.Body = body
	}
	return request, nil
}

// errNoBody is for the replay mode: a guard makes such a request once.
var errNoBody = errors.New("httpguard: the request's body cannot be had a second time: it has no GetBody")

// errNoResponse is what a RoundTripper must not do.
var errNoResponse = errors.New("httpguard: Options.Next returned neither a response nor an error")

// announce says to the server which calls this is inside of, and nothing else under that
// name.
func (x *exchange) announce(request *http.Request) {
	scope := ""
	if x.transport.options.External == nil || !x.transport.options.External(x.request) {
		scope = nesting.Capture(request.Context()).String()
	}
	_, there := request.Header[nesting.Header]
	if scope == "" && !there {
		return
	}
	request.Header = request.Header.Clone()
	if request.Header == nil {
		request.Header = make(http.Header, 1)
	}
	if scope == "" {
		request.Header.Del(nesting.Header)
		return
	}
	request.Header.Set(nesting.Header, scope)
}

// comesAgain reports whether there will be another attempt after this failure, unless
// something comes up. Only then is its body no use to anybody.
func (x *exchange) comesAgain(ctx context.Context, response *http.Response) bool {
	scope := nesting.From(ctx)
	policy := x.guard.Policy().Retry
	after, _ := RetryAfter(response.Header)
	return scope != nil && scope.Retrying() && resilient.Attempt(ctx) < policy.MaxAttempts &&
		after >= 0 && after <= policy.MaxRetryAfter
}

// free reads what it may of a response's body and closes it, so that the connection can
// be used again. What was read takes the body's place.
func (x *exchange) free(response *http.Response, held *resilient.Held) []byte {
	if response.Body == nil {
		return nil
	}
	begin, all := readSome(response.Body, held)
	response.Body = &remains{Reader: bytes.NewReader(begin), all: all}
	return begin
}

// Bounds of what is read of a body that nobody may want.
const (
	maxDrain  = 64 << 10
	drainTime = 500 * time.Millisecond
)

// readSome reads a body within bounds and closes it. all reports whether that was all.
func readSome(body io.ReadCloser, held *resilient.Held) (begin []byte, all bool) {
	if body == nil {
		return nil, true
	}
	timer := time.AfterFunc(drainTime, held.Release)
	defer timer.Stop()
	begin, err := io.ReadAll(io.LimitReader(body, maxDrain+1))
	all = err == nil && len(begin) <= maxDrain
	_ = body.Close()
	return begin[:min(len(begin), maxDrain)], all
}

// result is what the caller gets, for what the guard has ended the call with.
func (x *exchange) result(err error) (*http.Response, error) {
	switch {
	case err == nil && Status(x.response.StatusCode) == resilient.OutcomeSuccess: // as Check sees it, too
	case err == nil:
		x.response.Body = &verdict{ReadCloser: x.response.Body}
	case x.response == nil, x.request.Context().Err() != nil,
		x.transport.options.StatusErrors && x.outcome == resilient.OutcomeFailure:
		return nil, err
	default:
		x.response.Body = &verdict{ReadCloser: x.response.Body, err: err}
	}
	x.done = true
	return x.response, nil
}

// giveUp leaves nothing open of what the caller does not get.
func (x *exchange) giveUp() {
	if !x.sent {
		closeBody(x.request)
	}
	if !x.done {
		x.drop()
	}
}

// drop lets go of the last attempt's response.
func (x *exchange) drop() {
	if x.response != nil {
		closeResponse(x.response)
		x.response = nil
	}
}

func closeResponse(response *http.Response) {
	if response.Body != nil {
		_ = response.Body.Close()
	}
}

// asError is the error that stands for a response; nil for an answer.
func asError(response *http.Response, outcome resilient.Outcome, begin []byte) error {
	if outcome == resilient.OutcomeSuccess {
		return nil
	}
	return statusError(response, outcome, begin)
}

// judged marks a transport's error that will be the same next time.
func judged(err error) error {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return resilient.Permanent(err)
	}
	return err
}
