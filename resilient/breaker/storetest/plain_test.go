package storetest_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/breaker/storetest"
)

// plain is the plainest of stores, with all that a harness can ask for, and with a bug
// where a test wants one.
type plain struct {
	bug bug

	mu       sync.Mutex
	records  map[string]breaker.Record
	garbled  map[string]bool
	watchers map[string][]func(breaker.News)
	skew     time.Duration
	lose     bool
	stalled  chan struct{} // closed when commands are answered again

	telling sync.Mutex // one at a time
}

// bug is what is wrong with a store. Its fields may be nil.
type bug struct {
	name    func(string) string
	context func(context.Context) context.Context
	clock   func(now time.Duration) time.Duration
	// before may change what Apply is given, after what it has returned.
	before func(r *breaker.Record, c *breaker.Command, now time.Duration)
	after  func(old breaker.Record, r *breaker.Record, a *breaker.Answer, c breaker.Command, now time.Duration)
	// gap is what happens between reading and writing, for those commands.
	gap func(c breaker.Command) bool
	// twoSteps opens the circuit in a step after the one that counts.
	twoSteps bool
	// repeat is what a command becomes that is sent again after its reply was lost.
	repeat func(c breaker.Command) breaker.Command
	// sane takes what is garbled for a circuit of which nothing is known.
	sane bool
	// news are told in another way.
	news func(p *plain, listeners []func(breaker.News), n breaker.News)
}

func newPlain(b bug) *plain {
	return &plain{
		bug: b, records: map[string]breaker.Record{}, garbled: map[string]bool{}, watchers: map[string][]func(breaker.News){},
	}
}

func (p *plain) harness() storetest.Harness {
	return storetest.Harness{
		Open: func() breaker.Store { return p },
		News: true,
		Now: func() (now time.Duration) {
			p.locked(func() { now = p.skew + time.Duration(time.Now().UnixNano()) })
			return now
		},
		Skew: func(d time.Duration) { p.locked(func() { p.skew += d }) },
		Forget: func(circuit string) {
			p.locked(func() { delete(p.records, p.nameOf(circuit)) })
		},
		Garble:      func(circuit string) { p.locked(func() { p.garbled[p.nameOf(circuit)] = true }) },
		LoseReplies: func(lose bool) { p.locked(func() { p.lose = lose }) },
		Stall: func() func() {
			stalled := make(chan struct{})
			p.locked(func() { p.stalled = stalled })
			return func() {
				p.locked(func() { p.stalled = nil })
				close(stalled)
			}
		},
	}
}

func (p *plain) locked(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// read is the clock, and belongs to the atomic step.
func (p *plain) read() time.Duration {
	now := p.skew + time.Duration(time.Now().UnixNano())
	if p.bug.clock != nil {
		now = p.bug.clock(now)
	}
	return now
}

func (p *plain) nameOf(circuit string) string {
	if p.bug.name != nil {
		return p.bug.name(circuit)
	}
	return circuit
}

func (p *plain) Terms() breaker.Terms {
	return breaker.Terms{Timeout: 50 * time.Millisecond, MaxViewAge: time.Second}
}

func (p *plain) Watch(circuit string, news func(breaker.News)) (stop func()) {
	p.locked(func() { p.watchers[p.nameOf(circuit)] = append(p.watchers[p.nameOf(circuit)], news) })
	news(breaker.News{Live: true})
	return func() {}
}

// gap is long enough, in a bubble, for all others to come as far.
const gap = time.Nanosecond

var errLost = errors.New("the reply was lost")

func (p *plain) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if p.bug.context != nil {
		ctx = p.bug.context(ctx)
	}
	if err := ctx.Err(); err != nil {
		return breaker.Answer{}, err
	}
	var stalled chan struct{}
	var lose bool
	p.locked(func() { stalled, lose = p.stalled, p.lose })
	if stalled != nil {
		select {
		case <-stalled:
		case <-ctx.Done():
			return breaker.Answer{}, ctx.Err()
		}
	}
	circuit = p.nameOf(circuit)
	answer, err := p.carryOut(circuit, c)
	if lose && err == nil {
		if p.bug.repeat == nil {
			return breaker.Answer{}, errLost
		}
		return p.carryOut(circuit, p.bug.repeat(c))
	}
	return answer, err
}

func (p *plain) carryOut(circuit string, c breaker.Command) (breaker.Answer, error) {
	p.telling.Lock()
	p.mu.Lock()
	now := p.read()
	if p.garbled[circuit] {
		defer p.telling.Unlock()
		defer p.mu.Unlock()
		return p.meetNonsense(circuit, c, now)
	}
	old := p.records[circuit]
	if p.bug.gap != nil && p.bug.gap(c) {
		p.mu.Unlock()
		p.telling.Unlock()
		time.Sleep(gap)
		p.telling.Lock()
		p.mu.Lock()
	}
	next, answer := p.apply(old, c, now)
	p.records[circuit] = next
	listeners := p.watchers[circuit]
	p.mu.Unlock()
	if next.Round != old.Round || (old.Failures == 0) != (next.Failures == 0) {
		told := answer
		p.tell(listeners, breaker.News{Live: true, Answer: &told})
	}
	p.telling.Unlock()
	if p.bug.twoSteps && next.Beneath == breaker.Closed && next.Failures >= c.Settings.FailureThreshold && answer.Counted {
		time.Sleep(gap)
		c = breaker.Command{
			Kind: breaker.Vote, ID: c.ID + 2, Round: next.Round, Failures: next.Failures, Cause: c.Cause, Settings: c.Settings,
		}
		return p.carryOut(circuit, c)
	}
	return answer, nil
}

func (p *plain) meetNonsense(circuit string, c breaker.Command, now time.Duration) (breaker.Answer, error) {
	if c.Kind != breaker.Rebuild && !p.bug.sane {
		return breaker.Answer{}, breaker.ErrGarbled
	}
	p.garbled[circuit] = false
	next, answer := c.Rebuilt(now)
	p.records[circuit] = next
	return answer, nil
}

func (p *plain) apply(old breaker.Record, c breaker.Command, now time.Duration) (breaker.Record, breaker.Answer) {
	given := old
	if p.bug.twoSteps {
		threshold := c.Settings.FailureThreshold
		if c.Kind == breaker.Settle && c.Token == 0 && threshold > 1 {
			c.Settings.FailureThreshold = 1_000_000
		}
	}
	if p.bug.before != nil {
		p.bug.before(&given, &c, now)
	}
	next, answer := given.Apply(now, c)
	if p.bug.after != nil {
		p.bug.after(old, &next, &answer, c, now)
		answer.Record = next
	}
	return next, answer
}

func (p *plain) tell(listeners []func(breaker.News), n breaker.News) {
	if p.bug.news != nil {
		p.bug.news(p, listeners, n)
		return
	}
	for _, news := range listeners {
		news(n)
	}
}
