package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// api calls one HTTP service. It knows nothing of guards: it makes one attempt, within its context, and returns errors
// that a guard can judge.
type api struct {
	base string
	key  string
	http *http.Client
}

func newAPI(base, key string) api {
	// net/http itself repeats a request when a connection that it reuses turns out to be dead. Here every request has
	// a connection of its own, so that what the server counts is what the guard has made. Otherwise there is nothing
	// to configure: no client timeout, since the limits come with the context.
	return api{base: base, key: key, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// call sends in, if it is not nil, and reads the answer into out, if it is not nil.
func (a api) call(ctx context.Context, method, path string, in, out any) error {
	body, err := a.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	if out == nil {
		_, err = io.Copy(io.Discard, body)
	} else {
		err = json.NewDecoder(body).Decode(out)
	}
	if err != nil {
		// An answer that breaks off or is no JSON is a failure like any other: the next one may be whole.
		return fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	return nil
}

// send makes the request and returns the body of a good answer, for the caller to close.
func (a api) send(ctx context.Context, method, path string, in any) (io.ReadCloser, error) {
	var content io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, resilient.Neutral(err) // ours: it says nothing about the service, and will be the same next time
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, content)
	if err != nil {
		return nil, resilient.Neutral(err)
	}
	req.Header.Set("X-Api-Key", a.key)
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		defer func() { _ = resp.Body.Close() }()
		return nil, statusOf(resp)
	}
	return resp.Body, nil
}

// statusError is an answer that is not a 2xx. It quotes what the server said, whatever that is.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("status %d: %s", e.code, e.text)
}

// statusOf turns an answer into an error, with the marks that a guard understands.
func statusOf(resp *http.Response) error {
	const enough = 4 << 10
	text, _ := io.ReadAll(io.LimitReader(resp.Body, enough)) // half an explanation is better than none
	var err error = &statusError{code: resp.StatusCode, text: strings.TrimSpace(string(text))}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		err = resilient.Permanent(err) // a failure, but the same key will not do better next time
	}
	if wait, ok := retryAfter(resp.Header.Get("Retry-After"), time.Now()); ok {
		err = resilient.RetryAfter(err, wait)
	}
	return err
}

// retryAfter reads the header: a number of seconds, or a date.
func retryAfter(header string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(0, date.Sub(now)), true
	}
	return 0, false
}

// classify says which errors are answers of a healthy service: what it does not have, or does not accept, it will not
// have or accept next time either, and that is no reason to leave it alone. About everything else it has no opinion,
// which makes it a failure.
func classify(err error) resilient.Outcome {
	if errors.Is(err, errNoSession) {
		return resilient.OutcomeSuccess
	}
	status, ok := errors.AsType[*statusError](err)
	if !ok {
		return resilient.OutcomeUnjudged
	}
	switch status.code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return resilient.OutcomeFailure
	}
	if status.code/100 == 4 {
		return resilient.OutcomeSuccess
	}
	return resilient.OutcomeUnjudged
}
