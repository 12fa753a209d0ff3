//go:build unix

package dashboard_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

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

// What 10 000 calls a second on 200 guards cost of one core, in milliseconds for each
// second: by themselves, with a meter, and with a page that is open besides. Run it with
// -benchtime 5x: an operation is a second.
func BenchmarkBusySecond(b *testing.B) {
	for _, with := range []string{"nothing", "a meter", "a page"} {
		b.Run(with, func(b *testing.B) {
			meter := dashboard.NewMeter()
			if with == "nothing" {
				meter = nil
			}
			guards := make(resilient.GuardList, 200)
			for i := range guards {
				guards[i] = newGuard(b, fmt.Sprint("service_", i), meter)
			}
			if with == "a page" {
				board := dashboard.New(guards, &dashboard.Options{Meter: meter})
				server := httptest.NewServer(board)
				defer server.Close()
				defer board.Close()
				response, err := http.Get(server.URL + "/events")
				require.NoError(b, err)
				defer func() { _ = response.Body.Close() }()
				go func() { _, _ = io.Copy(io.Discard, response.Body) }()
			}
			var before, after syscall.Rusage
			require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
			began, n := time.Now(), 0
			for b.Loop() {
				for range 100 {
					for range 100 {
						_ = call(guards[n%len(guards)], put, 0, nil)
						n++
					}
					time.Sleep(time.Until(began.Add(time.Duration(n) * 100 * time.Microsecond)))
				}
			}
			require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
			used := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
			b.ReportMetric(float64(used.Milliseconds())/time.Since(began).Seconds(), "cpu-ms/s")
			b.ReportMetric(float64(n)/time.Since(began).Seconds(), "calls/s")
		})
	}
}

// What one open page costs each second, with 200 guards that are all busy.
func BenchmarkFrame(b *testing.B) {
	meter := dashboard.NewMeter()
	guards := make(resilient.GuardList, 200)
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
