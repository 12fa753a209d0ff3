package toolguard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/sanitize"
)

// plan is what options come to, computed once. It never changes.
type plan struct {
	Options
	idle    bool // nothing is watched
	monitor map[string]bool
	exclude map[string]bool
}

const defaultCircuits = 10_000

// newPlan checks the options, and finds all that is wrong with them.
func newPlan(o Options) (*plan, *rules, error) {
	p := &plan{Options: o, monitor: set(o.Monitor), exclude: set(o.Exclude)}
	p.idle = !o.MonitorAll && len(o.Monitor) == 0
	p.Observers = slices.Clone(o.Observers)
	p.MaxCircuits = cmp.Or(o.MaxCircuits, defaultCircuits)
	p.MaxWithheldShare = cmp.Or(o.MaxWithheldShare, 1)
	r, faults := p.rules(o.Limits, o.Tools)
	faults = append(p.faults(), faults...)
	p.Monitor, p.Exclude, p.Tools = nil, nil, nil // the caller's, who may change them
	return p, r, joined(faults)
}

// joined is one error, of one line, for all of them; nil for none.
func joined(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return errors.New("toolguard: " + strings.Join(faults, "; "))
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

// off reports whether the guard is switched off at the moment.
func (p *plan) off() bool { return !p.Switch.Circuits() }

// watches reports whether a tool of that name is watched.
func (p *plan) watches(name string) bool {
	return (p.MonitorAll || p.monitor[name]) && name != "" && !p.exclude[name]
}

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
