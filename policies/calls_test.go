package policies_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

var errDown = errors.New("down")

// attempts counts what a failing call of a registry's guard comes to, and how long
// it takes.
func attempts(t *testing.T, guards resilient.Guards, service string, op resilient.Op) (n int, took time.Duration) {
	t.Helper()
	start := time.Now()
	_, err := resilient.Execute(t.Context(), guards.Guard(service), op, func(context.Context) (int, error) {
		n++
		return 0, errDown
	})
	require.ErrorIs(t, err, errDown)
	return n, time.Since(start)
}

// R2, R3, R17, P13: what is configured is what calls do.
func TestCallsFollowTheirPolicy(t *testing.T) {
	const doc = `{"knowingly":{"retry":{"retry_on_idempotent_only":false}},
		"once":{"retry":{"max_attempts":1}},
		"off":{"circuit_breaker":{"enabled":false,"failure_threshold":1}}}`
	read, write := resilient.Idempotent("read"), resilient.NonIdempotent("write")
	for name, c := range map[string]struct {
		service string
		op      resilient.Op
		want    int
	}{
		"R2: a read is retried":                    {"trace_service", read, 3},
		"R2: a write is not":                       {"trace_service", write, 1},
		"R2: unless the flag is off, knowingly":    {"knowingly", write, 3},
		"R3: not in a read-only plan":              {"knowingly", write.InPlan("planning").ExecutesTools(), 1},
		"R3: a plan that is applied":               {"knowingly", write.InPlan("apply").ExecutesTools(), 3},
		"R3: truthy is not read-only":              {"knowingly", write.InPlan(true).ExecutesTools(), 3},
		"R8: a service that nothing names":         {"unnamed", read, 3},
		"P13: one attempt is one call":             {"once", read, 1},
		"R17: without a circuit, retried as usual": {"off", read, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, took := attempts(t, fromOverrides(t, doc), c.service, c.op)
				assert.Equal(t, c.want, n)
				if c.want == 1 {
					assert.Zero(t, took, "P13: no sleep")
				}
			})
		})
	}
}

// R3: an application's own set of phases is the one that is asked.
func TestOwnReadOnlyPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := quiet()
		options.ReadOnlyPlan = policies.ReadOnlyPlanIn("dry_run")
		reg, err := policies.Load(policies.ParseJSON([]byte(
			`{"retry_service_overrides":{"x":{"retry":{"retry_on_idempotent_only":false}}}}`)), &policies.Options{Options: options})
		require.NoError(t, err)
		op := resilient.NonIdempotent("write").ExecutesTools()
		n, _ := attempts(t, reg, "x", op.InPlan("Dry_Run"))
		assert.Equal(t, 1, n)
		n, _ = attempts(t, reg, "x", op.InPlan("plan"))
		assert.Equal(t, 3, n)
	})
}

// P18: the delays of concurrent calls are their own: each begins with the base.
func TestDelaysAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := fromOverrides(t, `{"x":{"retry":{"backoff_strategy":"exponential","max_attempts":2},"circuit_breaker":{"enabled":false}}}`)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				n, took := attempts(t, reg, "x", resilient.Idempotent("read"))
				assert.Equal(t, 2, n)
				assert.Equal(t, time.Second, took)
			})
		}
		wg.Wait()
	})
}

// A73: a policy that speaks of retries only limits no attempt.
func TestNoHiddenTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := fromOverrides(t, `{"x":{"retry":{"max_attempts":2}}}`)
		err := resilient.Do(t.Context(), reg.Guard("x"), resilient.Idempotent("slow"), func(context.Context) error {
			time.Sleep(2 * time.Second)
			return nil
		})
		assert.NoError(t, err)
	})
}
