package breaker_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/breaker/storetest"
)

func memoryHarness(options *breaker.MemoryOptions) func(*testing.T) storetest.Harness {
	return func(*testing.T) storetest.Harness {
		store := breaker.NewMemoryStore(options)
		return storetest.Harness{
			Open: func() breaker.Store { return store },
			News: options == nil || !options.Silent,
			Now:  store.Now, Skew: store.Skew, Forget: store.Forget,
		}
	}
}

// The kit, where no time is lost and where time is real.
func TestMemoryStoreKeepsTheRules(t *testing.T) {
	t.Run("in a bubble", func(t *testing.T) { storetest.RunInBubble(t, memoryHarness(nil)) })
	t.Run("in real time", func(t *testing.T) { storetest.Run(t, memoryHarness(nil)) })
	t.Run("silent, and time moved by hand", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) storetest.Harness {
			h := memoryHarness(&breaker.MemoryOptions{Silent: true})(t)
			h.Advance = h.Skew
			return h
		})
	})
}

func fail(round uint64, id uint64) breaker.Command {
	return breaker.Command{
		Kind: breaker.Settle, ID: id, Round: round, Outcome: breaker.Failure, Cause: "down", Settings: breaker.DefaultSettings(),
	}
}

// Names that are not asked for do not pile up: healthy ones are never kept, others no
// longer than they may still decide something.
func TestMemoryStoreIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, ctx := breaker.NewMemoryStore(nil), t.Context()
		for i := range 1000 {
			for _, o := range []breaker.Outcome{breaker.Success, breaker.Neutral} {
				_, err := store.Do(ctx, fmt.Sprint("healthy ", i), breaker.Command{
					Kind: breaker.Settle, ID: 1, Outcome: o, Settings: breaker.DefaultSettings(),
				})
				require.NoError(t, err)
			}
		}
		require.Zero(t, store.Len())

		most := 0
		for i := range 20_000 { // two a minute, for an hour of retention and the 24 of the longest open time
			_, err := store.Do(ctx, fmt.Sprint("once ", i), fail(0, 1))
			require.NoError(t, err)
			most = max(most, store.Len())
			time.Sleep(30 * time.Second)
		}
		require.LessOrEqual(t, most, 2*25*120+1)
	})
}

// What may still decide something is kept, however long nobody asks.
func TestMemoryStoreKeepsWhatDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, ctx := breaker.NewMemoryStore(nil), t.Context()
		do := func(circuit string, c breaker.Command) breaker.Answer {
			c.Settings = breaker.DefaultSettings()
			c.Settings.FailureThreshold = 1
			c.Settings.RecoveryTimeout = 24 * time.Hour
			answer, err := store.Do(ctx, circuit, c)
			require.NoError(t, err)
			return answer
		}
		churn := func() {
			for range 1000 {
				do(fmt.Sprint("other ", rand.Uint64()), fail(0, 1))
			}
		}
		do("open", fail(0, 1))
		do("forced", breaker.Command{Kind: breaker.Operate, ID: 1, Order: breaker.Order{
			Force: breaker.ForceOpen, For: breaker.LongestOrder, Author: "a", Reason: "r",
		}})
		time.Sleep(24*time.Hour + 59*time.Minute)
		churn()
		require.True(t, do("open", breaker.Command{Kind: breaker.Acquire, ID: 7, Lease: 48 * time.Hour}).Granted)
		time.Sleep(48 * time.Hour)
		churn()
		require.Equal(t, breaker.HalfOpen, do("open", breaker.Command{Kind: breaker.Read}).Record.Beneath)
		time.Sleep(breaker.LongestOrder - 73*time.Hour)
		churn()
		require.Equal(t, breaker.ForceOpen, do("forced", breaker.Command{Kind: breaker.Read}).Record.Force)
		time.Sleep(26 * time.Hour)
		churn()
		require.Zero(t, do("forced", breaker.Command{Kind: breaker.Read}).Record.Round)
	})
}

// An answer is the caller's own.
func TestMemoryStoreAnswersAreCopies(t *testing.T) {
	store := breaker.NewMemoryStore(nil)
	settings := breaker.DefaultSettings()
	settings.FailureThreshold, settings.RecoveryTimeout, settings.MaxProbes = 1, time.Microsecond, 2
	do := func(c breaker.Command) breaker.Answer {
		c.Settings = settings
		answer, err := store.Do(t.Context(), "copies", c)
		require.NoError(t, err)
		return answer
	}
	do(fail(0, 1))
	time.Sleep(2 * time.Microsecond)
	answer := do(breaker.Command{Kind: breaker.Acquire, ID: 7, Lease: time.Hour})
	require.Len(t, answer.Record.Leases, 1)
	answer.Record.Leases[0].Token = 8
	require.EqualValues(t, 7, do(breaker.Command{Kind: breaker.Read}).Record.Leases[0].Token)
}

func TestMemoryStoreTerms(t *testing.T) {
	require.Equal(t, breaker.Terms{Timeout: 50 * time.Millisecond, MaxViewAge: time.Second},
		breaker.NewMemoryStore(nil).Terms())
	require.Equal(t, breaker.Terms{Timeout: 50 * time.Millisecond, MaxViewAge: time.Second},
		breaker.NewMemoryStore(&breaker.MemoryOptions{Timeout: -1, MaxViewAge: -1}).Terms())
	require.Equal(t, breaker.Terms{Timeout: 1, MaxViewAge: 2, Strict: true},
		breaker.NewMemoryStore(&breaker.MemoryOptions{Timeout: 1, MaxViewAge: 2, Strict: true}).Terms())
}

func TestMemoryStoreRefusesInvalidOrders(t *testing.T) {
	store := breaker.NewMemoryStore(nil)
	_, err := store.Do(t.Context(), "order", breaker.Command{Kind: breaker.Operate, ID: 1, Order: breaker.Order{Force: 77}})
	require.Error(t, err)
	answer, err := store.Do(t.Context(), "order", breaker.Command{Kind: breaker.Read})
	require.NoError(t, err)
	require.Zero(t, answer.Record.Round)
}

// A listener may use the store, for the same circuit too; what that causes is told after.
func TestMemoryStoreNewsHoldNoLock(t *testing.T) {
	store := breaker.NewMemoryStore(nil)
	var told []int
	store.Watch("news", func(n breaker.News) {
		require.True(t, n.Live)
		told = append(told, n.Answer.Record.Failures)
		if len(told) < 5 {
			c := fail(n.Answer.Record.Round, uint64(len(told)))
			c.Outcome = []breaker.Outcome{breaker.Success, breaker.Failure}[len(told)%2]
			_, err := store.Do(t.Context(), "news", c)
			require.NoError(t, err)
			store.Watch(fmt.Sprint("other ", len(told)), func(breaker.News) {})
		}
	})
	require.Equal(t, []int{0, 1, 0, 1, 0}, told)
}

// A listener that panics takes only its own goroutine with it: the others, and it, hear
// what comes next.
func TestMemoryStoreNewsOutliveAPanic(t *testing.T) {
	store := breaker.NewMemoryStore(nil)
	panics, told := false, [2]int{}
	for i := range told {
		store.Watch("news", func(breaker.News) {
			told[i]++
			if panics && i == 0 {
				panic("a listener's fault")
			}
		})
	}
	panics = true
	require.Panics(t, func() { _, _ = store.Do(t.Context(), "news", fail(0, 1)) })
	require.Equal(t, [2]int{2, 2}, told)
	var wg sync.WaitGroup
	panics = false
	wg.Go(func() {
		_, _ = store.Do(t.Context(), "news", breaker.Command{Kind: breaker.Settle, ID: 2, Outcome: breaker.Success})
	})
	wg.Wait()
	require.Equal(t, [2]int{3, 3}, told)
}

// Each change that makes another's view wrong is told, and no other.
func TestMemoryStoreNewsworthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := breaker.NewMemoryStore(nil)
		settings := small()
		settings.FailureThreshold, settings.MaxProbes, settings.MinReporters = 3, 2, 2
		told := 0
		var round uint64
		do := func(news int, why string, c breaker.Command) {
			before := told
			c.ID = max(c.ID, rand.Uint64()>>1)
			if c.Token != 0 {
				c.ID = c.Token
			}
			c.Settings, c.Round, c.Lease = settings, round, time.Hour
			answer, err := store.Do(t.Context(), "news", c)
			require.NoError(t, err)
			round = answer.Record.Round
			require.Equal(t, news, told-before, why)
		}
		store.Watch("news", func(breaker.News) { told++ })
		require.Equal(t, 1, told)
		failure := breaker.Command{Kind: breaker.Settle, Outcome: breaker.Failure}
		success := breaker.Command{Kind: breaker.Settle, Outcome: breaker.Success}
		do(0, "healthy", success)
		do(1, "the first failure", failure)
		do(0, "the second", failure)
		do(1, "the end of the run", success)
		do(1, "a vote", breaker.Command{Kind: breaker.Vote, Replica: 1})
		do(1, "the vote that opens", breaker.Command{Kind: breaker.Vote, Replica: 2})
		do(0, "a rejection", breaker.Command{Kind: breaker.Acquire})
		time.Sleep(settings.RecoveryTimeout)
		do(1, "half-open", breaker.Command{Kind: breaker.Acquire, ID: 1 << 63})
		do(1, "a place taken", breaker.Command{Kind: breaker.Acquire, ID: 1<<63 + 1})
		neutral := breaker.Command{Kind: breaker.Settle, Outcome: breaker.Neutral, Token: 1 << 63}
		do(1, "a place free again", neutral)
		do(0, "repeated", neutral)
		success.Token = 1<<63 + 1
		do(1, "closed", success)
		order := breaker.Command{Kind: breaker.Operate, Order: breaker.Order{
			Force: breaker.ForceClosed, For: time.Hour, Author: "a", Reason: "r",
		}}
		do(1, "an order", order)
		time.Sleep(time.Minute)
		do(1, "the same for longer", order)
		do(0, "a read", breaker.Command{Kind: breaker.Read})
		time.Sleep(time.Hour)
		do(1, "the end of the force", breaker.Command{Kind: breaker.Read})
	})
}
