package breaker_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// diary notes what a circuit's listeners are told, in one order.
type diary struct{ entries []string }

func (d *diary) options(s breaker.Store) *breaker.Options {
	return &breaker.Options{
		Store:        s,
		OnTransition: func(t breaker.Transition) { d.note("%s to %s", t.From, t.To) },
		OnSharing: func(c breaker.SharingChange) {
			d.note("%s to %s: %v", c.From, c.To, c.Cause)
		},
	}
}

func (d *diary) note(format string, args ...any) {
	d.entries = append(d.entries, fmt.Sprintf(format, args...))
}

// take returns what was noted since.
func (d *diary) take() []string {
	entries := d.entries
	d.entries = nil
	return entries
}

// A42: that the store is lost is told once, and that it is back; what it brings comes after that.
func TestA42AStoreThatIsLostAndBackIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := newShelf(), &diary{}
		settings := small()
		c, err := breaker.New("dep", settings, d.options(s))
		require.NoError(t, err)
		other := replica(t, s, settings)
		require.True(t, call(c, nil))
		assert.Empty(t, d.take())

		s.break_(errStore)
		for range 10 {
			time.Sleep(2 * time.Second)
			require.True(t, call(c, nil))
		}
		assert.Equal(t, []string{"shared to lost: no store"}, d.take())

		s.break_(nil)
		time.Sleep(2 * time.Second)
		require.True(t, call(other, errDown))
		require.True(t, call(other, errDown))
		assert.False(t, call(c, nil))
		assert.Equal(t, []string{"lost to shared: <nil>", "closed to open"}, d.take())
	})
}

// A loss that the store's own news end, without a call.
func TestNewsBringAStoreBackWithoutACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := newShelf(), &diary{}
		c, err := breaker.New("dep", small(), d.options(s))
		require.NoError(t, err)
		s.break_(errStore)
		require.True(t, call(c, nil))
		s.break_(nil)
		s.tell("dep", true, true)
		assert.Equal(t, []string{"shared to lost: no store", "lost to shared: <nil>"}, d.take())
		assert.Equal(t, breaker.Shared, c.Snapshot().Sharing)
	})
}

// What is no loss: settings and votes. A circuit that begins alone, or is closed, has nothing to tell.
func TestOtherChangesOfSharingAreToldAsWhatTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := newShelf(), &diary{}
		settings := small()
		settings.Local = true
		c, err := breaker.New("dep", settings, d.options(s))
		require.NoError(t, err)
		require.True(t, call(c, nil))
		assert.Empty(t, d.take())
		settings.Local, settings.MinReporters = false, 2
		require.NoError(t, c.SetSettings(settings))
		assert.Equal(t, []string{"alone to shared: <nil>"}, d.take())
		require.True(t, call(c, errDown))
		require.True(t, call(c, errDown))
		assert.Equal(t, []string{"shared to apart: <nil>", "closed to open"}, d.take())
		s.break_(errStore)
		c.Reset()
		c.Close()
		require.True(t, call(c, nil))
		assert.Equal(t, []string{"apart to shared: <nil>", "open to closed"}, d.take(), "nothing of the end")
	})
}

// A listener may use the circuit, and what it panics with goes no further.
func TestAListenerOfSharingMayUseTheCircuitAndPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		var c *breaker.Circuit
		var seen []breaker.Sharing
		var panicked []any
		c, err := breaker.New("dep", small(), &breaker.Options{
			Store: s,
			OnSharing: func(change breaker.SharingChange) {
				seen = append(seen, c.Snapshot().Sharing)
				c.ForceOpen()
				c.Release()
				panic(change.To)
			},
			OnPanic: func(value any) { panicked = append(panicked, value) },
		})
		require.NoError(t, err)
		s.break_(errStore)
		require.True(t, call(c, nil))
		assert.Equal(t, []breaker.Sharing{breaker.Lost}, seen)
		assert.Equal(t, []any{breaker.Lost}, panicked)
	})
}

// P94: a store that comes and goes under many goroutines: one at a time, each change begins where the last one ended, and
// the last one is how it is.
func TestP94ChangesOfSharingAreToldInOrder(t *testing.T) {
	s := newShelf()
	s.terms.MaxViewAge = time.Nanosecond // each call asks
	var inside, overlaps atomic.Int64
	var mu sync.Mutex
	var told []breaker.SharingChange
	c, err := breaker.New("dep", small(), &breaker.Options{Store: s, OnSharing: func(change breaker.SharingChange) {
		if inside.Add(1) != 1 {
			overlaps.Add(1)
		}
		mu.Lock()
		told = append(told, change)
		mu.Unlock()
		inside.Add(-1)
	}})
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 500 {
				if i == 0 {
					s.break_([]error{nil, errStore}[n%2])
				}
				call(c, nil)
			}
		})
	}
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	assert.Zero(t, overlaps.Load())
	require.NotEmpty(t, told)
	mode := breaker.Shared
	for _, change := range told {
		require.Equal(t, mode, change.From)
		require.NotEqual(t, mode, change.To)
		require.Equal(t, change.To == breaker.Lost, change.Cause != nil)
		mode = change.To
	}
	assert.Equal(t, c.Snapshot().Sharing, mode)
}
