package policies_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// full is a patch in which every field is set, to a value that no default has.
func full() policies.Patch {
	return policies.Patch{
		Retry: policies.RetryPatch{
			MaxAttempts: new(7), BaseDelay: new(2 * time.Second), MaxDelay: new(20 * time.Second), Jitter: new(false),
			Backoff: new(resilient.BackoffLinearIncreasing), IdempotentOnly: new(false), MaxRetryAfter: new(33 * time.Second),
			Budget: new("shared"),
		},
		Circuit: policies.CircuitPatch{
			Enabled: new(false), FailureThreshold: new(8), RecoveryTimeout: new(9 * time.Second), Cooldown: new(time.Duration(0)),
			HalfOpenMaxSuccesses: new(4), RecoveryMultiplier: new(2.5), MaxRecoveryTimeout: new(90 * time.Second),
			FailureRate: new(0.57), SlowCallRate: new(0.5), SlowCallDuration: new(3 * time.Second), MinimumCalls: new(30),
			Window: new(40 * time.Second), WindowBuckets: new(8), RecoveryJitter: new(0.25), Observe: new(true),
			ProbeLease: new(7 * time.Minute), MinReporters: new(2), Local: new(true),
		},
		TotalTimeout:   new(100 * time.Second),
		AttemptTimeout: new(1500 * time.Millisecond),
	}
}

// A75: every field of a patch arrives, explicit zeros included, and nothing else
// changes. Found by reflection, so that a new field cannot be forgotten in the
// table.
func TestPatchAppliesEveryField(t *testing.T) {
	before := resilient.DefaultPolicy()
	assert.Equal(t, before, policies.Patch{}.Apply(before), "absent leaves everything")

	var each func(v reflect.Value, path string, set func(*policies.Patch) reflect.Value)
	each = func(v reflect.Value, path string, set func(*policies.Patch) reflect.Value) {
		for i := range v.NumField() {
			name, field := path+"."+v.Type().Field(i).Name, v.Field(i)
			at := func(p *policies.Patch) reflect.Value { return set(p).Field(i) }
			if field.Kind() == reflect.Struct {
				each(field, name, at)
				continue
			}
			t.Run(name, func(t *testing.T) {
				require.False(t, field.IsNil(), "full() must set it")
				var one policies.Patch
				at(&one).Set(field)
				assert.NotEqual(t, before, one.Apply(before))
			})
		}
	}
	each(reflect.ValueOf(full()), "Patch", func(p *policies.Patch) reflect.Value { return reflect.ValueOf(p).Elem() })

	want := resilient.Policy{
		Retry: resilient.RetryPolicy{
			MaxAttempts: 7, BaseDelay: 2 * time.Second, MaxDelay: 20 * time.Second,
			Backoff: resilient.BackoffLinearIncreasing, MaxRetryAfter: 33 * time.Second, Budget: "shared",
		},
		Circuit: resilient.CircuitPolicy{
			FailureThreshold: 8, RecoveryTimeout: 9 * time.Second, MaxProbes: 4, SuccessesToClose: 4,
			RecoveryMultiplier: 2.5, MaxRecoveryTimeout: 90 * time.Second, ProbeLease: 7 * time.Minute,
			MinReporters: 2, Local: true,
			FailureRate: 0.57, SlowCallRate: 0.5, SlowCallDuration: 3 * time.Second, MinimumCalls: 30,
			Window: 40 * time.Second, WindowBuckets: 8, RecoveryJitter: 0.25, Observe: true,
		},
		TotalTimeout:   100 * time.Second,
		AttemptTimeout: 1500 * time.Millisecond,
	}
	assert.Equal(t, want, full().Apply(before))
	assert.Equal(t, want, full().Apply(resilient.Policy{}), "a full patch is a policy by itself")
	assert.NoError(t, want.Validate())
}
