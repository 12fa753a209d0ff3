package httpguard

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/seed42274fcc/stoic/resilient"
)

// Status is the ready classifier: what the status of a response says about the server.
//
//   - a failure, which is repeated where it may be: 408, 425, 429, and 500 and above
//     but for 501 and 505
//   - neutral: 401, 403 and 407, since whoever guards the door has answered, and not the
//     house
//   - an answer: all else. A 404 is one, and so is a 501: next time it will be the same
//
// The request's own faults (400, 422, …) are answers: they open no circuit.
func Status(code int) resilient.Outcome {
	switch code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return resilient.OutcomeFailure
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return resilient.OutcomeNeutral
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return resilient.OutcomeSuccess
	}
	if code >= http.StatusInternalServerError {
		return resilient.OutcomeFailure
	}
	return resilient.OutcomeSuccess
}

// StatusError is a response that is no answer. Find it with errors.As. It is immutable.
type StatusError struct {
	// StatusCode is the response's.
	StatusCode int
	// Header is the response's.
	Header http.Header
	// Body is the beginning of the body, at most 4 KiB, where it has been read.
	Body []byte
}

// Error names the status in HTTP's own words. Nothing of the header or the body is in
// it: they may hold secrets.
func (e *StatusError) Error() string {
	if e == nil {
		return "http status"
	}
	text := http.StatusText(e.StatusCode)
	if text == "" {
		return fmt.Sprintf("http status %d", e.StatusCode)
	}
	return fmt.Sprintf("http status %d %s", e.StatusCode, text)
}

// GoString is the text, so that %#v prints none of the fields.
func (e *StatusError) GoString() string { return e.Error() }

// MarshalText is the text: what encodes the error does not encode its fields.
func (e *StatusError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// maxExcerpt is how much of a body an error keeps.
const maxExcerpt = 4 << 10

// statusError is the error that stands for a response: marked as neutral, or with what
// its Retry-After says.
func statusError(resp *http.Response, outcome resilient.Outcome, body []byte) error {
	err := error(&StatusError{
		StatusCode: resp.StatusCode, Header: resp.Header, Body: body[:min(len(body), maxExcerpt)],
	})
	if outcome == resilient.OutcomeNeutral {
		return resilient.Neutral(err)
	}
	if after, ok := RetryAfter(resp.Header); ok {
		return resilient.RetryAfter(err, after)
	}
	return err
}

// Check returns what a response means for a guard: nil for an answer, else an error in
// which errors.As finds a *[StatusError].
//
// Of a response that came through a [Transport] it is what the guard made of it, such
// as an ExhaustedError. Any other response is judged by its [Status], for those who make
// guarded calls by hand: the error has the marks that a guard needs to know, and the
// beginning of the body, which is still there to be read.
func Check(resp *http.Response) error {
	if judged, ok := resp.Body.(interface{ verdict() error }); ok {
		return judged.verdict()
	}
	outcome := Status(resp.StatusCode)
	if outcome == resilient.OutcomeSuccess {
		return nil
	}
	var begin []byte
	if resp.Body != nil {
		begin, _ = io.ReadAll(io.LimitReader(resp.Body, maxExcerpt)) // an error comes again when the rest is read
		resp.Body = &rest{Reader: io.MultiReader(bytes.NewReader(begin), resp.Body), Closer: resp.Body}
	}
	return statusError(resp, outcome, begin)
}

// rest is a body whose beginning has been read already.
type rest struct {
	io.Reader
	io.Closer
}
