package redisstore_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// News come from other processes, for each odd name, and what is missed is read.
func TestNews(t *testing.T) {
	s := startRedis(t)
	teller, listener := s.store(nil), s.store(nil)
	trip(t, teller, "before")
	run(t, listener)
	ears := map[string]*ear{}
	for _, name := range append(oddNames, "before") {
		ears[name] = &ear{}
		listener.Watch(name, ears[name].hear)
	}
	for name, e := range ears {
		eventually(t, e.live, name)
		first := e.last()
		require.NotNil(t, first.Answer, name)
		assert.True(t, first.Fresh, "%q is read once news arrive", name)
	}
	assert.Equal(t, breaker.Open, ears["before"].state())
	for _, name := range oddNames {
		opened := trip(t, teller, name)
		eventually(t, func() bool { return ears[name].state() == breaker.Open }, name)
		last := ears[name].last()
		assert.False(t, last.Fresh)
		assert.True(t, last.Live)
		assert.Equal(t, told(opened.Record), told(last.Answer.Record), "%q", name)
	}
}

// What is told: each transition, the first failure, a place given back, votes, orders;
// and nothing else.
func TestWhatIsTold(t *testing.T) {
	s := startRedis(t)
	teller, listener := s.store(nil), s.store(nil)
	run(t, listener)
	e := &ear{}
	listener.Watch("told", e.hear)
	eventually(t, e.live, "no news")
	known := e.count()
	tells := func(yes bool, what string, c breaker.Command) breaker.Answer {
		t.Helper()
		answer := do(t, teller, "told", c)
		if yes {
			known++
		}
		// What comes in order after it shows that there was no more.
		do(t, teller, "told", operate(breaker.Order{}))
		known++
		eventually(t, func() bool { return e.count() >= known }, what)
		require.Equal(t, known, e.count(), what)
		return answer
	}
	policy := func(c breaker.Command) breaker.Command {
		c.Settings.FailureThreshold, c.Settings.MaxProbes, c.Settings.SuccessesToClose = 3, 2, 2
		c.Settings.MinReporters = 2
		return c
	}
	tells(false, "a read", policy(read()))
	tells(false, "a permit of a closed circuit", policy(acquire()))
	tells(false, "a success without failures", policy(settle(0, 0, breaker.Success)))
	tells(true, "the first failure", policy(settle(0, 0, breaker.Failure)))
	tells(false, "the second failure", policy(settle(0, 0, breaker.Failure)))
	opened := tells(true, "the last failure", policy(settle(0, 0, breaker.Failure)))
	require.Equal(t, breaker.Open, opened.Record.Beneath)
	tells(false, "a rejection", policy(acquire()))
	s.do("HSET", "stoic:{told}", "last_failure", "1")
	permit := policy(acquire())
	round := tells(true, "half-open", permit).Record.Round
	other := policy(acquire())
	tells(false, "a second probe", other)
	tells(true, "a neutral probe", policy(settle(round, permit.ID, breaker.Neutral)))
	tells(true, "a success that is not enough", policy(settle(round, other.ID, breaker.Success)))
	last := policy(acquire())
	tells(false, "another probe", last)
	tells(false, "a late success", policy(settle(round, permit.ID, breaker.Success)))
	closed := tells(true, "closed", policy(settle(round, last.ID, breaker.Success)))
	require.Equal(t, breaker.Closed, closed.Record.Beneath)
	vote := policy(breaker.Command{Kind: breaker.Vote, ID: lastID.Add(1), Settings: small(), Round: closed.Record.Round, Replica: 1})
	tells(true, "a vote", vote)
	tells(false, "the same again", vote)
}

// Nothing that somebody else publishes does any harm.
func TestGarbagePushes(t *testing.T) {
	s := startRedis(t)
	store := s.store(nil)
	run(t, store)
	e := &ear{}
	store.Watch("x", e.hear)
	eventually(t, e.live, "no news")
	for _, payload := range []string{
		"", "x", "1:x", "1:x,", "-1:x,", "99999999999999999999:x,", "9:x,", ":,", "[\"x\"]", "1:x,1:1,", "\x00\xff",
		"1:x,1:0,1:0,1:0,1:0,1:9,1:9,1:0,1:0,1:0,1:0,1:0,1:0,1:0,1:0,1:0,1:0,1:0,1:0,1:0,1:0,0:,0:,0:,0:,",
	} {
		s.do("PUBLISH", "stoic:news", payload)
	}
	trip(t, store, "x")
	eventually(t, func() bool { return e.state() == breaker.Open }, "no news")
	assert.Equal(t, 3, e.count(), "read, first failure, open")
}

// A message that was under way when the state was read is not taken for news.
func TestOldMessages(t *testing.T) {
	s := startRedis(t)
	store := s.store(nil)
	messages := s.client.Subscribe(context.Background(), "stoic:news")
	defer func() { _ = messages.Close() }()
	_, err := messages.Receive(context.Background())
	require.NoError(t, err)
	trip(t, store, "x")
	var old []string
	for range 2 {
		m, err := messages.ReceiveMessage(context.Background())
		require.NoError(t, err)
		old = append(old, m.Payload)
	}
	s.do("FLUSHALL")
	run(t, store)
	e := &ear{}
	store.Watch("x", e.hear)
	eventually(t, e.live, "no news")
	for _, payload := range old {
		s.do("PUBLISH", "stoic:news", payload)
	}
	do(t, store, "x", operate(breaker.Order{Reset: true}))
	eventually(t, func() bool { return e.count() > 1 }, "no news")
	assert.Equal(t, 2, e.count())
}

// Two at a time make no sense; one after the other do. Nothing is left behind.
func TestRunEnds(t *testing.T) {
	s := startRedis(t)
	store := s.store(nil)
	e := &ear{}
	store.Watch("x", e.hear)
	for i := range 3 {
		stop := run(t, store)
		eventually(t, e.live, "no news")
		require.ErrorContains(t, store.Run(context.Background()), "runs already")
		stop()
		assert.Equal(t, breaker.News{}, e.last(), "circuits know that no news come any more")
		eventually(t, func() bool { return goroutines() == "" }, "a goroutine is left")
		eventually(t, func() bool { return s.do("CLIENT", "LIST", "TYPE", "pubsub") == "" }, "a connection is left")
		assert.Equal(t, 2*(i+1), e.count())
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, store.Run(ended))
}

// Run returns when the store is closed under it.
func TestRunOfAClosedStore(t *testing.T) {
	s := startRedis(t)
	store := s.store(nil)
	e := &ear{}
	store.Watch("x", e.hear)
	result := make(chan error, 1)
	go func() { result <- store.Run(context.Background()) }()
	eventually(t, e.live, "no news")
	require.NoError(t, store.Close())
	select {
	case err := <-result:
		require.ErrorContains(t, err, "closed")
	case <-time.After(soon):
		t.Fatal("Run does not end")
	}
	assert.Equal(t, breaker.News{}, e.last())
	eventually(t, func() bool { return goroutines() == "" }, "a goroutine is left")
	require.ErrorContains(t, store.Run(context.Background()), "closed")
}

// A connection through which nothing comes any more is noticed, within twice MaxViewAge,
// and replaced.
func TestBlackHole(t *testing.T) {
	s := startRedis(t)
	p := startProxy(t, s.addr)
	d := &diary{}
	const age = 150 * time.Millisecond
	store, err := redisstore.Open("redis://"+p.addr, &redisstore.Options{Timeout: 5 * time.Second, MaxViewAge: age, OnEvent: d.note, Logger: quietLogger()})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	run(t, store)
	e := &ear{}
	store.Watch("x", e.hear)
	eventually(t, e.live, "no news")
	p.blackHole()
	began, before := time.Now(), e.count()
	trip(t, s.store(nil), "x")
	eventually(t, func() bool { return e.count() > before }, "the black hole is not noticed")
	assert.Less(t, time.Since(began), 2*age+slack)
	eventually(t, func() bool { return e.live() && e.state() == breaker.Open }, "no news again")
	assert.Empty(t, d.kinds(), "one connection that broke is nothing to tell")
}

// Where news never arrive though Redis answers, that is told, once, and its end.
func TestDeaf(t *testing.T) {
	s := startRedis(t)
	s.do("ACL", "SETUSER", "default", "resetchannels")
	d := &diary{}
	store := s.store(&redisstore.Options{MaxViewAge: 50 * time.Millisecond, OnEvent: d.note})
	run(t, store)
	eventually(t, func() bool { return len(d.kinds()) > 0 }, "it is not told")
	do(t, store, "x", settle(0, 0, breaker.Failure))
	assert.ErrorContains(t, d.events[0].Err, "NOPERM")
	s.do("ACL", "SETUSER", "default", "allchannels")
	eventually(t, func() bool { return len(d.kinds()) > 1 }, "its end is not told")
	assert.Equal(t, []redisstore.EventKind{redisstore.Deaf, redisstore.Hearing}, d.kinds())
}

// A server that is killed again and again leaves nothing behind, and each time there is
// one view again soon after it is back.
func TestKilledAndRestarted(t *testing.T) {
	s := startRedis(t)
	d := &diary{}
	store := s.store(&redisstore.Options{Timeout: time.Second, MaxViewAge: 100 * time.Millisecond, OnEvent: d.note})
	e := &ear{}
	store.Watch("x", e.hear)
	stop := run(t, store)
	for range 3 {
		eventually(t, e.live, "no news")
		s.kill()
		eventually(t, func() bool { return !e.live() }, "its death is not noticed")
		s.start()
		began := time.Now()
		eventually(t, e.live, "no news again")
		assert.Less(t, time.Since(began), 2*time.Second+slack)
	}
	stop()
	eventually(t, func() bool { return goroutines() == "" }, "a goroutine is left")
}

// A circuit that panics on its news, and a listener that does, are on their own.
func TestPanics(t *testing.T) {
	s := startRedis(t)
	var events atomic.Int64
	store := s.store(&redisstore.Options{OnEvent: func(redisstore.Event) { events.Add(1); panic("listener") }})
	run(t, store)
	e := &ear{}
	store.Watch("x", func(breaker.News) { panic("circuit") })
	store.Watch("x", e.hear)
	eventually(t, e.live, "no news")
	s.do("SET", "stoic:{x}", "garbage")
	_, err := store.Do(context.Background(), "x", read())
	require.ErrorIs(t, err, breaker.ErrGarbled)
	assert.EqualValues(t, 1, events.Load())
}

// All circuits are read again though there are many, and no call sends a command.
func TestManyCircuits(t *testing.T) {
	s := startRedis(t)
	store, hook := counted(t, s)
	ears := make([]*ear, 300)
	for i := range ears {
		ears[i] = &ear{}
		store.Watch(string(rune('a'+i)), ears[i].hear)
	}
	run(t, store)
	for _, e := range ears {
		eventually(t, e.live, "no news")
		assert.Equal(t, 1, e.count())
	}
	assert.LessOrEqual(t, hook.commands.Load(), int64(len(ears)+100), "one read each, and the script for those who had to send it")
}

// All circuits are read again from time to time, whatever was missed.
func TestRereading(t *testing.T) {
	s := startRedis(t)
	store := s.store(nil)
	redisstore.Reread(store, 50*time.Millisecond)
	run(t, store)
	e := &ear{}
	store.Watch("x", e.hear)
	trip(t, store, "x")
	eventually(t, func() bool { return e.state() == breaker.Open }, "no news")
	s.do("FLUSHALL") // nobody tells of it
	eventually(t, func() bool { return e.state() == breaker.Closed }, "not read again")
	assert.True(t, e.last().Fresh, "it holds though its round is lower")
	s.do("SCRIPT", "FLUSH")
	before := e.count()
	eventually(t, func() bool { return e.count() > before }, "not read again")
	s.do("SET", "stoic:{x}", "garbage")
	do(t, store, "x", breaker.Command{Kind: breaker.Rebuild, ID: 1, Settings: small(), View: breaker.Machine{Beneath: breaker.Open}})
	eventually(t, func() bool { return e.state() == breaker.Open }, "not read again")
}
