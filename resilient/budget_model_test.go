package resilient_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient"
)

// inBubble hides the test's deadline from rapid, which cannot be asked for in a bubble.
type inBubble struct{ *testing.T }

func (inBubble) Deadline() (time.Time, bool) { return time.Time{}, false }

// Whatever calls do, and whatever rules are set meanwhile, a bucket holds what plain addition says, and calls are
// repeated as often as it pays for.
func TestModelOfTheTokenBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { rapid.Check(inBubble{t}, func(r *rapid.T) { tokensByAddition(t, r) }) })
}

func drawBucket(t *rapid.T) resilient.TokenBucket {
	r := resilient.TokenBucket{Capacity: rapid.IntRange(1, 60).Draw(t, "capacity")}
	r.RetryCost = rapid.IntRange(1, r.Capacity).Draw(t, "cost")
	r.ThrottledCost = rapid.IntRange(1, r.Capacity).Draw(t, "throttled cost")
	r.Refill = rapid.IntRange(0, r.Capacity).Draw(t, "refill")
	return r
}

func tokensByAddition(tb testing.TB, t *rapid.T) {
	rule := drawBucket(t)
	b, err := resilient.NewBudget(rule)
	require.NoError(t, err)
	level := rule.Capacity
	const most = 4
	g := newGuard(tb, steady(drawsOn, noDelay, attempts(most)), sharing(b))
	t.Repeat(map[string]func(*rapid.T){
		"": func(t *rapid.T) { require.Equal(t, level, left(b)) },
		"rule": func(t *rapid.T) {
			next := drawBucket(t)
			require.NoError(t, b.SetRule(next))
			level = level * next.Capacity / rule.Capacity
			rule = next
		},
		"call": func(t *rapid.T) {
			ends := rapid.SliceOfN(rapid.SampledFrom([]error{nil, errDown, resilient.Throttled(errDown), resilient.Permanent(errDown)}), most, most).Draw(t, "ends")
			expected, paid := 0, 0
			for n, end := range ends {
				expected++
				if end == nil {
					level = min(rule.Capacity, level+map[bool]int{true: rule.Refill, false: paid}[n == 0])
					break
				}
				paid = rule.RetryCost
				if resilient.MarksOf(end).Throttled {
					paid = rule.ThrottledCost
				}
				if resilient.MarksOf(end).Permanent || n == most-1 || level < paid {
					break
				}
				level -= paid
			}
			calls := 0
			_ = resilient.Do(context.Background(), g, get, func(context.Context) error {
				calls++
				return ends[calls-1]
			})
			require.Equal(t, expected, calls)
		},
	})
}

// The same for a ratio, whose model keeps the moments of all calls and retries.
func TestModelOfTheCallRatio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { rapid.Check(inBubble{t}, func(r *rapid.T) { ratioByCounting(t, r) }) })
}

func ratioByCounting(tb testing.TB, t *rapid.T) {
	hundredths := rapid.IntRange(0, 100).Draw(t, "ratio")
	rule := resilient.CallRatio{
		Ratio:  float64(hundredths) / 100,
		Window: time.Duration(rapid.IntRange(1, 5).Draw(t, "window")) * time.Second,
		Floor:  rapid.IntRange(0, 3).Draw(t, "floor"),
	}
	b, err := resilient.NewBudget(rule)
	require.NoError(t, err)
	began, slot := time.Now(), rule.Window/10
	time.Sleep(time.Duration(rapid.IntRange(0, 3).Draw(t, "pause")) * time.Second)
	guards := []*resilient.Guard{ // made at different times: their clocks begin apart
		newGuard(tb, steady(drawsOn, delay(time.Second/5), attempts(3)), sharing(b)),
	}
	time.Sleep(time.Second / 3)
	guards = append(guards, newGuard(tb, steady(drawsOn, noDelay, attempts(5)), sharing(b)))

	var calls, retries []int64 // the slots of each
	now := func() int64 { return int64(time.Since(began) / slot) }
	within := func(all []int64) (n int) {
		for _, at := range all {
			if at > now()-10 {
				n++
			}
		}
		return n
	}
	allowed := func() int { return max(rule.Floor, within(calls)*hundredths/100) }
	t.Repeat(map[string]func(*rapid.T){
		"": func(t *rapid.T) {
			require.Equal(t, resilient.BudgetSnapshot{
				Rule: rule, Calls: within(calls), Retries: within(retries), Left: max(0, allowed()-within(retries)),
			}, b.Snapshot())
		},
		"wait": func(t *rapid.T) {
			time.Sleep(time.Duration(rapid.IntRange(1, 2000).Draw(t, "ms")) * time.Millisecond)
		},
		"rule": func(t *rapid.T) {
			hundredths = rapid.IntRange(0, 100).Draw(t, "ratio")
			rule.Ratio = float64(hundredths) / 100
			rule.Floor = rapid.IntRange(0, 3).Draw(t, "floor")
			require.NoError(t, b.SetRule(rule))
		},
		"call": func(t *rapid.T) {
			g := rapid.SampledFrom(guards).Draw(t, "guard")
			failures := rapid.IntRange(0, 5).Draw(t, "failures")
			made := 0
			_ = resilient.Do(context.Background(), g, get, func(context.Context) error {
				made++
				if made == 1 {
					calls = append(calls, now())
				}
				if made > failures {
					return nil
				}
				// What the budget is about to decide, said before it does: no time passes until then.
				if made < g.Policy().Retry.MaxAttempts && within(retries) < allowed() {
					retries = append(retries, now())
				} else {
					failures = -made // no further attempt
				}
				return errDown
			})
			if failures < 0 {
				require.Equal(t, -failures, made)
			} else {
				require.Equal(t, failures+1, made)
			}
		},
	})
}
