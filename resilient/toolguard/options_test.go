package toolguard_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// R28: wrong options are refused when the guard is made, all of them in one line.
func TestWrongOptions(t *testing.T) {
	limits := func(l toolguard.Limits) toolguard.Options { return toolguard.Options{Limits: l} }
	for want, options := range map[string]toolguard.Options{
		"FailureThreshold is -1":                            limits(toolguard.Limits{FailureThreshold: -1}),
		"RecoveryTimeout is -1ns":                           limits(toolguard.Limits{RecoveryTimeout: -1}),
		"RecoveryMultiplier is 0.5":                         limits(toolguard.Limits{RecoveryMultiplier: 0.5}),
		"RecoveryMultiplier is NaN":                         limits(toolguard.Limits{RecoveryMultiplier: math.NaN()}),
		"RecoveryMultiplier is +Inf":                        limits(toolguard.Limits{RecoveryMultiplier: math.Inf(1)}),
		"MaxRecoveryTimeout is 1s":                          limits(toolguard.Limits{MaxRecoveryTimeout: time.Second}),
		"ProbeLease is -1ns":                                limits(toolguard.Limits{ProbeLease: -1}),
		"ProbeLease is 25h":                                 limits(toolguard.Limits{ProbeLease: 25 * time.Hour}),
		"Timeout is -2ns":                                   limits(toolguard.Limits{Timeout: -2}),
		"Timeout is 25h":                                    limits(toolguard.Limits{Timeout: 25 * time.Hour}),
		"Monitor has a tool without a name":                 {Monitor: []string{""}},
		"Exclude has a tool without a name":                 {Exclude: []string{""}},
		"Mode is none":                                      {Mode: 3},
		"MaxWithheldShare is -0.1":                          {MaxWithheldShare: -0.1},
		"MaxWithheldShare is 1.1":                           {MaxWithheldShare: 1.1},
		"MaxWithheldShare is NaN":                           {MaxWithheldShare: math.NaN()},
		"MaxFailuresPerSession is -1":                       {MaxFailuresPerSession: -1},
		"MaxFailuresPerSession needs Session":               {MaxFailuresPerSession: 1},
		"MaxCircuits is -1":                                 {MaxCircuits: -1},
		`Tools has limits for "saerch", which is not`:       {Monitor: []string{"search"}, Tools: map[string]toolguard.Limits{"saerch": {}}},
		`Tools["search"]: FailureThreshold is -1`:           {MonitorAll: true, Tools: map[string]toolguard.Limits{"search": {FailureThreshold: -1}}},
		`Tools["search"]: MaxRecoveryTimeout is 2m0s, want`: {MonitorAll: true, Limits: toolguard.Limits{MaxRecoveryTimeout: 2 * time.Minute}, Tools: map[string]toolguard.Limits{"search": {RecoveryTimeout: time.Hour}}},
	} {
		t.Run(want, func(t *testing.T) {
			g, err := toolguard.New(&options)
			require.ErrorContains(t, err, want)
			assert.Nil(t, g)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
	_, err := toolguard.New(&toolguard.Options{Mode: 7, MaxCircuits: -1})
	require.ErrorContains(t, err, "Mode")
	require.ErrorContains(t, err, "MaxCircuits")
}

// R28: named tools, or all; the exclusion is stronger than both.
func TestWhatIsWatched(t *testing.T) {
	named := newGuard(t, toolguard.Options{Monitor: []string{"a", "b"}, Exclude: []string{"b", "c"}})
	all := newGuard(t, toolguard.Options{MonitorAll: true, Exclude: []string{"b", "c"}})
	for name, want := range map[string][2]bool{"a": {true, true}, "b": {}, "c": {}, "d": {false, true}, "": {}} {
		assert.Equal(t, want, [2]bool{named.Watches(name), all.Watches(name)}, name)
	}
}

// Limits of single tools are laid over those of all.
func TestLimitsOfSingleTools(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, toolguard.Options{
			MonitorAll: true,
			Limits:     toolguard.Limits{FailureThreshold: 2, Timeout: time.Minute},
			Tools:      map[string]toolguard.Limits{"slow": {RecoveryTimeout: time.Hour}, "weak": {FailureThreshold: 1, Timeout: time.Second}},
		})
		for name, want := range map[string]struct {
			failures int
			cooldown time.Duration
			timeout  time.Duration
		}{"slow": {2, time.Hour, time.Minute}, "weak": {1, time.Minute, time.Second}, "other": {2, time.Minute, time.Minute}} {
			permit, err := g.Begin(t.Context(), name)
			require.NoError(t, err)
			deadline, ok := permit.Context().Deadline()
			require.True(t, ok)
			assert.Equal(t, want.timeout, time.Until(deadline), name)
			permit.End(toolguard.Ignored)
			calls := 0
			for call(t.Context(), g, name, toolguard.Error) == nil {
				calls++
			}
			assert.Equal(t, want.failures, calls, name)
			assert.Equal(t, want.cooldown, time.Until(g.Circuit("", name).Snapshot().Until), name)
		}
	})
}

// The options are copied.
func TestOptionsAreCopied(t *testing.T) {
	options := toolguard.Options{
		Monitor: []string{"a"}, Exclude: []string{"b"}, Tools: map[string]toolguard.Limits{"a": {FailureThreshold: 1}},
		Session: func(context.Context) string { return "" },
	}
	g := newGuard(t, options)
	options.Monitor[0], options.Exclude[0] = "b", "a"
	options.Tools["a"] = toolguard.Limits{}
	assert.True(t, g.Watches("a"))
	require.NoError(t, call(t.Context(), g, "a", toolguard.Error))
	require.Error(t, call(t.Context(), g, "a", toolguard.Error))
}

// R25: changed limits hold at once, also for what is withheld.
func TestSetLimits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		open(t, g, "search")
		open(t, g, "calc")
		time.Sleep(10 * time.Second)
		require.Error(t, g.SetLimits(toolguard.Limits{FailureThreshold: -1}, nil))
		require.NoError(t, g.SetLimits(toolguard.Limits{RecoveryTimeout: 10 * time.Second, FailureThreshold: 1},
			map[string]toolguard.Limits{"calc": {RecoveryTimeout: time.Hour}}))
		turn := g.Turn(t.Context(), []string{"search", "calc"})
		assert.Equal(t, []string{"search"}, turn.Allowed())
		assert.Equal(t, time.Hour-10*time.Second, time.Until(turn.Withheld()[0].Until))
		require.NoError(t, call(t.Context(), g, "new", toolguard.Error))
		require.Error(t, call(t.Context(), g, "new", toolguard.Error))
		var none *toolguard.Guard
		require.ErrorIs(t, none.SetLimits(toolguard.Limits{}, nil), toolguard.ErrNilGuard)
	})
}
