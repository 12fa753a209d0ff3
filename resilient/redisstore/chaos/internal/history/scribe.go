package history

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Scribe is one client that does what comes to its mind with a few circuits, and writes
// down what it was told. It is no safer for concurrent use than its source of chance.
type Scribe struct {
	// Store is what it talks to.
	Store breaker.Store
	// Client is its number.
	Client int
	// Circuits are the names.
	Circuits []string
	// Rand is its source of chance.
	Rand *rand.Rand
	// Clock is one that all scribes share.
	Clock func() time.Duration
	// Unsent says that an error means that a command was not sent at all.
	Unsent func(error) bool
	// Repeats is set if the store may send a command more than once: then one that took
	// longer than this was maybe carried out before, too.
	Repeats time.Duration
	// Write is given each event twice: when it begins, as one that is lost, and when it
	// was answered. Should the scribe be killed in between, it was lost.
	Write func(number int, e Event)

	number int
	held   []permit
	rounds map[string]uint64
	past   []Event
}

type permit struct {
	circuit      string
	round, token uint64
}

// Settings are those of a circuit in which much happens.
func Settings(r *rand.Rand) breaker.Settings {
	s := breaker.DefaultSettings()
	s.FailureThreshold = 2 + r.IntN(2)
	s.RecoveryTimeout = time.Duration(2+r.IntN(4)) * time.Millisecond
	s.Cooldown = time.Duration(r.IntN(3)) * time.Millisecond
	s.RecoveryMultiplier, s.MaxRecoveryTimeout = 1.5, 12*time.Millisecond
	s.MaxProbes, s.SuccessesToClose = 1+r.IntN(2), 1+r.IntN(2)
	s.MinReporters = 1 + r.IntN(2)
	return s
}

// Act sends one command and waits for the answer.
func (s *Scribe) Act(ctx context.Context) {
	if s.rounds == nil {
		s.rounds = map[string]uint64{}
	}
	e := s.think()
	e.Client, e.Call, e.Return = s.Client, s.Clock(), Never
	number := s.number
	s.number += 2
	s.Write(number, e)
	answer, err := s.Store.Do(ctx, e.Circuit, e.Sent)
	e.Return = s.Clock()
	s.past = append(s.past, e)
	if err != nil {
		if s.Unsent != nil && s.Unsent(err) {
			e.Void = true
		}
		e.Return = Never
		s.Write(number, e)
		return
	}
	e.Answer = &answer
	s.Write(number, e)
	if s.Repeats != 0 && e.Return-e.Call > s.Repeats {
		before := e
		before.Answer, before.Return = nil, Never
		s.Write(number+1, before)
	}
	s.learn(e)
}

// think makes a command up.
func (s *Scribe) think() Event {
	r := s.Rand
	e := Event{What: Command, Circuit: s.Circuits[r.IntN(len(s.Circuits))]}
	e.Sent = breaker.Command{ID: r.Uint64() | 1, Settings: Settings(r)}
	round := s.rounds[e.Circuit]
	switch n := r.IntN(100); {
	case n < 30:
		e.Sent.Kind, e.Sent.Lease = breaker.Acquire, time.Duration(2+r.IntN(15))*time.Millisecond
	case n < 55 && len(s.held) > 0:
		at := r.IntN(len(s.held))
		p := s.held[at]
		s.held = append(s.held[:at], s.held[at+1:]...)
		e.Circuit = p.circuit
		s.settle(&e.Sent, p)
	case n < 72:
		s.settle(&e.Sent, permit{round: round}) // by one who was admitted by a view
	case n < 74:
		s.settle(&e.Sent, permit{round: round, token: r.Uint64()}) // nobody's token
	case n < 80:
		e.Sent.Kind, e.Sent.Round, e.Sent.Replica = breaker.Vote, round, uint64(s.Client)+1
		e.Sent.Failures, e.Sent.Cause = 3, "voted"
	case n < 83:
		e.Sent.Kind, e.Sent.Order = breaker.Operate, s.order()
	case n < 88 && len(s.past) > 0: // once more, as one who has not got the answer does
		last := s.past[len(s.past)-1]
		e.Circuit, e.Sent = last.Circuit, last.Sent
	default:
		e.Sent.Kind = breaker.Read
	}
	return e
}

func (s *Scribe) settle(c *breaker.Command, p permit) {
	c.Kind, c.Round, c.Token = breaker.Settle, p.round, p.token
	if p.token != 0 {
		c.ID = p.token
	}
	switch n := s.Rand.IntN(10); {
	case n < 4:
		c.Outcome = breaker.Success
	case n < 9:
		c.Outcome, c.Cause, c.Restart = breaker.Failure, "down", s.Rand.IntN(4) == 0
	default:
		c.Outcome = breaker.Neutral
	}
}

func (s *Scribe) order() breaker.Order {
	order := breaker.Order{Author: "ann", Reason: "chaos", For: time.Duration(1+s.Rand.IntN(8)) * time.Millisecond}
	switch s.Rand.IntN(4) {
	case 0:
		order.Reset, order.For = true, 0
	case 1:
		order.Force, order.For = breaker.NoForce, 0
	default:
		order.Force = breaker.Force(1 + s.Rand.IntN(3))
	}
	return order
}

// learn keeps what the answer is good for.
func (s *Scribe) learn(e Event) {
	s.rounds[e.Circuit] = e.Answer.Record.Round
	if e.Sent.Kind != breaker.Acquire || !e.Answer.Granted {
		return
	}
	p := permit{circuit: e.Circuit, round: e.Answer.Record.Round}
	for _, l := range e.Answer.Record.Leases {
		if l.Token == e.Sent.ID {
			p.token = l.Token
		}
	}
	s.held = append(s.held, p)
}
