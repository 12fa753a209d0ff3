package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// variant is a model of another kind, with two replicas that share their circuits, in an outage.
type variant struct {
	name     string
	expected string // written down here; nothing computes it
	mode     toolguard.Mode
	run      func(ctx context.Context, w *world) (seen string, err error)
}

var variants = []variant{
	{"a persistent model", "96 of 96 answered, backend hits at first and in 3 cooldowns: 3, 1, 1, 1", toolguard.Withhold, isPersistent},
	{"a stubborn one", "0 of 2 answered, 0 backend hits, 20 refusals that can be read, circuits unchanged", toolguard.Withhold, isStubborn},
	{"a parallel one", "1 backend hit, 2 refused, and then it takes its notes", toolguard.Withhold, isParallel},
	{"a lazy one", "A is offered it, does n., B is offered it, A is not, A is offered it, search answers", toolguard.Withhold, isLazy},
	{"an obedient one, its list unchanged", "20 of 20 answered, 0 backend hits, 20 refusals that can be read", toolguard.GuardOnly, isObedient},
}

// open lets a model fail until the circuit is open for all replicas, for a long cooldown.
func (w *world) open(ctx context.Context) error {
	if _, err := w.replicas[0].work(ctx, persistent, "what opens the circuit"); err != nil {
		return err
	}
	if err := w.agree(ctx); err != nil {
		return err
	}
	if seen := w.seen(); !all(seen, func(s breaker.Snapshot) bool { return s.State == breaker.Open }) {
		return fmt.Errorf("the circuits are not open: %v", seen)
	}
	return nil
}

// However long an outage lasts, the backend is asked as often as the threshold says, and once for each cooldown.
func isPersistent(ctx context.Context, w *world) (string, error) {
	var tasks []task
	var hits []string
	for i := range 4 {
		if i > 0 {
			if err := w.passCooldown(ctx); err != nil {
				return "", err
			}
		}
		p, err := w.phase(ctx, "", 12)
		if err != nil {
			return "", err
		}
		tasks, hits = append(tasks, p.tasks...), append(hits, strconv.Itoa(p.hits))
	}
	f := phase{tasks: tasks}.figures()
	return fmt.Sprintf("%d of %d answered, backend hits at first and in 3 cooldowns: %s", f.answered, len(tasks), strings.Join(hits, ", ")), nil
}

// What is called although it is not offered does not run, and is answered by a text; nothing is counted.
func isStubborn(ctx context.Context, w *world) (string, error) {
	if err := w.open(ctx); err != nil {
		return "", err
	}
	began, before, hits := time.Now(), w.counters(), w.hits()
	tasks, err := w.work(ctx, stubborn, 1)
	if err != nil {
		return "", err
	}
	circuits := "unchanged"
	if !slices.Equal(before, w.counters()) {
		circuits = "CHANGED"
	}
	f := phase{tasks: tasks}.figures()
	return fmt.Sprintf("%d of %d answered, %d backend hits, %d refusals that can be read, circuits %s",
		f.answered, len(tasks), w.hits()-hits, readable(tasks), circuits), inTime(began)
}

// counted is what a circuit has counted.
type counted struct {
	state                                   breaker.State
	round                                   uint64
	generation, failures, successes, probes int
}

// counters are those of the replicas' circuits.
func (w *world) counters() []counted {
	var all []counted
	for _, s := range w.seen() {
		all = append(all, counted{s.State, s.Round, s.Generation, s.Failures, s.Successes, s.Probes})
	}
	return all
}

// readable counts the refusals that say to a model all that it needs to know.
func readable(tasks []task) (n int) {
	for _, t := range tasks {
		for _, r := range t.rounds {
			for _, one := range r.results {
				if isRefusal(one) {
					n++
				}
			}
		}
	}
	return n
}

func isRefusal(r result) bool {
	return !r.failed && strings.HasPrefix(r.text, `Tool "search" is temporarily unavailable until `) &&
		strings.Contains(r.text, "Do not call it before then.") && strings.HasSuffix(r.text, `Other tools: "notes".`)
}

// Of several calls in the turn that has the probe, one is the probe.
func isParallel(ctx context.Context, w *world) (string, error) {
	if err := w.open(ctx); err != nil {
		return "", err
	}
	if err := w.passCooldown(ctx); err != nil {
		return "", err
	}
	began, hits := time.Now(), w.hits()
	done, err := w.replicas[0].work(ctx, parallel, "three things")
	if err != nil {
		return "", err
	}
	refused := 0
	for _, r := range done.rounds[0].results {
		if !r.failed && !r.useful() {
			refused++
		}
	}
	then := "then it is lost: " + done.letters()
	if done.letters() == "Xn." {
		then = "and then it takes its notes"
	}
	return fmt.Sprintf("%d backend hit, %d refused, %s", w.hits()-hits, refused, then), inTime(began)
}

// shortLease has a probe that is not used keep its place for these two, and a second on top. In earnest that is minutes.
var shortLease = toolguard.Limits{ProbeLease: time.Second, Timeout: time.Second}

// A probe that is offered and not used is free when its turn is closed; where that is forgotten, after its lease.
func isLazy(ctx context.Context, w *world) (string, error) {
	if err := w.open(ctx); err != nil {
		return "", err
	}
	if err := w.passCooldown(ctx); err != nil {
		return "", err
	}
	w.backend.down.Store(false)
	s := story{ctx: ctx, w: w}
	a, b := w.replicas[0], w.replicas[1]
	done, err := a.work(ctx, lazy, "something easy")
	if err != nil {
		return "", err
	}
	if slices.Contains(done.rounds[0].offered, search) {
		s.tell("A is offered it")
	}
	s.tell("does %s", done.letters())
	if err := w.setLimits(limitsAt(1), shortLease); err != nil {
		return "", err
	}
	free := func(seen breaker.Snapshot) bool { return seen.Probes == 0 }
	soFar, lease := len(s.told), shortLease.ProbeLease+shortLease.Timeout
	var began time.Time
	for again := true; again && s.err == nil; again = time.Since(began) > lease { // on a machine that slow, nothing was seen
		s.told = s.told[:soFar]
		s.await("the news", free)
		began = time.Now()
		_ = s.turn(b) // a turn that is never closed
		s.turn(a).Close()
	}
	s.await("the end of a lease", free)
	if took := time.Since(began); took < lease {
		s.tell("after a lease of only %v", took)
	}
	if err := w.setLimits(limitsAt(1), toolguard.Limits{}); err != nil {
		return "", err
	}
	late := s.turn(a)
	s.call(late, search)
	late.Close()
	return strings.Join(s.told, ", "), s.err
}

// A list that may not change shows what is broken, too. The refusal tells the model what else there is.
func isObedient(ctx context.Context, w *world) (string, error) {
	if err := w.open(ctx); err != nil {
		return "", err
	}
	began, hits := time.Now(), w.hits()
	tasks, err := w.work(ctx, obedient, 10)
	if err != nil {
		return "", err
	}
	f := phase{tasks: tasks}.figures()
	return fmt.Sprintf("%d of %d answered, %d backend hits, %d refusals that can be read",
		f.answered, len(tasks), w.hits()-hits, readable(tasks)), inTime(began)
}
