package redisstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// All names come back as they went in (P119, A41), from one namespace, and from more keys
// than one page has; what else is there is no circuit, and nothing is made (A81).
func TestList(t *testing.T) {
	s := startRedis(t)
	store, other := s.store(nil), s.store(&redisstore.Options{Namespace: "stoi"})
	names, err := store.List(context.Background())
	require.NoError(t, err)
	assert.Empty(t, names)

	want := slices.Sorted(slices.Values(append([]string{"-", "-a", ":{-a}", "a}:probe"}, oddNames...)))
	for _, name := range want {
		trip(t, store, name)
		require.NoError(t, redisstore.Touch(store, name))
	}
	trip(t, other, "elsewhere")
	s.do("EVAL", "for i = 1, 3000 do redis.call('SET', 'app:' .. i, 1) end return 1", 0)
	s.do("MSET", "stoic:{odd", 1, "stoic:odd}", 1, "stoic::odd}", 1, "stoic", 1)
	size := s.do("DBSIZE")
	names, err = store.List(context.Background())
	require.NoError(t, err)
	assert.Equal(t, want, names)

	for name, want := range map[string]bool{"plan_service": true, "": true, "plan_servic": false, "plan_service:probe": false, "elsewhere": false} {
		known, err := store.Knows(context.Background(), name)
		require.NoError(t, err)
		assert.Equal(t, want, known, name)
	}
	assert.Equal(t, size, s.do("DBSIZE"))
}

// A Redis that is gone is an error, and no empty list.
func TestListWithoutRedis(t *testing.T) {
	store, err := redisstore.Open("redis://user:F4KE@"+freeAddr(t), &redisstore.Options{Timeout: time.Second, Logger: quietLogger()})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	_, err = store.List(context.Background())
	require.ErrorContains(t, err, "redisstore: list: ")
	assert.NotContains(t, err.Error(), "F4KE")
	_, err = store.Knows(context.Background(), "x")
	assert.Error(t, err)
}
