package httpguard_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

func TestStatus(t *testing.T) {
	want := map[resilient.Outcome][]int{
		resilient.OutcomeSuccess: {
			101, 200, 201, 204, 206, 301, 304, 307, 400, 402, 404, 405, 406, 409, 410, 411, 412, 413, 415, 416, 417, 418, 422, 423,
			424, 426, 428, 431, 451, 501, 505,
		},
		resilient.OutcomeNeutral: {401, 403, 407},
		resilient.OutcomeFailure: {408, 425, 429, 500, 502, 503, 504, 506, 507, 508, 511, 520, 522, 529, 599},
	}
	for outcome, codes := range want {
		for _, code := range codes {
			assert.Equal(t, outcome, httpguard.Status(code), code)
		}
	}
}

// A 404 is an answer, a 503 an outage, and a door that is shut says nothing about the house.
func TestWhatAStatusMeansForTheCircuit(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		codes := map[string]int{"/answer": 404, "/outage": 503, "/door": 401, "/never": 501}
		w.WriteHeader(codes[r.URL.Path])
	})
	guard := newGuard(t, policy(attempts(2)), resilient.Options{})
	client := newClient(t, guard, httpguard.Options{})
	for _, step := range []struct {
		path            string
		tries, failures int
	}{{"/outage", 2, 2}, {"/door", 1, 2}, {"/answer", 1, 0}, {"/outage", 2, 2}, {"/never", 1, 0}} {
		before := s.requests.Load()
		fetch(t, client, request(t, t.Context(), "GET", s.URL+step.path, nil))
		assert.EqualValues(t, step.tries, s.requests.Load()-before, step)
		assert.Equal(t, step.failures, guard.Circuit().Snapshot().Failures, step)
	}
}

func TestClassifyDecidesBeforeStatus(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
		code := map[string]int{"/404": 404, "/503": 503, "/500": 500, "/502": 502}[r.URL.Path]
		status(code, "text")(w, r, n)
	})
	guard := newGuard(t, policy(), resilient.Options{Classify: func(err error) resilient.Outcome {
		var e *httpguard.StatusError
		if errors.As(err, &e) && e.StatusCode == 502 {
			return resilient.OutcomeSuccess // the guard's own classifier is asked of failures
		}
		return resilient.OutcomeUnjudged
	}})
	client := newClient(t, guard, httpguard.Options{Classify: func(resp *http.Response) resilient.Outcome {
		switch resp.StatusCode {
		case 404:
			return resilient.OutcomeFailure // this service is never without it
		case 503:
			return resilient.OutcomeSuccess
		}
		return resilient.OutcomeUnjudged
	}})
	for path, tries := range map[string]int64{"/404": 3, "/503": 1, "/500": 3, "/502": 1} {
		before := s.requests.Load()
		resp, err := client.Get(s.URL + path)
		require.NoError(t, err)
		assert.Equal(t, path == "/503", httpguard.Check(resp) == nil, path)
		assert.Equal(t, "text", read(t, resp))
		assert.Equal(t, tries, s.requests.Load()-before, path)
	}
}

// P135: the last response is a response, whole, and what the guard made of it can be asked for.
func TestP135TheLastResponseIsReturned(t *testing.T) {
	long := strings.Repeat("busy ", 100_000)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		w.Header().Set("X-Try", string(rune('0'+n)))
		status(http.StatusServiceUnavailable, long)(w, nil, n)
	})
	client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{})
	resp, err := client.Get(s.URL)
	require.NoError(t, err, "as http.RoundTripper has it")
	assert.Equal(t, "3", resp.Header.Get("X-Try"))

	verdict := httpguard.Check(resp)
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, verdict, &exhausted)
	assert.Equal(t, 3, exhausted.Attempts)
	var e *httpguard.StatusError
	require.ErrorAs(t, verdict, &e)
	assert.Equal(t, http.StatusServiceUnavailable, e.StatusCode)
	assert.Len(t, read(t, resp), len(long))
}

// P135: or it is reachable from the error.
func TestP135TheLastResponseIsInTheError(t *testing.T) {
	for name, test := range map[string]struct {
		method   string
		attempts int
	}{"exhausted": {"GET", 3}, "one attempt": {"POST", 1}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("X-Id", "7")
				status(http.StatusServiceUnavailable, strings.Repeat("busy ", 10_000))(w, nil, 0)
			})
			client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{StatusErrors: true})
			_, err := client.Do(request(t, t.Context(), test.method, s.URL, nil))
			var e *httpguard.StatusError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, http.StatusServiceUnavailable, e.StatusCode)
			assert.Equal(t, "7", e.Header.Get("X-Id"))
			assert.Len(t, e.Body, 4<<10)
			assert.True(t, strings.HasPrefix(string(e.Body), "busy busy "))
			assert.Contains(t, err.Error(), "http status 503 Service Unavailable")
			assert.NotContains(t, err.Error(), "busy")
			var exhausted *resilient.ExhaustedError
			assert.Equal(t, test.attempts > 1, errors.As(err, &exhausted))
			assert.EqualValues(t, test.attempts, s.requests.Load())
		})
	}
	s := serve(t, status(http.StatusForbidden, "no"))
	client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{StatusErrors: true})
	resp, err := client.Get(s.URL)
	require.NoError(t, err, "what is no failure is a response")
	require.Error(t, httpguard.Check(resp))
	assert.Equal(t, "no", read(t, resp))
}

func TestStatusErrorSaysTheStatus(t *testing.T) {
	assert.Equal(t, "http status 503 Service Unavailable", (&httpguard.StatusError{StatusCode: 503}).Error())
	assert.Equal(t, "http status 599", (&httpguard.StatusError{StatusCode: 599}).Error())
	assert.Equal(t, "http status", (*httpguard.StatusError)(nil).Error())
}

// The circuit that opens in the middle ends the call, with the response that opened it; after that nothing is sent.
func TestAnOpenCircuitIsAnError(t *testing.T) {
	s := serve(t, status(http.StatusInternalServerError, "broken"))
	guard := newGuard(t, policy(threshold(2)), resilient.Options{})
	client := newClient(t, guard, httpguard.Options{})
	resp, err := client.Get(s.URL)
	require.NoError(t, err)
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, httpguard.Check(resp), &exhausted)
	assert.Equal(t, resilient.ReasonCircuit, exhausted.Reason)
	assert.Equal(t, "broken", read(t, resp))
	require.Equal(t, breaker.Open, guard.Circuit().State())

	_, err = client.Get(s.URL)
	var rejected *resilient.RejectedError
	require.ErrorAs(t, err, &rejected)
	assert.EqualValues(t, 2, s.requests.Load())
}

// What is left of a body that was read for its connection's sake is said to be cut.
func TestABodyThatWasCutSaysSo(t *testing.T) {
	s := serve(t, status(http.StatusInternalServerError, strings.Repeat("x", 100_000)))
	client := newClient(t, newGuard(t, policy(threshold(1)), resilient.Options{}), httpguard.Options{})
	resp, err := client.Get(s.URL)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Len(t, text, 64<<10)
}

// A caller who has given up gets an error, and the circuit learns nothing of it.
func TestP47ACallerWhoGivesUp(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
	guard := newGuard(t, policy(), resilient.Options{})
	client := newClient(t, guard, httpguard.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Do(request(t, ctx, "GET", s.URL, nil))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, 1, guard.Circuit().Snapshot().Failures, "a hung server shows itself just so")

	guard.Circuit().Reset()
	gone, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	_, err = client.Do(request(t, gone, "GET", s.URL, nil))
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, guard.Circuit().Snapshot().Failures)
	assert.EqualValues(t, 2, s.requests.Load())
}

func TestACallerWhoGivesUpBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		body := &closer{Reader: strings.NewReader("busy")}
		client := newClient(t, newGuard(t, policy(slowly), resilient.Options{}), httpguard.Options{
			Next: roundTripper(func(*http.Request) (*http.Response, error) {
				time.AfterFunc(100*time.Millisecond, cancel)
				return respond(503, nil, body), nil
			}),
		})
		_, err := client.Do(request(t, ctx, "GET", "http://orders", nil))
		require.ErrorIs(t, err, context.Canceled)
		var e *httpguard.StatusError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "busy", string(e.Body))
		assert.True(t, body.closed.Load())
	})
}

// A hung attempt is cut and repeated.
func TestAnAttemptTimeoutIsRepeated(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			<-r.Context().Done()
			return
		}
		status(http.StatusOK, "fine")(w, r, n)
	})
	client := newClient(t, newGuard(t, policy(each(time.Second)), resilient.Options{}), httpguard.Options{})
	_, text := fetch(t, client, request(t, t.Context(), "GET", s.URL, nil))
	assert.Equal(t, "fine", text)
	assert.EqualValues(t, 2, s.requests.Load())
}

func TestAConnectionThatIsRefusedIsRepeated(t *testing.T) {
	s := serve(t, status(http.StatusOK, ""))
	s.Close()
	guard := newGuard(t, policy(), resilient.Options{})
	_, err := newClient(t, guard, httpguard.Options{}).Get(s.URL)
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, 3, exhausted.Attempts)
}

// A certificate that nobody vouches for will be the same next time.
func TestABadCertificateIsNotRepeated(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	var tries atomic.Int64
	plain := &http.Transport{}
	guard := newGuard(t, policy(), resilient.Options{})
	client := newClient(t, guard, httpguard.Options{Next: roundTripper(func(r *http.Request) (*http.Response, error) {
		tries.Add(1)
		return plain.RoundTrip(r)
	})})
	_, err := client.Get(s.URL)
	require.Error(t, err)
	assert.EqualValues(t, 1, tries.Load())
	assert.Equal(t, 1, guard.Circuit().Snapshot().Failures)
}

// A panic of a transport goes on, and leaves nothing held.
func TestAPanicGoesOn(t *testing.T) {
	var ctx context.Context
	client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{
		Next: roundTripper(func(r *http.Request) (*http.Response, error) { ctx = r.Context(); panic("boom") }),
	})
	assert.PanicsWithValue(t, "boom", func() { _, _ = client.Get("http://orders") })
	assert.Error(t, ctx.Err())
}

// Check is for those who make guarded calls by hand, too.
func TestCheckJudgesAnyResponse(t *testing.T) {
	assert.NoError(t, httpguard.Check(respond(404, nil, http.NoBody)))
	assert.True(t, resilient.MarksOf(httpguard.Check(respond(401, nil, nil))).Neutral)

	text := strings.Repeat("busy ", 2000)
	resp := respond(503, http.Header{"Retry-After": {"7"}}, io.NopCloser(strings.NewReader(text)))
	err := httpguard.Check(resp)
	assert.Equal(t, 7*time.Second, resilient.MarksOf(err).RetryAfter)
	var e *httpguard.StatusError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, text[:4<<10], string(e.Body))
	assert.Equal(t, text, read(t, resp), "it is still there to be read")
}

// A transport that breaks its contract is an error, as it is in net/http.
func TestNeitherResponseNorError(t *testing.T) {
	client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{
		Next: roundTripper(func(*http.Request) (*http.Response, error) { return nil, nil }),
	})
	_, err := client.Do(request(t, t.Context(), "GET", "http://orders/", nil))
	assert.ErrorContains(t, err, "neither a response nor an error")
}
