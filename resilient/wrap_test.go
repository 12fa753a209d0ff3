package resilient_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

// store has the shapes in which functions come.
type store struct {
	prefix string
	failed bool
}

func (s *store) Get(_ context.Context, id string) (string, error) {
	if !s.failed {
		s.failed = true
		return "", errDown
	}
	return s.prefix + id, nil
}

func (s *store) Put(ctx context.Context, id string) error {
	_, err := s.Get(ctx, id)
	return err
}

func (s *store) List(ctx context.Context) ([]string, error) {
	one, err := s.Get(ctx, "1")
	return []string{one}, err
}

func (s *store) Ping(ctx context.Context) error { return s.Put(ctx, "") }

// Do makes the store one of those values that have a method for being called.
func (s *store) Do(ctx context.Context) (string, error) { return s.Get(ctx, "done") }

type command struct{ store *store }

func (c command) Call(ctx context.Context, args ...string) (string, error) {
	return c.store.Get(ctx, strings.Join(args, "+"))
}

func lookUp(ctx context.Context, s *store) (string, error) { return s.Get(ctx, "function") }

// R6: whatever can be called can be wrapped, and keeps its signature where it is a common one.
func TestR6Shapes(t *testing.T) {
	g := newGuard(t, steady(noDelay), nil)
	ctx := t.Context()

	getter := (&store{prefix: "a"}).Get
	getter = resilient.Wrap(g, get, getter) // the same signature: it can take the place of the original
	value, err := getter(ctx, "b")
	require.NoError(t, err)
	assert.Equal(t, "ab", value, "a method value")

	function := lookUp
	function = resilient.Wrap(g, get, function)
	value, err = function(ctx, &store{})
	require.NoError(t, err)
	assert.Equal(t, "function", value, "a plain function")

	expression := resilient.Wrap(g, get, func(ctx context.Context, s *store) (string, error) { return (*store).Do(s, ctx) })
	value, err = expression(ctx, &store{})
	require.NoError(t, err)
	assert.Equal(t, "done", value, "a method expression")

	putter := (&store{}).Put
	putter = resilient.WrapErr(g, get, putter)
	require.NoError(t, putter(ctx, "x"))

	lister := (&store{}).List
	lister = resilient.Wrap0(g, get, lister)
	list, err := lister(ctx)
	require.NoError(t, err)
	assert.Equal(t, []string{"1"}, list)

	pinger := (&store{}).Ping
	pinger = resilient.WrapErr0(g, get, pinger)
	require.NoError(t, pinger(ctx))

	doer := &store{}
	value, err = resilient.Execute(ctx, g, get, doer.Do)
	require.NoError(t, err)
	assert.Equal(t, "done", value, "a value with a Do method")

	caller := command{&store{}}
	value, err = resilient.Execute(ctx, g, get, func(ctx context.Context) (string, error) { return caller.Call(ctx, "a", "b") })
	require.NoError(t, err)
	assert.Equal(t, "a+b", value, "a value with a Call method, and a closure over its arguments")

	partial := func(id string) func(context.Context) (string, error) {
		s := &store{prefix: "p"}
		return func(ctx context.Context) (string, error) { return s.Get(ctx, id) }
	}
	value, err = resilient.Wrap0(g, get, partial("q"))(ctx)
	require.NoError(t, err)
	assert.Equal(t, "pq", value, "a closure over some of its arguments")
}

func TestWrappedFunctionsAreIndependentCalls(t *testing.T) {
	g := newGuard(t, steady(noDelay), nil)
	var args []int
	wrapped := resilient.Wrap(g, get, func(ctx context.Context, n int) (int, error) {
		args = append(args, n)
		if resilient.Attempt(ctx) < 2 {
			return 0, errDown
		}
		return n * n, nil
	})
	for n := range 3 {
		value, err := wrapped(t.Context(), n)
		require.NoError(t, err)
		assert.Equal(t, n*n, value)
	}
	assert.Equal(t, []int{0, 0, 1, 1, 2, 2}, args)
}
