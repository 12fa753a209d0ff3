package policies_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// R8, P103: many ask at once, for the same and for other names; each name has one
// guard, and so one circuit.
func TestOneGuardPerName(t *testing.T) {
	reg := fromOverrides(t, `{"named":{"total_timeout":9}}`)
	names := []string{"named", "plan_service", "lazy", "lazier", "laziest"}
	const callers = 100
	got := make([][]*resilient.Guard, callers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			<-start
			for j := range names {
				name := names[(i+j)%len(names)]
				got[i] = append(got[i], reg.Guard(name))
				reg.Names()
				reg.Findings()
				reg.Policy(name)
				reg.Explain(name)
				_, ok := reg.Lookup(name)
				assert.True(t, ok)
			}
		})
	}
	close(start)
	wg.Wait()
	for i := range got {
		for j, guard := range got[i] {
			name := names[(i+j)%len(names)]
			require.NotNil(t, guard)
			assert.Same(t, reg.Guard(name), guard)
			assert.Equal(t, name, guard.Name())
			assert.Same(t, reg.Guard(name).Circuit(), guard.Circuit())
		}
	}
	assert.NotSame(t, reg.Guard("lazy"), reg.Guard("lazier"))
	assert.Len(t, reg.Names(), 11+1+3)
}

// P103: no lock is held while foreign code runs, here a logger that uses the
// registry.
func TestLoggerMayUseTheRegistry(t *testing.T) {
	var reg *policies.Registry
	calls := 0
	logger := slog.New(slog.NewTextHandler(writer(func() {
		calls++
		if reg != nil {
			reg.Guard("other")
			reg.Names()
			reg.Findings()
		}
	}), nil))
	var err error
	reg, err = policies.Load(policies.Config{}, &policies.Options{
		Options: resilient.Options{Logger: logger}, MaxLazyGuards: 1,
	})
	require.NoError(t, err)
	reg.Guard("first")
	reg.Guard("second")
	assert.Equal(t, 1, calls)
}

type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

// Beyond the bound further names share one guard, and that is reported once.
func TestBoundOfLazyGuards(t *testing.T) {
	options, out := logged()
	reg, err := policies.Load(policies.Config{}, &policies.Options{Options: options, MaxLazyGuards: 2})
	require.NoError(t, err)
	one, two := reg.Guard("one"), reg.Guard("two")
	assert.Empty(t, reg.Findings())
	assert.NotContains(t, reg.Names(), policies.SharedGuard)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			shared := reg.Guard(fmt.Sprint("further ", i))
			assert.Same(t, reg.Guard(policies.SharedGuard), shared)
			assert.Equal(t, policies.SharedGuard, shared.Name())
		})
	}
	wg.Wait()
	assert.Same(t, one, reg.Guard("one"))
	assert.Same(t, two, reg.Guard("two"))
	assert.NotSame(t, reg.Guard("plan_service"), reg.Guard("further 1"), "registered ones are not counted")
	assert.Equal(t, []brief{{"", policies.SharedGuard, policies.KindLimit}}, briefs(reg.Findings()))
	assert.False(t, reg.Findings()[0].Skipped())
	assert.Equal(t, 1, strings.Count(out.String(), "\n"))
	assert.Contains(t, reg.Names(), policies.SharedGuard)
	assert.NotContains(t, reg.Names(), "further 1")
	_, ok := reg.Lookup("further 1")
	assert.False(t, ok)
	shared, ok := reg.Lookup(policies.SharedGuard)
	assert.True(t, ok)
	assert.Same(t, reg.Guard("further 1"), shared)
}

// The bound is 10 000 where nothing else is said.
func TestDefaultBound(t *testing.T) {
	reg := fromEnv(t, nil)
	for i := range 10_000 {
		reg.Guard(fmt.Sprint(i))
	}
	assert.Empty(t, reg.Findings())
	assert.Len(t, reg.Names(), 11+10_000)
	reg.Guard("one more")
	assert.Len(t, reg.Findings(), 1)
	assert.Len(t, reg.Names(), 11+10_000+1)
}

func TestGuardIsNeverNil(t *testing.T) {
	reg := fromEnv(t, nil)
	assert.Same(t, reg.Guard(policies.SharedGuard), reg.Guard(""))
	assert.Empty(t, reg.Findings())
	assert.Len(t, reg.Names(), 11, "an empty name takes no place")
	for _, name := range []string{" ", "\x00", "\xff", "\n", strings.Repeat("x", 100_000), "http://u:p@host"} {
		require.NotNil(t, reg.Guard(name))
		assert.Same(t, reg.Guard(name), reg.Guard(name))
	}
}

// The shared guard has a name, and so it can have an override.
func TestOverrideOfTheSharedGuard(t *testing.T) {
	reg := fromOverrides(t, `{"(others)":{"total_timeout":9}}`)
	assert.Empty(t, reg.Findings())
	assert.Equal(t, seconds(9), reg.Guard("").Policy().TotalTimeout)
	assert.Same(t, reg.Guard(policies.SharedGuard), reg.Guard(""))
	assert.Len(t, reg.Names(), 12)
}

// A81: asking makes nothing.
func TestLookupNeverCreates(t *testing.T) {
	reg := fromEnv(t, nil)
	before := reg.Names()
	guard, ok := reg.Lookup("paymnets")
	assert.False(t, ok)
	assert.Nil(t, guard)
	assert.Equal(t, changed(nil), reg.Policy("paymnets"))
	assert.True(t, reg.Explain("paymnets").Fallback)
	assert.Equal(t, before, reg.Names())

	made := reg.Guard("paymnets")
	found, ok := reg.Lookup("paymnets")
	assert.True(t, ok)
	assert.Same(t, made, found)
	assert.IsIncreasing(t, reg.Names())
}

func TestCallersOwnWhatTheyGet(t *testing.T) {
	reg := fromOverrides(t, `{"x":3}`)
	reg.Names()[0] = "changed"
	reg.Findings()[0].Service = "changed"
	assert.NotContains(t, reg.Names(), "changed")
	assert.Equal(t, "x", reg.Findings()[0].Service)
}

// A look-up allocates nothing, be the guard registered or lazy.
func TestLookupsAllocateNothing(t *testing.T) {
	reg := fromEnv(t, nil)
	for _, name := range []string{"plan_service", "lazy", ""} {
		reg.Guard(name)
		assert.Zero(t, testing.AllocsPerRun(100, func() { reg.Guard(name) }), name)
	}
}
