package dashboard_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// What a call costs on one of 200 guards: by itself, with an observer that does nothing,
// and with a meter. The difference of the last two is the meter's.
func BenchmarkCall(b *testing.B) {
	for name, observers := range map[string][]resilient.Observer{
		"alone":    nil,
		"observed": {resilient.ObserverFunc(func(context.Context, resilient.Event) { /* nothing */ })},
		"metered":  {dashboard.NewMeter()},
	} {
		b.Run(name, func(b *testing.B) {
			guards := make([]*resilient.Guard, 200)
			for i := range guards {
				g, err := resilient.NewGuard(fmt.Sprint("service_", i), policy(), &resilient.Options{Logger: quiet, Observers: observers})
				require.NoError(b, err)
				guards[i] = g
			}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					_ = resilient.Do(context.Background(), guards[i%len(guards)], put, func(context.Context) error { return nil })
				}
			})
		})
	}
}

// What one open page costs each second, with 200 guards that are all busy.
func BenchmarkFrame(b *testing.B) {
	meter := dashboard.NewMeter()
	guards := make(dashboard.Guards, 200)
	for i := range guards {
		guards[i] = newGuard(b, fmt.Sprint("service_", i), meter)
	}
	next := dashboard.New(guards, &dashboard.Options{Meter: meter}).Frames()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for i := range 10_000 {
			_ = call(guards[i%len(guards)], put, 0, nil)
		}
		b.StartTimer()
		b.SetBytes(int64(next()))
	}
}
