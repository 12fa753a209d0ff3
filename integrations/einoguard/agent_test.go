package einoguard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// The model that will not be told: it sees the tool three times, and then calls it
// although it does not. The tool is not run, and the answer is a normal result (A113, A117).
func TestStubbornModel(t *testing.T) {
	for kind, make := range kinds {
		for _, streaming := range []bool{false, true} {
			t.Run(kind, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					g, down, m := newGuard(t, watchAll()), newBackend("search", fails), turns(10, "search")
					config := configured(m, invokable{newBackend("calc", works)}, make(down))
					o := collect(newRunner(t, g, config, streaming).Query(t.Context(), "do it"))
					require.NoError(t, o.err)
					assert.EqualValues(t, 3, down.hits.Load())
					require.Len(t, o.results, 10)
					assert.Equal(t, []string{"failed", "failed", "failed"}, o.results[:3])
					for i, list := range m.offered() {
						if i < 3 {
							assert.Equal(t, []string{"calc", "search"}, list)
						} else {
							assert.Equal(t, []string{"calc"}, list)
						}
					}
					for _, text := range o.results[3:] {
						requireRefused(t, text)
						assert.Contains(t, text, `Other tools: "calc".`)
						assert.NotContains(t, text, "hunter2")
					}
					assert.EqualValues(t, 7, g.Tools().Tools()[0].Refused)
					assert.Equal(t, 1, g.Tools().Tools()[0].Generation)
				})
			})
		}
	}
}

// A tool comes back by one probe: after a cooldown the next turn sees it, in the same run
// as well (A106), and a success closes the circuit.
func TestRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, b, m := newGuard(t, watchAll()), newBackend("search", fails), persistent("search")
		first := run(t, g, configured(m, invokable{b}))
		require.NoError(t, first.err)
		assert.Equal(t, "I cannot do it", first.answer)
		assert.EqualValues(t, 3, b.hits.Load())

		time.Sleep(time.Minute) // the first cooldown; the probe fails
		run(t, g, configured(persistent("search"), invokable{b}))
		assert.EqualValues(t, 4, b.hits.Load())
		require.Equal(t, breaker.Open, state(g, "search"))

		b.set(works)
		time.Sleep(time.Minute) // the second is twice as long
		run(t, g, configured(persistent("search"), invokable{b}))
		assert.EqualValues(t, 4, b.hits.Load())

		time.Sleep(time.Minute)
		o := run(t, g, configured(turns(2, "search"), invokable{b}))
		assert.Equal(t, []string{"42", "42"}, o.results)
		assert.Equal(t, breaker.Closed, state(g, "search"))
	})
}
