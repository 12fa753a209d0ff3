package chaos_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// TestViewsAreCurrentWithinTheirBound: what a process decides by what it knows is not
// linearizable, and not meant to be. But what it knows was so a short while ago, and it
// never goes back to something older, but where the store itself does.
func TestViewsAreCurrentWithinTheirBound(t *testing.T) {
	t.Parallel()
	servers.Need(t)
	for name, test := range map[string]struct {
		news bool
		age  time.Duration // that the documentation promises
	}{
		"by news":          {true, 2 * 100 * ms}, // should they stop coming; else a hop, which is printed
		"by looking again": {false, 100*ms + 50*ms},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newViews(t, test.news, redisstore.Options{MaxViewAge: 100 * ms, Timeout: patient.Timeout})
			busy := watched(t)
			v.run(long(20*time.Second, 2*time.Second))
			v.check(test.age + busy.allows())
		})
	}
}

// round is what the store said of one.
type round struct {
	number uint64
	since  time.Time // by the store's clock, which is this machine's
	state  breaker.State
}

// decision is one that a process made by what it knew.
type decision struct {
	at       time.Time
	round    uint64
	admitted bool
}

type views struct {
	t       *testing.T
	server  *servers.Redis
	members []*breaker.Circuit

	mu        sync.Mutex // guards what follows
	rounds    map[uint64]round
	decisions [][]decision // of each member
	flushes   [][2]time.Time
}

// recorder takes down every round that the store tells of.
type recorder struct {
	breaker.Store
	views *views
}

func (r *recorder) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	answer, err := r.Store.Do(ctx, circuit, c)
	if err == nil {
		r.views.learn(answer)
	}
	return answer, err
}

func (r *recorder) Watch(circuit string, news func(breaker.News)) (stop func()) {
	return r.Store.Watch(circuit, func(n breaker.News) {
		if n.Answer != nil {
			r.views.learn(*n.Answer)
		}
		news(n)
	})
}

func (v *views) learn(a breaker.Answer) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rounds[a.Record.Round] = round{a.Record.Round, time.Unix(0, int64(a.Record.Since)), a.Record.State(settings())}
}

func newViews(t *testing.T, news bool, options redisstore.Options) *views {
	t.Helper()
	v := &views{t: t, server: servers.Start(t), rounds: map[uint64]round{}}
	s := settings()
	s.FailureThreshold, s.RecoveryTimeout, s.Cooldown = 3, 40*ms, 30*ms
	for range 3 {
		m := join(t, v.server.Address, &options, news)
		if news {
			m.live(t)
		}
		r := &recorder{m.store, v}
		c, err := breaker.New("viewed", s, &breaker.Options{Store: r})
		require.NoError(t, err)
		v.members = append(v.members, c)
		v.decisions = append(v.decisions, nil)
		if news {
			m.live(t)
		}
	}
	return v
}

// run has all of them call a dependency that comes and goes, and flushes the server once
// in between.
func (v *views) run(length time.Duration) {
	var down atomic.Bool
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for i, c := range v.members {
		all.Go(func() {
			for time.Now().Before(end) {
				v.decide(i, c, &down)
			}
		})
	}
	flush := time.Now().Add(length / 2)
	for time.Now().Before(end) {
		time.Sleep(time.Duration(20+rand.IntN(150)) * ms)
		down.Store(!down.Load())
		if flushing := time.Now(); !flush.IsZero() && flushing.After(flush) {
			v.server.Do("FLUSHALL")
			v.flushes = append(v.flushes, [2]time.Time{flushing, time.Now()})
			flush = time.Time{}
		}
	}
	all.Wait()
}

// decide makes one call and takes down by which view it was admitted or rejected. Only
// one goroutine uses each circuit, so that a snapshot afterwards is of the same view, if
// no news came in between: its round is looked at before and after.
func (v *views) decide(i int, c *breaker.Circuit, down *atomic.Bool) {
	before := c.Snapshot().Round
	at := time.Now()
	p, refused := c.Acquire(c.Now(), time.Second)
	if refused != nil {
		if after := c.Snapshot().Round; after == before {
			v.note(i, decision{at, before, false})
		}
		time.Sleep(200 * time.Microsecond)
		return
	}
	if !p.Probe() && !p.Delayed() { // else the store was asked
		v.note(i, decision{at, p.Round(), true})
	}
	time.Sleep(200 * time.Microsecond)
	if down.Load() {
		c.Settle(p, breaker.Failure, errDown)
	} else {
		c.Settle(p, breaker.Success, nil)
	}
}

func (v *views) note(i int, d decision) {
	v.decisions[i] = append(v.decisions[i], d) // each has its own
}

// line is the rounds in their order, each with its end.
func (v *views) line() ([]round, map[uint64]time.Time) {
	var line []round
	for _, r := range v.rounds {
		if r.number != 0 {
			line = append(line, r)
		}
	}
	slices.SortFunc(line, func(a, b round) int { return cmp.Compare(a.number, b.number) })
	ends := map[uint64]time.Time{}
	for i, r := range line {
		if i+1 < len(line) {
			ends[r.number] = line[i+1].since
		}
		for _, f := range v.flushes { // which ends whatever there is
			if end, ended := ends[r.number]; r.since.Before(f[0]) && (!ended || end.After(f[1])) {
				ends[r.number] = f[1]
			}
		}
	}
	return line, ends
}

// sinceNothing is how long ago the store knew something again, having known nothing of the
// circuit: 0 if that is how it is.
func (v *views) sinceNothing(at time.Time, line []round) time.Duration {
	begun := time.Time{} // when it last came to know nothing
	for _, f := range v.flushes {
		if f[0].Before(at) {
			begun = f[0]
		}
	}
	for _, r := range line {
		if r.since.After(begun) {
			return max(at.Sub(r.since), 0)
		}
	}
	return 0
}

// check holds each decision against the rounds as they were.
func (v *views) check(bound time.Duration) {
	line, ends := v.line()
	require.Greater(v.t, len(line), 5, "something is to happen")
	var ages figures
	for i, decisions := range v.decisions {
		back := 0
		for n, d := range decisions {
			if n > 0 && d.round < decisions[n-1].round {
				back++
				assert.Zero(v.t, d.round, "member %d went back from round %d", i, decisions[n-1].round)
			}
			if d.round == 0 {
				assert.True(v.t, d.admitted, "what the store knows nothing of is closed")
				ages = append(ages, v.sinceNothing(d.at, line))
				continue
			}
			r, known := v.rounds[d.round]
			if !assert.True(v.t, known, "round %d is none of the store's", d.round) {
				return
			}
			assert.Equal(v.t, d.admitted, r.state == breaker.Closed, "a decision that its view does not allow")
			if end, ended := ends[d.round]; ended {
				ages = append(ages, max(d.at.Sub(end), 0))
			}
		}
		assert.LessOrEqual(v.t, back, len(v.flushes), "member %d went back more often than the store did", i)
	}
	stale := slices.DeleteFunc(slices.Clone(ages), func(d time.Duration) bool { return d == 0 })
	v.t.Logf("%d rounds, %d decisions, %d of them by a view that was not current any more", len(line), len(ages), len(stale))
	stale.log(v.t, "these views were out of date for")
	assert.LessOrEqual(v.t, ages.at(1), bound)
}
