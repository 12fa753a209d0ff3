package otelguard_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/integrations/otelguard"
	"github.com/seed42274fcc/stoic/resilient"
)

// Not parallel: the counts are of the whole process. With metrics on, a call that succeeds allocates its context and
// one event; a rejection, which is free without observers, one event.
func TestAMeasuredCallAllocatesTwiceAtMost(t *testing.T) {
	m := newMeasured(t, otelguard.Options{})
	healthy := guard(t, "healthy", policy(), observers(m))
	forced := guard(t, "forced", policy(), observers(m))
	forced.Circuit().ForceOpen()
	m.Watch(resilient.GuardList{healthy, forced})
	ctx, calls := context.Background(), 0
	success := testing.AllocsPerRun(1000, func() {
		_ = resilient.Do(ctx, healthy, get, func(context.Context) error { calls++; return nil })
	})
	rejection := testing.AllocsPerRun(1000, func() {
		_ = resilient.Do(ctx, forced, get, func(context.Context) error { calls++; return nil })
	})
	t.Logf("a success allocates %v times, a rejection %v", success, rejection)
	assert.LessOrEqual(t, success, 2.0)
	assert.LessOrEqual(t, rejection, 1.0)
	assert.EqualValues(t, calls, m.collect(t)["stoic.calls{operation=get,result=success,service=healthy}"], "they were measured")
}

func BenchmarkSuccess(b *testing.B) {
	m := newMeasured(b, otelguard.Options{})
	for name, options := range map[string]resilient.Options{"bare": {}, "measured": observers(m)} {
		b.Run(name, func(b *testing.B) {
			g := guard(b, "plans", policy(), options)
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				_ = resilient.Do(ctx, g, get, func(context.Context) error { return nil })
			}
		})
	}
}
