package toolguard

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// plan is what options come to, computed once. It never changes.
type plan struct {
	Options
	idle     bool // nothing is watched
	monitor  map[string]bool
	exclude  map[string]bool
	standard *rule
	rules    map[string]*rule
}

// rule is how one tool is watched.
type rule struct {
	settings breaker.Settings
	timeout  time.Duration // 0 is none
	lease    time.Duration // from a turn's claim to the call
}

const (
	defaultCircuits = 10_000
	longestTime     = 24 * time.Hour
)

var defaultLimits = Limits{
	FailureThreshold:   3,
	RecoveryTimeout:    60 * time.Second,
	RecoveryMultiplier: 2,
	MaxRecoveryTimeout: 600 * time.Second,
	ProbeLease:         2 * time.Minute,
	Timeout:            30 * time.Second,
}

// newPlan checks the options, and finds all that is wrong with them.
func newPlan(o Options) (*plan, error) {
	p := &plan{Options: o, monitor: set(o.Monitor), exclude: set(o.Exclude), rules: map[string]*rule{}}
	p.idle = !o.MonitorAll && len(o.Monitor) == 0
	p.Observers = slices.Clone(o.Observers)
	p.MaxCircuits = cmp.Or(o.MaxCircuits, defaultCircuits)
	p.MaxWithheldShare = cmp.Or(o.MaxWithheldShare, 1)
	faults := p.faults()
	var err error
	if p.standard, err = o.Limits.over(Limits{}).rule(); err != nil {
		faults = append(faults, err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(o.Tools)) {
		if !p.watches(name) && !p.exclude[name] {
			faults = append(faults, fmt.Sprintf("Tools has limits for %q, which is not monitored", shown(name)))
		}
		if p.rules[name], err = o.Tools[name].over(o.Limits).rule(); err != nil {
			faults = append(faults, fmt.Sprintf("Tools[%q]: %v", shown(name), err))
		}
	}
	p.Monitor, p.Exclude, p.Tools = nil, nil, nil // the caller's, who may change them
	if len(faults) > 0 {
		return nil, errors.New("toolguard: " + strings.Join(faults, "; "))
	}
	return p, nil
}

func (p *plan) faults() (faults []string) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	check(!p.monitor[""], "Monitor has a tool without a name")
	check(!p.exclude[""], "Exclude has a tool without a name")
	check(p.Mode <= GuardOnly, "Mode is none of the three")
	check(p.MaxWithheldShare > 0 && p.MaxWithheldShare <= 1, // NaN fails both
		"MaxWithheldShare is %v, want 0 … 1", p.MaxWithheldShare)
	check(p.MaxFailuresPerSession >= 0, "MaxFailuresPerSession is %d, want 0 or more", p.MaxFailuresPerSession)
	check(p.MaxFailuresPerSession == 0 || p.Session != nil,
		"MaxFailuresPerSession needs Session: without one, the tools would be refused for good")
	check(p.MaxCircuits > 0, "MaxCircuits is %d, want 0 or more", p.MaxCircuits)
	return faults
}

// over returns the limits with what is behind them.
func (l Limits) over(behind Limits) Limits {
	l = Limits{
		FailureThreshold:   cmp.Or(l.FailureThreshold, behind.FailureThreshold, defaultLimits.FailureThreshold),
		RecoveryTimeout:    cmp.Or(l.RecoveryTimeout, behind.RecoveryTimeout, defaultLimits.RecoveryTimeout),
		RecoveryMultiplier: cmp.Or(l.RecoveryMultiplier, behind.RecoveryMultiplier, defaultLimits.RecoveryMultiplier),
		MaxRecoveryTimeout: cmp.Or(l.MaxRecoveryTimeout, behind.MaxRecoveryTimeout),
		ProbeLease:         cmp.Or(l.ProbeLease, behind.ProbeLease, defaultLimits.ProbeLease),
		Timeout:            cmp.Or(l.Timeout, behind.Timeout, defaultLimits.Timeout),
	}
	if l.MaxRecoveryTimeout == 0 {
		l.MaxRecoveryTimeout = max(l.RecoveryTimeout, defaultLimits.MaxRecoveryTimeout)
	}
	return l
}

// rule is what complete limits come to.
func (l Limits) rule() (*rule, error) {
	r := &rule{timeout: max(l.Timeout, 0), lease: l.ProbeLease}
	r.settings = breaker.DefaultSettings()
	r.settings.FailureThreshold = l.FailureThreshold
	r.settings.RecoveryTimeout = l.RecoveryTimeout
	r.settings.RecoveryMultiplier = l.RecoveryMultiplier
	r.settings.MaxRecoveryTimeout = l.MaxRecoveryTimeout
	r.settings.Cooldown = 0
	switch {
	case l.Timeout > longestTime, l.Timeout < 0 && l.Timeout != NoTimeout:
		return r, fmt.Errorf("the Timeout is %v, want more than 0 and at most %v, or NoTimeout", l.Timeout, longestTime)
	case l.ProbeLease < 0 || l.ProbeLease > longestTime:
		return r, fmt.Errorf("the ProbeLease is %v, want more than 0 and at most %v", l.ProbeLease, longestTime)
	}
	return r, r.settings.Validate()
}

// watches reports whether a tool of that name is watched.
func (p *plan) watches(name string) bool {
	return (p.MonitorAll || p.monitor[name]) && name != "" && !p.exclude[name]
}

// rule is the tool's own.
func (p *plan) rule(name string) *rule {
	if r, ok := p.rules[name]; ok {
		return r
	}
	return p.standard
}

// claimLimit is how long a probe may take that a turn has claimed, until its call ends.
func (r *rule) claimLimit() time.Duration {
	if r.timeout == 0 {
		return r.lease + longestUnlimited
	}
	return r.lease + r.timeout
}

// longestUnlimited is how long a probe keeps its place that has no time limit: as long
// as the longest guarded call.
const longestUnlimited = 300 * time.Second

func set(names []string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

// longestName is how many characters of a tool's name are shown.
const longestName = 64

// shown is a name as it may leave.
func shown(name string) string {
	name = sanitize.Message(name)
	runes := 0
	for at := range name {
		if runes == longestName {
			return name[:at] + "…"
		}
		runes++
	}
	return name
}
