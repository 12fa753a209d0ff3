package resilient

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// Guard is a policy in force for one service, with its circuit. Make it once with
// [NewGuard], keep it, and give it to every call of that service: what it learns
// from one it knows for the next. It is safe for concurrent use, and has no
// goroutine. The zero value and nil are not usable: calls with them return
// [ErrNilGuard], and its methods zero values.
//
// A guard may be used inside of a call of its own. Both calls count then, and in
// half-open the inner one is part of the outer one's probe.
type Guard struct {
	name    string
	options Options
	circuit *breaker.Circuit
	plan    atomic.Pointer[plan]
}

// Guards finds the guard of a service by its name. A registry of package policies
// is one; so is whatever else a program keeps its guards in.
type Guards interface {
	// Guard returns the service's guard: the same one for the same name.
	Guard(name string) *Guard
}

// plan is a policy in force. A call reads it once, so that a
// policy which changes meanwhile does not reach into it.
type plan struct {
	policy    Policy
	unguarded bool // nothing at all: see Passthrough
}

// NewGuard makes a guard for the service of that name. The name appears in errors,
// events and logs, with secrets taken out. A nil options is valid. It returns an
// error when the name is empty or the policy not valid.
func NewGuard(name string, policy Policy, options *Options) (*Guard, error) {
	g := &Guard{name: sanitize.Message(name)}
	if name == "" {
		return nil, fmt.Errorf("resilient: a guard needs a name")
	}
	if err := policy.Validate(); err != nil {
		return nil, fmt.Errorf("resilient: policy of %s: %w", g.name, err)
	}
	if options != nil {
		g.options = *options
		g.options.Observers = slices.DeleteFunc(slices.Clone(options.Observers), func(o Observer) bool { return o == nil })
	}
	circuit, err := breaker.New(g.name, policy.Circuit, &breaker.Options{
		OnTransition: g.onTransition,
		OnPanic:      func(value any) { g.report("Observer", value) },
		Store:        g.options.Store,
	})
	if err != nil {
		return nil, err
	}
	g.circuit = circuit
	g.plan.Store(newPlan(policy))
	return g, nil
}

// Passthrough returns a guard that protects nothing: one attempt, no limit, no
// circuit, no scope, whatever policy is set. It is how a program says so, where a
// nil guard is a mistake.
func Passthrough() *Guard {
	policy := DefaultPolicy()
	policy.Retry.MaxAttempts = 1
	policy.Circuit.Enabled = false
	circuit, _ := breaker.New("passthrough", policy.Circuit, nil) // these settings are valid
	g := &Guard{name: circuit.Name(), circuit: circuit}
	g.plan.Store(&plan{policy: policy, unguarded: true})
	return g
}

func newPlan(policy Policy) *plan { return &plan{policy: policy} }

// Name returns the service's name, with secrets taken out.
func (g *Guard) Name() string {
	if !g.usable() {
		return ""
	}
	return g.name
}

// Policy returns the policy in force.
func (g *Guard) Policy() Policy {
	if !g.usable() {
		return Policy{}
	}
	return g.plan.Load().policy
}

// SetPolicy puts another policy in force at once, also for a circuit that is open.
// Calls under way keep the one that they began with, but for the circuit's part.
// It returns an error, and changes nothing, when the policy is not valid.
func (g *Guard) SetPolicy(policy Policy) error {
	if !g.usable() {
		return ErrNilGuard
	}
	if err := policy.Validate(); err != nil {
		return fmt.Errorf("resilient: policy of %s: %w", g.name, err)
	}
	next := newPlan(policy)
	next.unguarded = g.plan.Load().unguarded
	g.plan.Store(next)
	for !next.unguarded {
		// It tells observers, who may set a policy themselves: no lock is held.
		if err := g.circuit.SetSettings(next.policy.Circuit); err != nil {
			return err
		}
		latest := g.plan.Load()
		if latest == next {
			break
		}
		next = latest // another has overtaken this one, and the circuit is to follow it
	}
	return nil
}

// Circuit returns the guard's circuit, to look at it ([breaker.Circuit.Snapshot])
// or to steer it (ForceOpen, ForceClosed, Disable, Release, Reset).
func (g *Guard) Circuit() *breaker.Circuit {
	if !g.usable() {
		return nil
	}
	return g.circuit
}

// usable reports whether the guard was made by NewGuard or Passthrough.
func (g *Guard) usable() bool { return g != nil && g.circuit != nil }

// limits are the op's own where it has them, else the policy's. An attempt limit
// of 0 is none.
func (p *plan) limits(op *Op) (total, attempt time.Duration) {
	total, attempt = op.total, op.attempt
	if total == 0 {
		total = p.policy.TotalTimeout
	}
	if attempt == 0 {
		attempt = p.policy.AttemptTimeout
	}
	return total, attempt
}
