package resilient

import (
	"errors"
	"fmt"
	"maps"
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
	options Options
	circuit *breaker.Circuit
	plan    atomic.Pointer[plan]

	audience *audience // nil if there are no observers
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
	guard     *Guard
	budget    *Budget       // nil if the policy names none
	origin    time.Duration // the budget's, on the circuit's clock
	attempts  int           // that a call may make
	delays    atomic.Pointer[schedule]
	policy    Policy
	unguarded bool // nothing at all: see Passthrough
}

// delay draws the one before retry n.
func (g *Guard) delay(p *plan, n int) time.Duration {
	known := p.delays.Load()
	if known == nil {
		known = newSchedule(g.options.Cap.hold(p.policy.Retry)) // the same, whoever is first
		p.delays.Store(known)
	}
	return known.draw(n)
}

// NewGuard makes a guard for the service of that name. The name appears in errors,
// events and logs, with secrets taken out. A nil options is valid. It returns an
// error when the name is empty, when the policy or something in the options is not
// valid, and when the policy names a budget that the options do not have.
func NewGuard(name string, policy Policy, options *Options) (*Guard, error) {
	if name == "" {
		return nil, fmt.Errorf("resilient: a guard needs a name")
	}
	name = sanitize.Message(name)
	if err := policy.Validate(); err != nil {
		return nil, fmt.Errorf("resilient: policy of %s: %w", name, err)
	}
	g := &Guard{}
	if options != nil {
		g.options = *options
		g.options.Observers = slices.DeleteFunc(slices.Clone(options.Observers), func(o Observer) bool { return o == nil })
		g.options.AttemptLimits = slices.Clone(options.AttemptLimits)
		g.options.Budgets = maps.Clone(options.Budgets)
		g.options.Cap = nil
		if options.Cap != nil {
			g.options.Cap = new(*options.Cap)
		}
	}
	if err := errors.Join(validateLimits(g.options.AttemptLimits), g.options.Cap.validate()); err != nil {
		return nil, fmt.Errorf("resilient: guard of %s: %w", name, err)
	}
	wiring := breaker.Options{
		OnTransition: g.onTransition,
		OnPanic:      func(value any) { g.journal().Report("Observer", value) },
		Store:        g.options.Store,
	}
	if wiring.Store != nil { // guards are many, and most have none
		wiring.OnSharing = g.onSharing
	}
	circuit, err := breaker.New(name, policy.Circuit, &wiring)
	if err != nil {
		return nil, err
	}
	g.circuit = circuit
	if len(g.options.Observers) != 0 {
		g.audience = &audience{callsOnly: !slices.ContainsFunc(g.options.Observers, g.wantsAttempts)}
	}
	p, err := g.newPlan(policy)
	if err != nil {
		circuit.Close()
		return nil, err
	}
	g.plan.Store(p)
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
	g := &Guard{circuit: circuit}
	g.plan.Store(&plan{guard: g, policy: policy, attempts: 1, unguarded: true})
	return g
}

// newPlan makes the plan of a valid policy. It returns an error when the policy names a
// budget that there is not.
func (g *Guard) newPlan(policy Policy) (*plan, error) {
	capped, _ := g.options.Cap.hold(policy.Retry)
	p := &plan{guard: g, policy: policy, attempts: capped.MaxAttempts}
	if name := policy.Retry.Budget; name != "" {
		p.budget = g.options.Budgets[name]
		if !p.budget.usable() {
			return nil, fmt.Errorf("resilient: policy of %s: Retry.Budget is %q, which is none of Options.Budgets", g.Name(), sanitize.Message(name))
		}
		p.origin = g.circuit.Offset(p.budget.origin)
	}
	return p, nil
}

// Name returns the service's name, with secrets taken out.
func (g *Guard) Name() string {
	if !g.usable() {
		return ""
	}
	return g.circuit.Name()
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
// It returns an error, and changes nothing, when the policy is not valid or names a
// budget that the guard's options do not have.
func (g *Guard) SetPolicy(policy Policy) error {
	if !g.usable() {
		return ErrNilGuard
	}
	if err := policy.Validate(); err != nil {
		return fmt.Errorf("resilient: policy of %s: %w", g.Name(), err)
	}
	next, err := g.newPlan(policy)
	if err != nil {
		return err
	}
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
