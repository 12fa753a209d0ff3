package httpguard_test

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

func slowly(p *resilient.Policy) {
	p.Retry.Backoff = resilient.BackoffFixed
	p.Retry.BaseDelay = time.Second
	p.Retry.Jitter = false
}

func TestRetryAfterReadsBothForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it begins at the whole second
		in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		tests := []struct {
			name  string
			value []string
			date  string
			after time.Duration
			none  bool
		}{
			{name: "none", none: true},
			{name: "empty", value: []string{" "}, none: true},
			{name: "seconds", value: []string{"120"}, after: 2 * time.Minute},
			{name: "with space", value: []string{" 5 "}, after: 5 * time.Second},
			{name: "none at all", value: []string{"0"}, after: 0},
			{name: "a fraction", value: []string{"0.25"}, after: time.Second / 4},
			{name: "a date", value: []string{in(time.Minute)}, after: time.Minute},
			{name: "a date that has passed", value: []string{in(-time.Minute)}, after: 0},
			{name: "the server's clock counts", value: []string{in(time.Hour + time.Minute)}, date: in(time.Hour), after: time.Minute},
			{name: "the year 9999", value: []string{"Fri, 31 Dec 9999 23:59:59 GMT"}, after: math.MaxInt64},
			{name: "P131 more than a duration holds", value: []string{"9223372037"}, after: -1},
			{name: "P131 more than an int64 holds in seconds", value: []string{"9223372036854775807"}, after: -1},
			{name: "P131 more digits than anything", value: []string{strings.Repeat("9", 400)}, after: -1},
			{name: "A70 negative", value: []string{"-1"}, after: -1},
			{name: "A70 no number", value: []string{"soon"}, after: -1},
			{name: "A70 two points", value: []string{"1.2.3"}, after: -1},
			{name: "A70 hexadecimal", value: []string{"0x10"}, after: -1},
			{name: "A70 not a number", value: []string{"NaN"}, after: -1},
			{name: "a point", value: []string{"."}, after: -1},
			{name: "the strictest of several", value: []string{"1", "3", "2"}, after: 3 * time.Second},
			{name: "one that nobody can keep", value: []string{"1", "soon", "2"}, after: -1},
		}
		for _, test := range tests {
			header := http.Header{"Retry-After": test.value}
			if test.date != "" {
				header.Set("Date", test.date)
			}
			after, ok := httpguard.RetryAfter(header)
			assert.Equal(t, !test.none, ok, test.name)
			if test.after < 0 {
				assert.Negative(t, after, test.name)
			} else {
				assert.Equal(t, test.after, after, test.name)
			}
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"120", "9223372037", "1e400", "Fri, 31 Dec 9999 23:59:59 GMT", "-1", "...", "0.0000000001"} {
		f.Add(value, "")
	}
	f.Add("Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT")
	f.Fuzz(func(t *testing.T, value, date string) {
		after, ok := httpguard.RetryAfter(http.Header{"Retry-After": {value}, "Date": {date}})
		assert.True(t, ok || after == 0)
		assert.True(t, after >= 0 || after == -1, "one value says that nobody can wait so long")
	})
}

// A70, P130, P131: what a server asks for is the least wait, and what cannot be waited for ends the call at once.
func TestA70RetryAfterIsAMinimum(t *testing.T) {
	tests := []struct {
		name   string
		after  string
		code   int
		edit   func(*resilient.Policy)
		waited time.Duration
		reason resilient.Reason // 0: it is waited for
	}{
		{name: "longer than the delay", after: "30", waited: 30 * time.Second},
		{name: "of a 429", code: 429, after: "30", waited: 30 * time.Second},
		{name: "shorter than the delay", after: "0", waited: time.Second},
		{name: "A70 120 s against 60 s", after: "120", reason: resilient.ReasonRetryAfter},
		{name: "A70 120 s, allowed", after: "120", edit: allow(5 * time.Minute), waited: 2 * time.Minute},
		{
			name: "A70 120 s, allowed, total 100 s", after: "120",
			edit:   func(p *resilient.Policy) { allow(5 * time.Minute)(p); total(100 * time.Second)(p) },
			reason: resilient.ReasonNoTimeLeft,
		},
		{name: "P130 an hour against 3 s", after: "3600", edit: allow(3 * time.Second), reason: resilient.ReasonRetryAfter},
		{name: "P131 9223372037", after: "9223372037", edit: allow(24 * time.Hour), reason: resilient.ReasonRetryAfter},
		{name: "P131 9223372036854775807", after: "9223372036854775807", edit: allow(24 * time.Hour), reason: resilient.ReasonRetryAfter},
		{name: "A70 negative", after: "-5", reason: resilient.ReasonRetryAfter},
		{name: "A70 unparsable", after: "tomorrow", reason: resilient.ReasonRetryAfter},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, tries := time.Now(), 0
				p := policy(slowly, attempts(2))
				if test.edit != nil {
					test.edit(&p)
				}
				if test.code == 0 {
					test.code = 503
				}
				body := strings.Repeat("busy ", 50_000)
				client := newClient(t, newGuard(t, p, resilient.Options{}), httpguard.Options{
					Next: roundTripper(func(*http.Request) (*http.Response, error) {
						if tries++; tries == 2 {
							return respond(200, nil, http.NoBody), nil
						}
						return respond(test.code, http.Header{"Retry-After": {test.after}}, &closer{Reader: strings.NewReader(body)}), nil
					}),
				})
				resp, err := client.Get("http://orders")
				require.NoError(t, err)
				assert.Equal(t, test.waited, time.Since(start))
				if test.reason == 0 {
					assert.Equal(t, 200, resp.StatusCode)
					return
				}
				assert.Equal(t, 1, tries)
				var exhausted *resilient.ExhaustedError
				require.ErrorAs(t, httpguard.Check(resp), &exhausted)
				assert.Equal(t, test.reason, exhausted.Reason)
				hint, _ := httpguard.RetryAfter(http.Header{"Retry-After": {test.after}})
				assert.Equal(t, hint, exhausted.RetryAfter)
				if test.reason == resilient.ReasonRetryAfter {
					assert.Equal(t, body, read(t, resp), "whole, since it was known to be the last")
				}
			})
		})
	}
}

func allow(d time.Duration) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.Retry.MaxRetryAfter = d }
}

// P39: the call does not wait for a delay that would end after the deadline, and says both why it ended and with what.
func TestP39NoWaitPastTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		client := newClient(t, newGuard(t, policy(slowly, total(500*time.Millisecond)), resilient.Options{}), httpguard.Options{
			StatusErrors: true,
			Next:         roundTripper(func(*http.Request) (*http.Response, error) { return respond(503, nil, http.NoBody), nil }),
		})
		_, err := client.Get("http://orders")
		assert.Zero(t, time.Since(start))
		var e *httpguard.StatusError
		require.ErrorAs(t, err, &e)
		var timeout *resilient.TimeoutError
		require.ErrorAs(t, err, &timeout)
	})
}
