package redisstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

var everyKind = []breaker.Kind{breaker.Read, breaker.Acquire, breaker.Settle, breaker.Vote, breaker.Operate}

// What is stored and makes no sense is not obeyed, is told, and is written anew (A41).
func TestGarbled(t *testing.T) {
	s := startRedis(t)
	garblings := map[string]func(key string){
		"another type":    func(key string) { s.do("DEL", key); s.do("SET", key, "open") },
		"no version":      func(key string) { s.do("HDEL", key, "v") },
		"odd version":     func(key string) { s.do("HSET", key, "v", "one") },
		"a field less":    func(key string) { s.do("HDEL", key, "since") },
		"no number":       func(key string) { s.do("HSET", key, "failures", "many") },
		"negative":        func(key string) { s.do("HSET", key, "round", "-1") },
		"fraction":        func(key string) { s.do("HSET", key, "since", "1.5") },
		"exponent":        func(key string) { s.do("HSET", key, "since", "1e3") },
		"too large":       func(key string) { s.do("HSET", key, "round", "9007199254740993") },
		"empty":           func(key string) { s.do("HSET", key, "round", "") },
		"unknown state":   func(key string) { s.do("HSET", key, "state", "3") },
		"unknown force":   func(key string) { s.do("HSET", key, "force", "4") },
		"too many probes": func(key string) { s.do("HSET", key, "limit", "101") },
		"too much wanted": func(key string) { s.do("HSET", key, "needed", "9007199254740991") },
		"a hold too long": func(key string) { s.do("HSET", key, "hold", "86400000001") },
		"no such token":   func(key string) { s.do("HSET", key, "leases", "18446744073709551616:2:3") },
		"a long token":    func(key string) { s.do("HSET", key, "leases", "100000000000000000000000:2:3") },
		"odd leases":      func(key string) { s.do("HSET", key, "leases", "1:2") },
		"odd votes":       func(key string) { s.do("HSET", key, "votes", "a:1:2") },
		"odd IDs":         func(key string) { s.do("HSET", key, "seen", "1,x") },
		"somebody else's": func(key string) { s.do("DEL", key); s.do("HSET", key, "state", "open") },
	}
	for name, garble := range garblings {
		t.Run(name, func(t *testing.T) {
			d := &diary{}
			store := s.store(&redisstore.Options{OnEvent: d.note})
			s.do("FLUSHALL")
			before := trip(t, store, "odd")
			garble("stoic:{odd}")
			for _, kind := range everyKind {
				_, err := store.Do(context.Background(), "odd", breaker.Command{Kind: kind, ID: 5, Settings: small()})
				require.ErrorIs(t, err, breaker.ErrGarbled, "%s", kind)
			}
			rebuild := breaker.Command{Kind: breaker.Rebuild, ID: 6, Settings: small(), Failures: 2, Cause: "down"}
			rebuild.View = breaker.Machine{Beneath: breaker.Open, Generation: 2, Round: 1 << 63, LastFailure: 10 * time.Second, Since: 10 * time.Second}
			made := do(t, store, "odd", rebuild)
			assert.Equal(t, breaker.Open, made.Record.Beneath)
			assert.Greater(t, made.Record.Round, before.Record.Round)
			assert.Equal(t, 2, made.Record.Generation)
			assert.Equal(t, 2, made.Record.Failures)
			assert.Equal(t, "down", made.Record.Cause)
			assert.Equal(t, made.Now-10*time.Second, made.Record.LastFailure)
			assert.Equal(t, made.Now-10*time.Second, made.Record.Since)
			assert.Zero(t, made.Record.LastHalfOpen)
			assert.Equal(t, made.Record, do(t, store, "odd", read()).Record)
			again := rebuild
			again.View.Beneath = breaker.Closed
			assert.Equal(t, made.Record, do(t, store, "odd", again).Record, "what makes sense is left alone")
			assert.Equal(t, []redisstore.EventKind{redisstore.Garbled}, d.kinds(), "told once, and no fault of Redis")
		})
	}
}

// Redis writes anew what breaker.Command.Rebuilt says, be it whatever state.
func TestRebuiltAsTheRulesSay(t *testing.T) {
	s := startRedis(t)
	store := s.store(nil)
	for _, state := range []breaker.State{breaker.Closed, breaker.Open, breaker.HalfOpen} {
		for _, hold := range []time.Duration{0, time.Minute, 48 * time.Hour} {
			s.do("FLUSHALL")
			s.do("SET", "stoic:{odd}", "open")
			rebuild := breaker.Command{Kind: breaker.Rebuild, ID: 6, Settings: small(), Failures: 2, Cause: "down"}
			rebuild.View = breaker.Machine{Beneath: state, Generation: 2, Round: 7, LastFailure: time.Minute, LastHalfOpen: time.Second, Hold: hold}
			made := do(t, store, "odd", rebuild)
			want, _ := rebuild.Rebuilt(made.Now)
			assert.Equal(t, told(want), told(made.Record), "%v, %v", state, hold)
		}
	}
}

// What a later version has written is left alone.
func TestNewerVersion(t *testing.T) {
	s := startRedis(t)
	d := &diary{}
	store := s.store(&redisstore.Options{OnEvent: d.note})
	s.do("HSET", "stoic:{new}", "v", "2", "anything", "else")
	for _, kind := range append(everyKind, breaker.Rebuild) {
		_, err := store.Do(context.Background(), "new", breaker.Command{Kind: kind, ID: 5, Settings: small()})
		require.ErrorIs(t, err, redisstore.ErrNewer)
		require.NotErrorIs(t, err, breaker.ErrGarbled)
	}
	stored, err := s.client.HGetAll(context.Background(), "stoic:{new}").Result()
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"v": "2", "anything": "else"}, stored)
	assert.Equal(t, []redisstore.EventKind{redisstore.Newer}, d.kinds())
}

// Times that lie ahead of the clock of Redis count as now, and that is told (A37).
func TestClamped(t *testing.T) {
	s := startRedis(t)
	d := &diary{}
	store := s.store(&redisstore.Options{OnEvent: d.note})
	opened := trip(t, store, "ahead")
	ahead := (opened.Now + time.Hour).Microseconds()
	s.do("HSET", "stoic:{ahead}", "last_failure", ahead)
	answer := do(t, store, "ahead", read())
	assert.True(t, answer.Clamped)
	assert.Equal(t, answer.Now, answer.Record.LastFailure)
	assert.False(t, do(t, store, "ahead", read()).Clamped, "it was put right")
	s.do("HSET", "stoic:{ahead}", "last_failure", ahead)
	assert.True(t, do(t, store, "ahead", read()).Clamped)
	assert.Equal(t, []redisstore.EventKind{redisstore.Clamped}, d.kinds(), "told once in a while")
}
