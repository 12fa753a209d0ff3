package toolguard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// rules are how the tools are watched that are watched. They never change.
type rules struct {
	standard *rule
	byName   map[string]*rule
}

// rule is how one tool is.
type rule struct {
	settings breaker.Settings
	timeout  time.Duration // 0 is none
	lease    time.Duration // from a turn's claim to the call
}

var defaultLimits = Limits{
	FailureThreshold:   3,
	RecoveryTimeout:    60 * time.Second,
	RecoveryMultiplier: 2,
	MaxRecoveryTimeout: 600 * time.Second,
	ProbeLease:         2 * time.Minute,
	Timeout:            30 * time.Second,
}

// longestTime is what a circuit's times can be.
const longestTime = 24 * time.Hour

// of is the tool's own.
func (r *rules) of(name string) *rule {
	if one, ok := r.byName[name]; ok {
		return one
	}
	return r.standard
}

// rules finds what limits come to, and all that is wrong with them.
func (p *plan) rules(standard Limits, single map[string]Limits) (r *rules, faults []string) {
	r = &rules{byName: make(map[string]*rule, len(single))}
	var err error
	if r.standard, err = standard.over(Limits{}).rule(); err != nil {
		faults = append(faults, err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(single)) {
		if !p.watches(name) && !p.exclude[name] {
			faults = append(faults, fmt.Sprintf("Tools has limits for %q, which is not monitored", shown(name)))
		}
		if r.byName[name], err = single[name].over(standard).rule(); err != nil {
			faults = append(faults, fmt.Sprintf("Tools[%q]: %v", shown(name), err))
		}
	}
	return r, faults
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

// rule is what complete limits come to. It has no cooldown beside the open time: that is
// what grows.
func (l Limits) rule() (*rule, error) {
	r := &rule{timeout: max(l.Timeout, 0), lease: l.ProbeLease, settings: breaker.DefaultSettings()}
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

// longestUnlimited is how long a probe keeps its place that has no time limit: as long
// as the longest guarded call.
const longestUnlimited = 300 * time.Second

// claimLimit is how long a probe may take that a turn has claimed, until its call ends.
func (r *rule) claimLimit() time.Duration { return r.lease + cmp.Or(r.timeout, longestUnlimited) }

// SetLimits puts other limits in force at once, in the place of [Options].Limits and
// Tools, also for tools that are withheld: what is stored are times and counts, and how
// long a cooldown is follows from them. Turns and calls under way keep their leases and
// time limits. It returns an error, and changes nothing, when they are not valid.
func (g *Guard) SetLimits(limits Limits, single map[string]Limits) error {
	if !g.usable() {
		return ErrNilGuard
	}
	next, faults := g.plan.rules(limits, single)
	if err := joined(faults); err != nil {
		return err
	}
	g.rules.Store(next)
	for _, one := range g.shelf.snapshot() {
		one.do(func() {
			// Those of the moment: another SetLimits may have overtaken this one.
			if err := one.circuit.Load().SetSettings(g.rules.Load().of(one.name).settings); err != nil {
				g.journal.Report("SetLimits", err)
			}
		})
	}
	return nil
}
