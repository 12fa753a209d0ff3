package storetest

import (
	"math/rand/v2"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func walkChecks() []check {
	return []check{{name: "a long walk", run: walk}}
}

// walker makes up commands as a client would send them, and some that no client should.
type walker struct {
	rng     *rand.Rand
	replica uint64
	round   uint64            // as far as it has heard
	probes  []breaker.Command // acquired, with the rounds
	last    breaker.Command
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// settings are those of a fleet whose policies differ.
func (a *walker) settings() breaker.Settings {
	s := settings()
	s.FailureThreshold = a.rng.IntN(4) // 0: the failures in a row are not looked at
	s.RecoveryTimeout = pick(a.rng, short, short, long)
	s.RecoveryMultiplier = float64(1 + a.rng.IntN(3))
	s.MaxRecoveryTimeout = pick(a.rng, long, 24*time.Hour)
	s.Cooldown = pick(a.rng, 0, 0, short, long)
	s.MaxProbes = 1 + a.rng.IntN(3)
	s.SuccessesToClose = 1 + a.rng.IntN(3)
	s.MinReporters = 1 + a.rng.IntN(3)
	return s
}

func (a *walker) next() breaker.Command {
	c := breaker.Command{ID: newID(), Settings: a.settings(), Round: a.round}
	switch a.rng.IntN(22) {
	case 0:
		c.Kind = breaker.Read
	case 1, 2, 3, 4, 5:
		c.Kind, c.Lease = breaker.Acquire, pick(a.rng, short, long, long)
	case 6, 7, 8:
		c.Kind, c.Outcome = breaker.Settle, pick(a.rng, breaker.Success, breaker.Success, breaker.Neutral)
	case 9, 10, 11:
		c.Kind, c.Outcome, c.Restart = breaker.Settle, pick(a.rng, breaker.Failure, breaker.Unjudged), a.rng.IntN(4) == 0
		c.Cause = pick(a.rng, "down", "slow")
		c.Hold = pick(a.rng, 0, 0, 0, short, long)
	case 12, 13, 14, 15:
		c = a.report(c)
	case 16, 17, 18, 19:
		c.Kind, c.Replica = breaker.Vote, pick(a.rng, a.replica, a.replica+1)
		c.Failures, c.Cause = 2, "voted"
	case 20:
		c.Kind, c.Order = breaker.Operate, a.order()
	default:
		if a.last.ID != 0 {
			return a.last
		}
	}
	return c
}

// report is the outcome of a probe, be it long over.
func (a *walker) report(c breaker.Command) breaker.Command {
	c.Kind, c.Outcome = breaker.Settle, pick(a.rng, breaker.Success, breaker.Success, breaker.Failure, breaker.Neutral)
	if len(a.probes) == 0 {
		c.Token = c.ID // of a probe that never was
		return c
	}
	probe := pick(a.rng, a.probes[max(0, len(a.probes)-3):]...)
	c.ID, c.Token = probe.ID, probe.ID
	c.Round = pick(a.rng, probe.Round, probe.Round, probe.Round, a.round)
	return c
}

func (a *walker) order() breaker.Order {
	o := breaker.Order{Author: "storetest", Reason: "to see what happens"}
	switch a.rng.IntN(4) {
	case 0:
		o.Reset = true
	case 1:
		o.Force, o.For = pick(a.rng, breaker.ForceOpen, breaker.ForceClosed, breaker.ForceDisabled), pick(a.rng, short, long)
	default:
	}
	return o
}

// heard takes note of an answer.
func (a *walker) heard(c breaker.Command, answer breaker.Answer) {
	a.last, a.round = c, answer.Record.Round
	if c.Kind == breaker.Acquire && answer.Granted {
		c.Round = a.round
		a.probes = append(a.probes, c)
	}
}

// rest lets a little time pass, in which leases, forces and open times end.
func (l *lab) rest() {
	if l.Advance == nil { // it is not called by several at once
		time.Sleep(short)
	}
}

// walk sends commands of all kinds, one after the other, to a few circuits.
func walk(l *lab) {
	twins := []*twin{l.circuit(), l.circuit(), l.circuit()}
	walkers := make([]walker, len(twins))
	for i := range walkers {
		walkers[i] = walker{rng: rand.New(rand.NewPCG(uint64(i), 2)), replica: 1}
	}
	for step := range 1200 {
		at := step % len(twins)
		c := walkers[at].next()
		walkers[at].heard(c, twins[at].do(c))
		if walkers[at].rng.IntN(12) == 0 {
			l.pass(short)
		}
	}
}
