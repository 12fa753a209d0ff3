package resilient_test

import (
	"context"
	"log/slog"
	"math"
	"runtime"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Not parallel: the counts are of the whole process.

func TestASuccessAllocatesOnceAtMost(t *testing.T) {
	for name, g := range map[string]*resilient.Guard{
		"default": newGuard(t, resilient.DefaultPolicy(), nil),
		"limits":  newGuard(t, steady(each(sec)), nil),
		"rules":   newGuard(t, steady(byShares), nil),
	} {
		for contextName, ctx := range map[string]context.Context{"background": context.Background(), "test": t.Context()} {
			measure := func(entry string, most float64, call func(captured *int)) {
				t.Helper()
				captured := 0
				allocs := testing.AllocsPerRun(1000, func() { call(&captured) })
				assert.LessOrEqual(t, allocs, most, "%s, %s, %s", entry, name, contextName)
				assert.Equal(t, 1001, captured, "it was really called")
			}
			id := strconv.Itoa(len(name))
			measure("Execute", 1, func(captured *int) {
				text, err := resilient.Execute(ctx, g, get, func(context.Context) (string, error) {
					*captured++
					return id, nil
				})
				if err != nil || text != id {
					panic(err)
				}
			})
			measure("Execute of an op with limits", 1, func(captured *int) {
				_, _ = resilient.Execute(ctx, g, get.WithTotalTimeout(sec).WithAttemptTimeout(sec), func(ctx context.Context) (string, error) {
					*captured++
					return id, ctx.Err()
				})
			})
			measure("Do", 1, func(captured *int) {
				_ = resilient.Do(ctx, g, get, func(context.Context) error {
					*captured++
					return nil
				})
			})

			var into *int
			wrap := resilient.Wrap(g, get, func(_ context.Context, n int) (string, error) { *into += n; return id, nil })
			measure("Wrap", 1, func(captured *int) { into = captured; _, _ = wrap(ctx, 1) })
			wrap0 := resilient.Wrap0(g, get, func(context.Context) (string, error) { *into++; return id, nil })
			measure("Wrap0", 1, func(captured *int) { into = captured; _, _ = wrap0(ctx) })
			wrapErr := resilient.WrapErr(g, get, func(_ context.Context, n int) error { *into += n; return nil })
			measure("WrapErr", 1, func(captured *int) { into = captured; _ = wrapErr(ctx, 1) })
			wrapErr0 := resilient.WrapErr0(g, get, func(context.Context) error { *into++; return nil })
			measure("WrapErr0", 1, func(captured *int) { into = captured; _ = wrapErr0(ctx) })

			measure("Acquire and Settle", 1, func(captured *int) {
				permit, err := g.Acquire(ctx)
				if err != nil || !permit.Settle(nil) {
					panic(err)
				}
				*captured++
			})
			measure("Passthrough", 0, func(captured *int) {
				_ = resilient.Do(ctx, passthrough, get, func(context.Context) error { *captured++; return nil })
			})
		}
	}
}

var passthrough = resilient.Passthrough()

// Every call makes a context, so what it takes is what a busy program's memory is busy with. An op with limits of its
// own takes more, in the same one allocation.
func TestASuccessTakes64Bytes(t *testing.T) {
	g := newGuard(t, steady(), nil)
	const calls = 1000
	least := uint64(math.MaxUint64) // others may allocate meanwhile
	var before, after runtime.MemStats
	for range 10 {
		runtime.ReadMemStats(&before)
		for range calls {
			_ = resilient.Do(context.Background(), g, get, func(context.Context) error { return nil })
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	assert.LessOrEqual(t, least, uint64(calls*64+1000))
}

// With failures on its books a closed circuit counts the success, and allocates no more.
func TestASuccessAfterAFailureAllocatesOnceAtMost(t *testing.T) {
	g := newGuard(t, steady(), nil)
	allocs := testing.AllocsPerRun(1000, func() {
		_ = resilient.Do(context.Background(), g, get, returns(nil))
	})
	_ = resilient.Do(context.Background(), g, apply, returns(errDown))
	after := testing.AllocsPerRun(1000, func() {
		_ = resilient.Do(context.Background(), g, get, func(context.Context) error { return nil })
	})
	assert.LessOrEqual(t, after, max(1, allocs))
}

func TestARejectionAllocatesNothing(t *testing.T) {
	open := newGuard(t, steady(threshold(1)), nil)
	_ = resilient.Do(context.Background(), open, apply, returns(errDown))
	forced := newGuard(t, steady(), nil)
	forced.Circuit().ForceOpen()
	ctx := t.Context()
	for name, g := range map[string]*resilient.Guard{"open": open, "forced": forced} {
		calls := 0
		wrap := resilient.Wrap(g, get, func(context.Context, int) (int, error) { calls++; return 0, nil })
		ways := map[string]func() error{
			"Execute": func() error {
				_, err := resilient.Execute(ctx, g, get, func(context.Context) (int, error) { calls++; return 0, nil })
				return err
			},
			"Do":      func() error { return resilient.Do(ctx, g, get, func(context.Context) error { calls++; return nil }) },
			"Wrap":    func() error { _, err := wrap(ctx, 1); return err },
			"Acquire": func() error { _, err := g.Acquire(ctx); return err },
		}
		for way, call := range ways {
			require.Error(t, call())
			assert.Zero(t, testing.AllocsPerRun(1000, func() { _ = call() }), "%s of %s", way, name)
		}
		assert.Zero(t, calls)
	}
}

func TestANestedCallAllocatesOnceAtMost(t *testing.T) {
	above, below := newGuard(t, steady(), nil), newGuard(t, steady(), nil)
	calls := 0
	_ = resilient.Do(t.Context(), above, get, func(ctx context.Context) error {
		for range 2 {
			allocs := testing.AllocsPerRun(1000, func() {
				_ = resilient.Do(ctx, below, get, func(context.Context) error { calls++; return nil })
			})
			assert.LessOrEqual(t, allocs, 1.0)
			_ = ctx.Done() // and once the outer one has made its timer
		}
		return nil
	})
	assert.Equal(t, 2002, calls)
}

func TestAPermitIsSmall(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(breaker.Permit{}), uintptr(16))
}

func TestGuardsAreCheap(t *testing.T) {
	const n = 10_000
	running, before := runtime.NumGoroutine(), heap()
	guards := make([]*resilient.Guard, 0, n)
	for i := range n {
		g, err := resilient.NewGuard("service "+strconv.Itoa(i), resilient.DefaultPolicy(), nil)
		require.NoError(t, err)
		guards = append(guards, g)
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), running)
	assert.Less(t, heap()-before, int64(10<<20))
	for _, g := range guards { // and after a call, too
		_ = resilient.Do(t.Context(), g, get, returns(nil))
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), running)
	assert.Less(t, heap()-before, int64(n<<10), "under 1 KiB each")
	runtime.KeepAlive(guards)
}

// A budget and a switch cost a success no allocation, and a rejection neither.
func TestBudgetAndSwitchAllocateNothing(t *testing.T) {
	for name, rule := range map[string]resilient.BudgetRule{
		"tokens": resilient.DefaultTokenBucket(), "ratio": resilient.DefaultCallRatio(),
	} {
		options := sharing(budgetOf(t, rule))
		options.Switch = &resilient.Switch{Logger: slog.New(slog.DiscardHandler)}
		g := newGuard(t, steady(drawsOn, threshold(1)), options)
		calls := 0
		success := func() {
			_ = resilient.Do(t.Context(), g, get, func(context.Context) error { calls++; return nil })
		}
		assert.LessOrEqual(t, testing.AllocsPerRun(1000, success), 1.0, name)
		options.Switch.SetCircuits(false)
		assert.LessOrEqual(t, testing.AllocsPerRun(1000, success), 1.0, name)
		options.Switch.SetCircuits(true)
		assert.Equal(t, 2002, calls)
		g.Circuit().ForceOpen()
		assert.Zero(t, testing.AllocsPerRun(1000, success), name)
		assert.Equal(t, 2002, calls)
	}
}

// A call that is given up since its budget is empty allocates what it would without, and no more.
func TestAnEmptyBudgetAllocatesNothing(t *testing.T) {
	measure := func(policy resilient.Policy, options *resilient.Options) float64 {
		g := newGuard(t, policy, options)
		return testing.AllocsPerRun(1000, func() {
			_ = resilient.Do(t.Context(), g, get, returns(errDown))
		})
	}
	empty := budgetOf(t, resilient.CallRatio{Window: time.Hour})
	timeless := measure(steady(total(sec)), nil) // stops before the wait as well, for another reason
	assert.LessOrEqual(t, measure(steady(drawsOn), sharing(empty)), timeless)
}

// FirstOf allocates for the way from one to the next, whether it is taken or not: a constant.
func TestFirstOfAllocatesLittle(t *testing.T) {
	first, second := providerOf(t, "first", nil), providerOf(t, "second", nil)
	a, b := first.says("1", nil), second.says("2", nil)
	call := func() {
		if _, err := resilient.FirstOf(t.Context(), get, a, b); err != nil {
			panic(err)
		}
	}
	answered := testing.AllocsPerRun(1000, call)
	assert.LessOrEqual(t, answered, 4.0)
	first.guard.Circuit().ForceOpen()
	assert.LessOrEqual(t, testing.AllocsPerRun(1000, call), answered+1, "a rejection allocates nothing but the note of it")
}
