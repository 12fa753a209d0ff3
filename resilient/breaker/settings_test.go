package breaker_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// TestSettingsOutOfRange is P13 and P66: no number means "off" by accident, and each
// error names its field.
func TestSettingsOutOfRange(t *testing.T) {
	require.NoError(t, breaker.DefaultSettings().Validate())
	for field, spoil := range map[string][]func(*breaker.Settings){
		"FailureThreshold": {
			func(s *breaker.Settings) { s.FailureThreshold = 0 },
			func(s *breaker.Settings) { s.FailureThreshold = -1 },
			func(s *breaker.Settings) { s.FailureThreshold = 1_000_001 },
		},
		"RecoveryTimeout": {
			func(s *breaker.Settings) { s.RecoveryTimeout = 0 },
			func(s *breaker.Settings) { s.RecoveryTimeout = -1 },
			func(s *breaker.Settings) { s.RecoveryTimeout, s.MaxRecoveryTimeout = 25*time.Hour, 25*time.Hour },
		},
		"Cooldown": {
			func(s *breaker.Settings) { s.Cooldown = -1 },
			func(s *breaker.Settings) { s.Cooldown = 25 * time.Hour },
		},
		"MaxProbes": {
			func(s *breaker.Settings) { s.MaxProbes = 0 },
			func(s *breaker.Settings) { s.MaxProbes = 101 },
		},
		"SuccessesToClose": {
			func(s *breaker.Settings) { s.SuccessesToClose = 0 },
			func(s *breaker.Settings) { s.SuccessesToClose = 101 },
		},
		"RecoveryMultiplier": {
			func(s *breaker.Settings) { s.RecoveryMultiplier = 0.5 },
			func(s *breaker.Settings) { s.RecoveryMultiplier = math.NaN() },
			func(s *breaker.Settings) { s.RecoveryMultiplier = math.Inf(1) },
		},
		"MaxRecoveryTimeout": {
			func(s *breaker.Settings) { s.MaxRecoveryTimeout = s.RecoveryTimeout - 1 },
			func(s *breaker.Settings) { s.MaxRecoveryTimeout = 25 * time.Hour },
		},
		"FailureRate": {
			func(s *breaker.Settings) { s.FailureRate = -1 },
			func(s *breaker.Settings) { s.FailureRate = 1.01 },
			func(s *breaker.Settings) { s.FailureRate = 57 }, // per cent
			func(s *breaker.Settings) { s.FailureRate = 0.0000001 },
			func(s *breaker.Settings) { s.FailureRate = math.NaN() },
		},
		"SlowCallRate": {
			func(s *breaker.Settings) { s.SlowCallRate, s.SlowCallDuration = -1, time.Second },
			func(s *breaker.Settings) { s.SlowCallRate, s.SlowCallDuration = 1.01, time.Second },
			func(s *breaker.Settings) { s.SlowCallRate, s.SlowCallDuration = math.NaN(), time.Second },
			func(s *breaker.Settings) { s.SlowCallRate = 0.5 },             // of which calls?
			func(s *breaker.Settings) { s.SlowCallDuration = time.Second }, // how many of them?
		},
		"SlowCallDuration": {
			func(s *breaker.Settings) { s.SlowCallRate, s.SlowCallDuration = 0.5, -1 },
			func(s *breaker.Settings) { s.SlowCallRate, s.SlowCallDuration = 0.5, 25*time.Hour },
		},
		"MinimumCalls": {
			func(s *breaker.Settings) { s.FailureRate, s.MinimumCalls = 0.5, 0 },
			func(s *breaker.Settings) { s.FailureRate, s.MinimumCalls = 0.5, -1 },
			func(s *breaker.Settings) { s.FailureRate, s.MinimumCalls = 0.5, 1_000_001 },
		},
		"Window": {
			func(s *breaker.Settings) { s.FailureRate, s.Window = 0.5, 0 },
			func(s *breaker.Settings) { s.FailureRate, s.Window = 0.5, time.Second-1 },
			func(s *breaker.Settings) { s.FailureRate, s.Window = 0.5, time.Hour+1 },
		},
		"WindowBuckets": {
			func(s *breaker.Settings) { s.FailureRate, s.WindowBuckets = 0.5, 0 },
			func(s *breaker.Settings) { s.FailureRate, s.WindowBuckets = 0.5, 1 },
			func(s *breaker.Settings) { s.FailureRate, s.WindowBuckets = 0.5, 101 },
		},
		"RecoveryJitter": {
			func(s *breaker.Settings) { s.RecoveryJitter = -0.1 },
			func(s *breaker.Settings) { s.RecoveryJitter = 1.1 },
			func(s *breaker.Settings) { s.RecoveryJitter = math.NaN() },
		},
		"ProbeLease": {
			func(s *breaker.Settings) { s.ProbeLease = -1 },
			func(s *breaker.Settings) { s.ProbeLease = 25 * time.Hour },
		},
	} {
		for _, f := range spoil {
			s := breaker.DefaultSettings()
			f(&s)
			require.ErrorContains(t, s.Validate(), field+" is ")
			c, err := breaker.New("search", s, nil)
			require.ErrorContains(t, err, "circuit search: ")
			require.Nil(t, c)
		}
	}
	err := breaker.Settings{}.Validate()
	for _, field := range []string{"FailureThreshold", "RecoveryTimeout", "MaxProbes", "SuccessesToClose", "RecoveryMultiplier"} {
		assert.ErrorContains(t, err, field, "the zero value is refused, and every reason is given")
	}
}

// The last values that are good are, and the first that are not are not.
func TestRangesEndWhereTheySay(t *testing.T) {
	const day = int64(24 * time.Hour)
	for field, r := range map[string]struct {
		least, most int64
		set         func(s *breaker.Settings, v int64)
	}{
		"FailureThreshold": {1, 1_000_000, func(s *breaker.Settings, v int64) { s.FailureThreshold = int(v) }},
		"RecoveryTimeout": {1, day, func(s *breaker.Settings, v int64) {
			s.RecoveryTimeout, s.MaxRecoveryTimeout = time.Duration(v), time.Duration(max(v, day))
		}},
		"Cooldown":           {0, day, func(s *breaker.Settings, v int64) { s.Cooldown = time.Duration(v) }},
		"MaxProbes":          {1, 100, func(s *breaker.Settings, v int64) { s.MaxProbes = int(v) }},
		"SuccessesToClose":   {1, 100, func(s *breaker.Settings, v int64) { s.SuccessesToClose = int(v) }},
		"MaxRecoveryTimeout": {int64(time.Minute), day, func(s *breaker.Settings, v int64) { s.MaxRecoveryTimeout = time.Duration(v) }},
		"ProbeLease":         {0, day, func(s *breaker.Settings, v int64) { s.ProbeLease = time.Duration(v) }},
		"MinReporters":       {1, 100, func(s *breaker.Settings, v int64) { s.MinReporters = int(v) }},
		"SlowCallDuration": {1, day, func(s *breaker.Settings, v int64) {
			s.SlowCallRate, s.SlowCallDuration = 0.5, time.Duration(v)
		}},
		"MinimumCalls":  {1, 1_000_000, func(s *breaker.Settings, v int64) { s.FailureRate, s.MinimumCalls = 0.5, int(v) }},
		"Window":        {int64(time.Second), int64(time.Hour), func(s *breaker.Settings, v int64) { s.FailureRate, s.Window = 0.5, time.Duration(v) }},
		"WindowBuckets": {2, 100, func(s *breaker.Settings, v int64) { s.FailureRate, s.WindowBuckets = 0.5, int(v) }},
	} {
		for v, good := range map[int64]bool{r.least - 1: false, r.least: true, r.most: true, r.most + 1: false} {
			s := breaker.DefaultSettings()
			r.set(&s, v)
			if good {
				assert.NoError(t, s.Validate(), "%s %d", field, v)
			} else {
				assert.ErrorContains(t, s.Validate(), field+" is ", "%s %d", field, v)
			}
		}
	}
	for field, r := range map[string]struct {
		least, most float64
		set         func(s *breaker.Settings, v float64)
	}{
		"RecoveryMultiplier": {1, 100, func(s *breaker.Settings, v float64) { s.RecoveryMultiplier = v }},
		"RecoveryJitter":     {0, 1, func(s *breaker.Settings, v float64) { s.RecoveryJitter = v }},
		"FailureRate":        {0.000001, 1, func(s *breaker.Settings, v float64) { s.FailureRate = v }},
		"SlowCallRate":       {0.000001, 1, func(s *breaker.Settings, v float64) { s.SlowCallRate, s.SlowCallDuration = v, time.Second }},
	} {
		for v, good := range map[float64]bool{
			math.Nextafter(r.least, -1): false, r.least: true, r.most: true, math.Nextafter(r.most, 1000): false,
		} {
			s := breaker.DefaultSettings()
			r.set(&s, v)
			if good {
				assert.NoError(t, s.Validate(), "%s %v", field, v)
			} else {
				assert.ErrorContains(t, s.Validate(), field+" is ", "%s %v", field, v)
			}
		}
	}
}

// What users have who set nothing.
func TestDefaultSettings(t *testing.T) {
	assert.Equal(t, breaker.Settings{
		Enabled: true, FailureThreshold: 5,
		RecoveryTimeout: time.Minute, Cooldown: 30 * time.Second, MaxProbes: 1, SuccessesToClose: 1,
		RecoveryMultiplier: 1, MaxRecoveryTimeout: 24 * time.Hour, MinReporters: 1,
		MinimumCalls: 20, Window: time.Minute, WindowBuckets: 10,
	}, breaker.DefaultSettings())
}

// Each rule may be the only one, and all may be on together.
func TestAnyRuleWillDo(t *testing.T) {
	row, rate, slow := breaker.DefaultSettings(), byRate(0.5, 20), bySlow(0.5, 20)
	all := row
	all.FailureRate, all.SlowCallRate, all.SlowCallDuration = 1, 0.000001, 24*time.Hour
	for _, s := range []breaker.Settings{row, rate, slow, all} {
		require.NoError(t, s.Validate())
	}
	row.MinimumCalls, row.Window, row.WindowBuckets = 0, 0, 0
	require.NoError(t, row.Validate(), "nothing looks at them")
	none := row
	none.FailureThreshold = 0
	require.ErrorContains(t, none.Validate(), "FailureThreshold is 0, want 1 … 1000000, or 0 beside")
}

// TestNames: what the words are called in logs and metrics.
func TestNames(t *testing.T) {
	var states, outcomes, forces, rules []string
	for s := breaker.Closed; s <= breaker.Disabled+1; s++ {
		states = append(states, s.String())
	}
	for o := breaker.Unjudged; o <= breaker.Neutral; o++ {
		outcomes = append(outcomes, o.String())
	}
	for r := breaker.NoRule; r <= breaker.RuleProbe+1; r++ {
		rules = append(rules, r.String())
	}
	for f := breaker.NoForce; f <= breaker.ForceDisabled; f++ {
		forces = append(forces, f.String())
	}
	assert.Equal(t, []string{"closed", "open", "half-open", "forced-open", "forced-closed", "disabled", "unknown"}, states)
	assert.Equal(t, []string{"unjudged", "success", "failure", "neutral"}, outcomes)
	assert.Equal(t, []string{"", "consecutive", "failure_rate", "slow_call_rate", "hold", "probe", "unknown"}, rules)
	assert.Equal(t, []string{"none", "open", "closed", "disabled"}, forces)
	assert.Equal(t, breaker.Success, breaker.OutcomeOf(nil))
	assert.Equal(t, breaker.Failure, breaker.OutcomeOf(errDown))
}
