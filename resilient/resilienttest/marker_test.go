package resilienttest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/resilienttest"
)

// A91: reports of the replay mode stand in the logs of a CI.
func TestNoSecretLeavesTheReplay(t *testing.T) {
	sinks := marker.New(t, "resilient/resilienttest")
	for input, p := range map[string]struct {
		operation     string
		second, probe error
		panics        string
	}{
		"operation name":   {operation: marker.URL, second: errDown},
		"second's error":   {second: errors.New(marker.Text)},
		"probe's error":    {probe: errors.New(marker.Text)},
		"panic of a probe": {panics: marker.Text},
	} {
		t.Run(input, func(t *testing.T) {
			told := &reports{}
			g := newGuard(t, impatient(), &resilient.Options{Replay: resilienttest.Replay(told, func(context.Context) (int, error) {
				if p.panics != "" {
					panic(p.panics)
				}
				return 0, p.probe
			})})
			s := resilienttest.Script[int]{Steps: steps{{}, {Err: p.second}}}
			require.NoError(t, resilient.Do(t.Context(), g, resilient.Idempotent(p.operation), s.RunErr))
			require.NotEmpty(t, told.all())
			for _, text := range told.all() {
				sinks.Seed(t, input).Put("report", text)
			}
		})
	}
}
