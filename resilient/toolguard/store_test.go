package toolguard_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// A42: a store that is lost is told and logged once, whatever number of tools find out, and so is one that is back.
func TestA42TheStoreIsLostAndBackOnce(t *testing.T) {
	for name, memory := range stores {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var log bytes.Buffer
				seen, store := &recorder{}, newSpy(memory)
				options := watchAll()
				options.Store, options.Logger, options.Observers = store, textLogger(&log), []resilient.Observer{panics{}, seen}
				g := newGuard(t, options)
				names := []string{"calc", "search", "write"}
				use := func() {
					for range 5 {
						time.Sleep(2 * time.Second)
						for _, name := range names {
							g.Turn(t.Context(), names).Close()
							require.NoError(t, call(t.Context(), g, name, toolguard.Interrupted))
						}
					}
				}
				fail := func() { require.NoError(t, call(t.Context(), g, "search", toolguard.Error)) }
				for range 2 {
					use()
					store.dead.Store(true)
					fail()
					use()
					store.dead.Store(false)
					use()
					fail()
					use()
				}
				var got [][2]breaker.Sharing
				for _, e := range seen.events {
					changed := e.(toolguard.StoreChanged)
					got = append(got, [2]breaker.Sharing{changed.From, changed.To})
					assert.Equal(t, changed.To == breaker.Lost, changed.Cause != nil)
					assert.True(t, strings.HasPrefix(changed.Circuit, "tool"), changed.Circuit)
				}
				lost, back := [2]breaker.Sharing{breaker.Shared, breaker.Lost}, [2]breaker.Sharing{breaker.Lost, breaker.Shared}
				assert.Equal(t, [][2]breaker.Sharing{lost, back, lost, back}, got)
				assert.Equal(t, 2, strings.Count(log.String(), `level=WARN msg="tool circuit goes on without its store"`), log.String())
				assert.Equal(t, 2, strings.Count(log.String(), `level=INFO msg="tool circuit has its store back"`))
			})
		})
	}
}
