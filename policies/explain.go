package policies

import (
	"slices"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/sanitize"
)

// Explain says what a service's policy in force comes to. Like [Registry.Policy] it
// also knows the policy of a service that has no guard yet, and makes none.
func (r *Registry) Explain(name string) Explanation {
	served := r.served(name)
	book := r.state.Load().book
	l := book.lay(served)
	policy := r.Policy(name)
	fleet := r.options.Store != nil && !policy.Circuit.Local
	about := subject{
		policy:   policy,
		settings: l.settings(&policy),
		schedule: scheduleOf(policy),
		circuit:  outlookOf(policy),
		budget:   r.options.Budgets[policy.Retry.Budget].Snapshot().Rule,
		cap:      r.options.Cap,
		fleet:    fleet,
		shared:   fleet && !policy.Circuit.Observe,
		replicas: r.options.Replicas,
	}
	return Explanation{
		Service:     sanitize.Message(name),
		Fallback:    !book.names(name),
		Guard:       sanitize.Message(served),
		RetriesOff:  !r.Switch().Retries(),
		CircuitsOff: !r.Switch().Circuits(),
		Settings:    about.settings,
		Schedule:    about.schedule,
		Circuit:     about.circuit,
		Notes:       about.remarks(notes),
		Warnings:    about.remarks(warnings),
	}
}

// settings lists those of a policy in force that was laid from l, or changed since.
func (l *laid) settings(inForce *resilient.Policy) []Setting {
	settings := make([]Setting, 0, len(fields))
	for i := range fields {
		f := &fields[i]
		s := Setting{Key: f.path(), Value: f.show(inForce)}
		s.Origin, s.Where = l.origin(f)
		if f.path() == "retry.max_retry_after" && s.Origin == OriginLibrary {
			s.Where = "as retry.max_delay"
		}
		if s.Value != f.show(&l.policy) {
			s.Origin, s.Where = OriginRunTime, ""
		}
		settings = append(settings, s)
	}
	return settings
}

// subject is a policy that is explained, and what it is to be judged by.
type subject struct {
	policy   resilient.Policy
	settings []Setting
	schedule Schedule
	circuit  CircuitOutlook
	budget   resilient.BudgetRule // of the budget that the policy names; nil if it names none
	cap      *resilient.Cap
	fleet    bool // there are other processes
	shared   bool // the circuit, with them
	replicas int  // 0 if nobody has said
}

// isSet reports whether somebody has set one of the fields: a layer above the library,
// or the program since.
func (s *subject) isSet(keys ...string) bool {
	return slices.ContainsFunc(s.settings, func(at Setting) bool {
		return at.Origin != OriginLibrary && slices.Contains(keys, at.Key)
	})
}

// several reports whether there are callers in other processes.
func (s *subject) several() bool { return s.replicas > 1 || (s.replicas == 0 && s.fleet) }

// retries reports whether calls are repeated at all.
func (s *subject) retries() bool { return s.policy.Retry.MaxAttempts > 1 }

// windowed reports whether a rule of the circuit looks at a window.
func (s *subject) windowed() bool { return s.circuit.FailureShare.Calls+s.circuit.SlowShare.Calls > 0 }

// longestWait is the longest of all waits before a retry.
func (s *subject) longestWait() time.Duration {
	var longest time.Duration
	for _, a := range s.schedule.Attempts {
		longest = max(longest, a.Longest)
	}
	return longest
}

// A rule finds a remark.
type rule struct {
	code   string
	fields []string
	// find returns the remark's text, "" if there is none to make, and the way out.
	find func(*subject) (text, wayOut string)
}

// remarks goes through the rules.
func (s *subject) remarks(rules []rule) []Remark {
	found := []Remark{}
	for _, r := range rules {
		if text, wayOut := r.find(s); text != "" {
			found = append(found, Remark{Code: r.code, Fields: slices.Clone(r.fields), Text: text, WayOut: wayOut})
		}
	}
	return found
}
