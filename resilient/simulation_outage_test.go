package resilient_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// TestOutage holds what guards make of an outage, beside what retries alone do, and the picture of it in docs.
func TestOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	run := func(edit func(*resilient.Policy)) *outage {
		policy := outagePolicy()
		edit(&policy)
		return simulate(t, policy)
	}
	alone := run(func(p *resilient.Policy) { p.Retry.Budget, p.Circuit.Enabled = "", false })
	budget := run(func(p *resilient.Policy) { p.Circuit.Enabled = false })
	circuit := run(func(p *resilient.Policy) { p.Retry.Budget = "" })
	guarded := run(func(*resilient.Policy) {})
	for _, o := range []struct {
		name string
		*outage
	}{{"retries alone", alone}, {"with the budget", budget}, {"with the circuit", circuit}, {"with both", guarded}} {
		t.Logf("%-16s sent, as a multiple of the normal load: slow %.2f, down %.3f, at most %.3f in ten seconds and %.2f in one; answered of those begun while slow %.1f %%",
			o.name, o.load(slowFrom, downFrom), o.load(downFrom, upFrom), o.worst(10*time.Second), o.worst(time.Second),
			100*o.answer(slowFrom, downFrom-5*time.Second))
	}

	t.Run("load", func(t *testing.T) {
		assert.InDelta(t, 3, alone.load(downFrom, upFrom), 0.15, "three attempts, three times the load")
		assert.LessOrEqual(t, budget.load(downFrom, upFrom), 1.1, "with the budget alone, all through the outage")
		assert.LessOrEqual(t, guarded.worst(10*time.Second), 1.1, "with both, in whichever ten seconds")
		assert.Less(t, guarded.load(downFrom, upFrom), 0.15, "with both, all through the outage: little more than probes")
		assert.Less(t, circuit.load(downFrom, upFrom), 0.15)
	})
	t.Run("the circuits do not flap", func(t *testing.T) {
		atMost := int((upFrom-downFrom)/outagePolicy().Circuit.RecoveryTimeout) + 1
		moment := time.Second // for what was on its way when the server changed
		for n, changes := range guarded.changes {
			opened := 0
			for _, c := range changes {
				if c.to == breaker.Open && c.at >= downFrom {
					opened++
				}
			}
			assert.Positive(t, opened, "circuit %d has seen nothing", n)
			assert.LessOrEqual(t, opened, atMost, "circuit %d has opened more often than its open times allow", n)
		}
		assert.Zero(t, guarded.count(breaker.Closed, downFrom+moment, upFrom), "none closes while the server is down")
		assert.Zero(t, guarded.count(breaker.Open, upFrom+moment, simEnd+time.Hour), "none opens once it is up")
		assert.Equal(t, clients, guarded.count(breaker.Closed, upFrom, simEnd+time.Hour), "each closes once")
		assert.LessOrEqual(t, guarded.count(breaker.Open, 0, downFrom), 5, "one failure in ten opens next to none")
	})
	t.Run("recovery", func(t *testing.T) {
		twice := upFrom + 2*outagePolicy().Circuit.RecoveryTimeout
		assert.Equal(t, clients, guarded.count(breaker.Closed, upFrom, twice), "all are closed after two open times")
		assert.Equal(t, guarded.offered.sum(twice, simEnd), guarded.kept.sum(twice, simEnd), "and everything is answered")
	})
	t.Run("picture", func(t *testing.T) {
		checkPicture(t, "../docs/outage.svg", picture(alone, guarded))
	})
}

// load is what was sent from one time to another, as a multiple of the normal load.
func (o *outage) load(from, to time.Duration) float64 {
	return float64(o.sent.sum(from, to)) / (float64(normal) * (to - from).Seconds())
}

// worst is the greatest load over so long.
func (o *outage) worst(span time.Duration) float64 {
	return float64(o.sent.most(span, 0, simEnd)) / (float64(normal) * span.Seconds())
}

// answer is which part of the calls that began in a time was answered.
func (o *outage) answer(from, to time.Duration) float64 {
	return float64(o.kept.sum(from, to)) / float64(o.offered.sum(from, to))
}
