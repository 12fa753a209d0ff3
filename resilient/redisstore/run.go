package redisstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// How often Run does things of its own accord.
const (
	rereading    = 10 * time.Second       // reads all circuits again, come what may
	looking      = 200 * time.Millisecond // looks after those that could not be read, and after Redis
	firstBackoff = 50 * time.Millisecond  // between subscriptions
	lastBackoff  = 500 * time.Millisecond
)

// Run brings the circuits news of each other until ctx ends, and returns nil then. The
// application starts it, once, on a goroutine of its own; a second one returns an error
// at once, and so does one whose store is closed. When it returns, nothing of it is left
// behind, and circuits read again what they have as it ages.
//
// It keeps one connection that is subscribed to the channel of the namespace, looks each
// MaxViewAge whether that is alive, and tells the circuits when it is not. All circuits
// are read again when it is made anew, and every ten seconds. While Redis cannot be used,
// Run looks when it is back, so that no call has to.
func (s *Store) Run(ctx context.Context) error {
	if !s.health.watched.CompareAndSwap(false, true) {
		return errors.New("redisstore: Run runs already, and one is enough for all circuits of a store")
	}
	defer s.health.watched.Store(false)
	r := &runner{Store: s}
	for {
		err := r.session(ctx)
		r.deafen()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, redis.ErrClosed):
			return fmt.Errorf("redisstore: Run: the store is closed: %w", err)
		}
		s.reload()
		r.missed(ctx, err)
		r.wait(ctx)
	}
}

// runner is one Run. Only its goroutine touches it.
type runner struct {
	*Store
	behind  map[*watcher]bool // those that are to be read
	retries int               // since news came last
	deaf    bool              // that has been told
}

// session is one subscription, from its begin to its end.
func (r *runner) session(ctx context.Context) error {
	sub, err := r.subscribe(ctx)
	if err != nil {
		return err
	}
	defer sub.end()
	pings, reads, looks := time.NewTicker(r.options.MaxViewAge), time.NewTicker(r.rereading), time.NewTicker(looking)
	defer pings.Stop()
	defer reads.Stop()
	defer looks.Stop()

	r.everybody()
	r.look(ctx)
	seen := sub.signs.Load()
	if err := sub.ping(ctx, r.options.Timeout); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case payload, ok := <-sub.messages:
			if !ok {
				return sub.err
			}
			r.hear(payload)
		case <-r.watchers.more:
			r.newcomers()
			r.look(ctx)
		case <-looks.C:
			r.look(ctx)
		case <-reads.C:
			r.everybody()
			r.look(ctx)
		case <-pings.C:
			if seen, err = r.pulse(ctx, sub, seen); err != nil {
				return err
			}
		}
	}
}

// pulse looks whether anything has come since the last ping, and sends the next one.
func (r *runner) pulse(ctx context.Context, sub *subscription, seen uint64) (uint64, error) {
	now := sub.signs.Load()
	if now == seen {
		return now, errSilent
	}
	r.retries = 0
	if r.deaf {
		r.deaf = false
		r.events.tell(Event{Kind: Hearing})
	}
	return now, sub.ping(ctx, r.options.Timeout)
}

// everybody and newcomers note who is to be read.
func (r *runner) everybody() {
	r.behind = map[*watcher]bool{}
	for _, one := range r.watchers.all() {
		r.behind[one] = true
	}
}

func (r *runner) newcomers() {
	for _, one := range r.watchers.newcomers() {
		r.behind[one] = true
	}
}

// look reads those who are behind, once Redis works. What fails is tried again at the
// next look.
func (r *runner) look(ctx context.Context) {
	if !r.health.well() {
		if !r.probe(ctx) || !r.health.well() {
			return
		}
		r.everybody() // circuits have gone on by themselves
	}
	for len(r.behind) > 0 && ctx.Err() == nil {
		if !r.readSome(ctx) {
			return
		}
	}
}

// probe looks whether Redis takes writes, unless it did so a moment ago.
func (r *runner) probe(ctx context.Context) bool {
	permit, err := r.health.probe(r.options.Timeout)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	circuit := r.health.where()
	err = r.touch(ctx, circuit)
	r.health.leave(permit, circuit, judge(ctx, err, false), err)
	if err != nil {
		r.note(circuit, err)
	}
	return err == nil
}

// hear gives a message to those whom it concerns.
func (r *runner) hear(payload string) {
	circuit, answer, err := unpack(payload)
	if err != nil {
		return // anybody can publish anything
	}
	for _, one := range r.watchers.of(circuit) {
		switch {
		case !one.live:
			r.behind[one] = true // a message alone does not say that nothing was missed before it
		case answer.Now >= one.read: // else it was sent before what is known already
			r.tellAnswer(one, answer, false)
		}
	}
}

func (r *runner) tellAnswer(one *watcher, answer breaker.Answer, fresh bool) {
	if fresh {
		one.read = answer.Now
	}
	r.watchers.tell(one, breaker.News{Live: true, Answer: &answer, Fresh: fresh})
}

// deafen tells all who have news that none will come.
func (r *runner) deafen() {
	for _, one := range r.watchers.all() {
		if one.live {
			r.watchers.tell(one, breaker.News{})
		}
	}
}

// missed finds out what a subscription's end means: that Redis is gone, or news only.
func (r *runner) missed(ctx context.Context, err error) {
	r.retries++
	if r.probe(ctx) && r.health.well() && r.retries > 1 && !r.deaf {
		r.deaf = true
		r.events.tell(Event{Kind: Deaf, Err: sanitize.Error(err)})
	}
}

// wait lets some time pass before the next subscription, more after each.
func (r *runner) wait(ctx context.Context) {
	pause := min(firstBackoff<<min(r.retries, 10), lastBackoff)
	pause = pause/2 + rand.N(pause/2) // not all processes at the same time
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
