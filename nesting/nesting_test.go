package nesting_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/nesting"
)

// call is a context that carries a scope itself, as the contexts of guarded
// calls do: Outer looks the key up in the context the call was made with.
type call struct {
	context.Context
	service, operation string
	retrying           bool
	returned           atomic.Bool
}

func (c *call) Service() string      { return c.service }
func (c *call) Operation() string    { return c.operation }
func (c *call) Running() bool        { return !c.returned.Load() }
func (c *call) Retrying() bool       { return c.retrying }
func (c *call) Outer() nesting.Scope { return nesting.From(c.Context) }

func (c *call) Value(key any) any {
	if key == (nesting.Key{}) {
		return c
	}
	return c.Context.Value(key)
}

func once(ctx context.Context, service, operation string) *call {
	return &call{Context: ctx, service: service, operation: operation}
}

func retrying(ctx context.Context, service, operation string) *call {
	c := once(ctx, service, operation)
	c.retrying = true
	return c
}

func returned(c *call) *call {
	c.returned.Store(true)
	return c
}

type valueKey struct{}

func TestScopesOfAContext(t *testing.T) {
	background := context.Background()
	tests := []struct {
		name       string
		ctx        context.Context
		underRetry bool
		path       []string
	}{
		{name: "nil context", ctx: nil},
		{name: "no call", ctx: background},
		{name: "a foreign value under the key", ctx: context.WithValue(background, nesting.Key{}, "no scope")},
		{
			name: "one call without retry",
			ctx:  once(background, "plans", "apply"), path: []string{"plans.apply"},
		},
		{
			name: "R9 one call that retries",
			ctx:  retrying(background, "plans", "get"), underRetry: true, path: []string{"plans.get"},
		},
		{
			name: "R9 the call in between takes nothing away",
			ctx:  once(retrying(background, "plans", "get"), "store", "read"), underRetry: true,
			path: []string{"plans.get", "store.read"},
		},
		{
			name: "R9 the inner call retries, the outer one does not",
			ctx:  retrying(once(background, "plans", "get"), "store", "read"), underRetry: true,
			path: []string{"plans.get", "store.read"},
		},
		{
			name: "R9 a call that has returned counts no more",
			ctx:  returned(retrying(background, "plans", "get")),
		},
		{
			name: "R9 a returned call inside a running one is passed over",
			ctx:  returned(once(retrying(background, "plans", "get"), "store", "read")), underRetry: true,
			path: []string{"plans.get"},
		},
		{
			name: "R9 a running call inside a returned one stands alone",
			ctx:  once(returned(retrying(background, "plans", "get")), "store", "read"),
			path: []string{"store.read"},
		},
		{
			name: "derived contexts keep the scope",
			ctx:  context.WithValue(retrying(background, "plans", "get"), valueKey{}, 1), underRetry: true,
			path: []string{"plans.get"},
		},
		{
			name: "an operation without a name",
			ctx:  once(background, "plans", ""), path: []string{"plans"},
		},
		{
			name: "detached",
			ctx:  nesting.Detach(retrying(background, "plans", "get")),
		},
		{
			name: "a call made in a detached context",
			ctx:  once(nesting.Detach(retrying(background, "plans", "get")), "jobs", "sweep"),
			path: []string{"jobs.sweep"},
		},
		{
			name: "the other order: a detached context without the outer call's cancellation",
			ctx:  context.WithoutCancel(nesting.Detach(retrying(background, "plans", "get"))),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.underRetry, nesting.UnderRetry(test.ctx))
			assert.Equal(t, test.path, nesting.Path(test.ctx))
			assert.Equal(t, len(test.path), nesting.Depth(test.ctx))
		})
	}
}

func TestFromIsTheInnermostScope(t *testing.T) {
	outer := retrying(context.Background(), "plans", "get")
	inner := once(context.WithValue(outer, valueKey{}, 1), "store", "read")

	assert.Same(t, inner, nesting.From(inner))
	assert.Same(t, outer, nesting.From(inner).Outer())
	assert.Nil(t, nesting.From(inner).Outer().Outer())
	assert.Nil(t, nesting.From(context.Background()))
}

// R9: a job keeps its context after the call it came from has returned. From
// then on it retries on its own; before, the call above could still repeat it.
func TestAJobThatOutlivesItsCallMayRetry(t *testing.T) {
	above := retrying(context.Background(), "plans", "get")
	job := context.WithoutCancel(above)
	assert.True(t, nesting.UnderRetry(job))

	above.returned.Store(true)
	assert.False(t, nesting.UnderRetry(job))
	assert.NotNil(t, nesting.From(job), "the scope is still there; it just does not count")
}

func TestDetachKeepsEverythingButTheScope(t *testing.T) {
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(context.Background(), valueKey{}, "kept"), deadline)
	defer cancel()

	detached := nesting.Detach(retrying(ctx, "plans", "get"))

	assert.Equal(t, "kept", detached.Value(valueKey{}))
	got, ok := detached.Deadline()
	require.True(t, ok)
	assert.True(t, deadline.Equal(got))

	child, cancelChild := context.WithCancel(detached)
	defer cancelChild()
	cancel()
	<-child.Done()
	assert.ErrorIs(t, detached.Err(), context.Canceled)
}

func TestDetachWithoutAScopeChangesNothing(t *testing.T) {
	ctx := context.WithValue(context.Background(), valueKey{}, 1)
	assert.Equal(t, ctx, nesting.Detach(ctx))
	//lint:ignore SA1012 the nil context is the case under test
	assert.Nil(t, nesting.Detach(nil))

	once := nesting.Detach(retrying(ctx, "plans", "get"))
	assert.Same(t, once, nesting.Detach(once))
}

func TestPathBelongsToTheCaller(t *testing.T) {
	ctx := once(context.Background(), "plans", "get")
	nesting.Path(ctx)[0] = "changed"
	assert.Equal(t, []string{"plans.get"}, nesting.Path(ctx))
}

func TestAskingAllocatesNothing(t *testing.T) {
	var ctx context.Context = once(once(once(context.Background(), "a", "x"), "b", "y"), "c", "z")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = nesting.From(ctx)
		_ = nesting.UnderRetry(ctx)
		_ = nesting.Depth(ctx)
	}))
}

func TestConcurrentUse(t *testing.T) {
	above := retrying(context.Background(), "plans", "get")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for nesting.UnderRetry(above) {
				_ = nesting.Path(nesting.Detach(above))
			}
			assert.Zero(t, nesting.Depth(above))
		})
	}
	above.returned.Store(true)
	group.Wait()
}
