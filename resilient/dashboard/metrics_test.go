package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

func scrape(t *testing.T, source resilient.Source, meter *dashboard.Meter) string {
	t.Helper()
	w := serve(dashboard.Metrics(source, meter), http.MethodGet, "/metrics", nil)
	require.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, "text/plain; version=0.0.4; charset=utf-8", w.Header().Get("Content-Type"))
	return w.Body.String()
}

// The numbers are those of what was done, exactly.
func TestMetricsOfAScriptedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guard := newGuard(t, `or"ders\`, meter)
		for range 3 {
			require.NoError(t, call(guard, put, 20*time.Millisecond, nil))
		}
		require.Error(t, call(guard, get, 0, errors.New("secret reason"))) // 3 attempts, a second apart: it opens
		for range 4 {
			require.Error(t, call(guard, put, 0, nil))
		}
		got := scrape(t, resilient.GuardList{guard, nil}, meter)
		for _, line := range []string{
			`stoic_calls_total{S,result="success"} 3`,
			`stoic_calls_total{S,result="error"} 1`,
			`stoic_calls_total{S,result="rejected"} 4`,
			`stoic_call_duration_seconds_bucket{S,le="0.01"} 0`,
			`stoic_call_duration_seconds_bucket{S,le="0.025"} 3`,
			`stoic_call_duration_seconds_bucket{S,le="1"} 3`,
			`stoic_call_duration_seconds_bucket{S,le="2.5"} 4`,
			`stoic_call_duration_seconds_bucket{S,le="+Inf"} 4`,
			`stoic_call_duration_seconds_sum{S} 2.06`,
			`stoic_call_duration_seconds_count{S} 4`,
			`stoic_attempts_total{S,outcome="success"} 3`,
			`stoic_attempts_total{S,outcome="failure"} 3`,
			`stoic_attempts_total{S,outcome="neutral"} 0`,
			`stoic_retries_total{S} 2`,
			`stoic_retry_delay_seconds_total{S} 2`,
			`stoic_rejections_total{S,state="open"} 4`,
			`stoic_rejections_total{S,state="forced-open"} 0`,
			`stoic_late_results_total{S} 0`,
			`stoic_circuit_changes_total{S,to="open"} 1`,
			`stoic_circuit_state{S,state="open"} 1`,
			`stoic_circuit_state{S,state="probe-due"} 0`,
			`stoic_circuit_state{S,state="closed"} 0`,
			`stoic_circuit_generation{S} 1`,
			`stoic_circuit_failures{S} 3`,
			`stoic_circuit_probes{S} 0`,
			`stoic_circuit_recovery_timeout_seconds{S} 60`,
			`stoic_circuit_lease_seconds{S} 330`,
			`stoic_circuit_sharing{S,mode="alone"} 1`,
			`stoic_circuit_since_seconds{S} 946684802.06`,
			`stoic_circuit_until_seconds{S} 946684862.06`,
		} {
			assert.Contains(t, got, strings.Replace(line, "S", `service="or\"ders\\"`, 1)+"\n")
		}
		assert.NotContains(t, got, "secret")
		wellFormed(t, got)
	})
}

// Without a meter there are the circuits, and nothing that nobody counted.
func TestMetricsWithoutAMeter(t *testing.T) {
	guard := newGuard(t, "orders", nil)
	got := scrape(t, resilient.GuardList{guard, guard}, nil)
	assert.Equal(t, 1, strings.Count(got, `stoic_circuit_state{service="orders",state="closed"} 1`), "no series is there twice")
	assert.NotContains(t, got, "stoic_calls_total{")
	wellFormed(t, got)
	wellFormed(t, scrape(t, nil, nil))
	assert.Equal(t, http.StatusMethodNotAllowed, serve(dashboard.Metrics(nil, nil), "POST", "/", nil).Code)
}

// wellFormed: each line is a comment or a sample of the family above it, and there once.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	require.True(t, text == "" || strings.HasSuffix(text, "\n"))
	family, seen := "", map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			family, _, _ = strings.Cut(rest, " ")
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		assert.False(t, seen[line[:at]], line)
		seen[line[:at]] = true
		assert.Regexp(t, `^`+family+`(_bucket|_sum|_count)?\{service="(\\.|[^"\\])*"(,[a-z]+="[^"]*")?\} [0-9.]+$`, line)
	}
}

// A probe that is out, and a result that comes too late.
func TestMetricsOfProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guard := newGuard(t, "orders", meter)
		open(t, guard, errDown)
		time.Sleep(61 * sec)
		require.NoError(t, resilient.Do(t.Context(), guard, put, func(context.Context) error {
			got := scrape(t, resilient.GuardList{guard}, meter)
			assert.Contains(t, got, `stoic_circuit_state{service="orders",state="half-open"} 1`)
			assert.Contains(t, got, `stoic_circuit_probes{service="orders"} 1`)
			guard.Circuit().Reset()
			return nil
		}))
		got := scrape(t, resilient.GuardList{guard}, meter)
		assert.Contains(t, got, `stoic_late_results_total{service="orders"} 1`)
		assert.Contains(t, got, `stoic_circuit_until_seconds{service="orders"} 0`)

		order := breaker.Order{Force: breaker.ForceClosed, For: time.Hour, Author: "ann", Reason: "r"}
		require.NoError(t, guard.Circuit().Steer(t.Context(), order))
		got = scrape(t, resilient.GuardList{guard}, meter)
		assert.Contains(t, got, `stoic_circuit_state{service="orders",state="forced-closed"} 1`)
		assert.Contains(t, got, `stoic_circuit_until_seconds{service="orders"} 946688461`, "when the order ends")
	})
}
