package redisstore_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// counted is a store on a client whose commands are counted.
func counted(t *testing.T, s *server) (*redisstore.Store, *counter) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.addr, ContextTimeoutEnabled: true, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	hook := &counter{}
	client.AddHook(hook)
	store, err := redisstore.New(client, &redisstore.Options{Timeout: 5 * time.Second, Logger: quietLogger()})
	require.NoError(t, err)
	return store, hook
}

// Each command is one command of Redis (P105).
func TestOneCommandEach(t *testing.T) {
	s := startRedis(t)
	store, hook := counted(t, s)
	commands := map[string]breaker.Command{
		"read": read(), "acquire": acquire(), "settle": settle(0, 0, breaker.Failure),
		"vote":    {Kind: breaker.Vote, ID: 77, Settings: small(), Replica: 1},
		"operate": operate(breaker.Order{Reset: true}),
		"rebuild": {Kind: breaker.Rebuild, ID: 78, Settings: small()},
	}
	for name, command := range commands {
		do(t, store, "counted", command) // the server learns the script
		before := hook.commands.Load()
		do(t, store, "counted", command)
		assert.EqualValues(t, 1, hook.commands.Load()-before, name)
	}
}

// A healthy circuit is not there, and stays so: nothing is written that says nothing.
func TestHealthyIsAbsent(t *testing.T) {
	s := startRedis(t)
	store := s.store(nil)
	for _, c := range []breaker.Command{read(), acquire(), settle(0, 0, breaker.Success), settle(0, 0, breaker.Neutral), settle(9, 0, breaker.Failure)} {
		do(t, store, "healthy", c)
	}
	assert.EqualValues(t, 0, s.do("DBSIZE"))
	trip(t, store, "open")
	s.do("CONFIG", "RESETSTAT")
	do(t, store, "open", acquire())
	do(t, store, "open", read())
	assert.NotContains(t, s.do("INFO", "commandstats"), "cmdstat_hset", "a rejection writes nothing")
}

// A command whose answer was lost and that is sent again counts once.
func TestLostReplies(t *testing.T) {
	s := startRedis(t)
	store, hook := counted(t, s)
	lost := func(c breaker.Command) breaker.Answer {
		t.Helper()
		hook.lose.Store(true)
		_, err := store.Do(context.Background(), "lost", c)
		require.Error(t, err)
		hook.lose.Store(false)
		return do(t, store, "lost", c)
	}
	do(t, store, "lost", read())
	first := lost(settle(0, 0, breaker.Failure))
	assert.Equal(t, 1, first.Record.Failures)
	assert.True(t, first.Counted)

	opened := lost(settle(0, 0, breaker.Failure))
	assert.Equal(t, breaker.Open, opened.Record.Beneath)
	assert.True(t, opened.Counted)

	s.do("HSET", "stoic:{lost}", "last_failure", "1")
	permit := acquire()
	granted := lost(permit)
	assert.True(t, granted.Granted)
	assert.Len(t, granted.Record.Leases, 1)

	closed := lost(settle(granted.Record.Round, permit.ID, breaker.Success))
	assert.Equal(t, breaker.Closed, closed.Record.Beneath)
	assert.True(t, closed.Counted)
	assert.Greater(t, closed.Record.Round, granted.Record.Round)
}

// TestTimeToLive holds a circuit's life to the end of all that runs in it, and the
// retention (A17).
func TestTimeToLive(t *testing.T) {
	s := startRedis(t)
	store := s.store(&redisstore.Options{Retention: time.Hour})
	ttl := func() time.Duration {
		left, err := s.client.PTTL(context.Background(), "stoic:{ttl}").Result()
		require.NoError(t, err)
		return left.Round(time.Minute)
	}
	do(t, store, "ttl", settle(0, 0, breaker.Failure))
	assert.Equal(t, time.Hour, ttl(), "failures on the books")
	do(t, store, "ttl", settle(0, 0, breaker.Failure))
	assert.Equal(t, time.Hour+time.Minute, ttl(), "open")
	s.do("HSET", "stoic:{ttl}", "last_failure", "1")
	probe := acquire()
	probe.Lease = 30 * time.Minute
	require.True(t, do(t, store, "ttl", probe).Granted)
	assert.Equal(t, 90*time.Minute, ttl(), "a lease")
	do(t, store, "ttl", operate(breaker.Order{Force: breaker.ForceOpen, For: 5 * time.Hour}))
	assert.Equal(t, 6*time.Hour, ttl(), "a force")
	do(t, store, "ttl", operate(breaker.Order{Reset: true}))
	assert.Equal(t, time.Hour, ttl(), "reset writes, and never deletes")
	vote := breaker.Command{Kind: breaker.Vote, ID: 99, Settings: small(), Replica: 1}
	vote.Round = do(t, store, "ttl", read()).Record.Round
	vote.Settings.MinReporters, vote.Settings.RecoveryTimeout = 2, 2*time.Hour
	require.True(t, do(t, store, "ttl", vote).Counted)
	assert.Equal(t, 3*time.Hour, ttl(), "a vote")
}

// A round never comes again, even if all was lost meanwhile.
func TestFlushed(t *testing.T) {
	s := startRedis(t)
	store := s.store(nil)
	before := trip(t, store, "flushed").Record.Round
	s.do("FLUSHALL")
	assert.Equal(t, breaker.Record{}, do(t, store, "flushed", read()).Record)
	late := do(t, store, "flushed", settle(before, 0, breaker.Failure))
	assert.False(t, late.Counted, "a result of a lost round")
	assert.Greater(t, trip(t, store, "flushed").Record.Round, before)
}

// A server that has forgotten the scripts is told them again.
func TestScriptFlush(t *testing.T) {
	s := startRedis(t)
	store := s.store(nil)
	do(t, store, "scripts", settle(0, 0, breaker.Failure))
	s.do("SCRIPT", "FLUSH")
	assert.Equal(t, 2, do(t, store, "scripts", settle(0, 0, breaker.Failure)).Record.Failures)
}

// Namespaces share nothing.
func TestNamespaces(t *testing.T) {
	s := startRedis(t)
	one, other := s.store(&redisstore.Options{Namespace: "one"}), s.store(&redisstore.Options{Namespace: "other"})
	trip(t, one, "same")
	assert.Equal(t, breaker.Closed, do(t, other, "same", read()).Record.Beneath)
	assert.EqualValues(t, 1, s.do("EXISTS", "one:{same}"))
}

// A cluster works unchanged, and all that belongs to a circuit is in one slot (P121).
func TestCluster(t *testing.T) {
	s := startRedis(t, "--cluster-enabled", "yes")
	s.do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
	eventually(t, func() bool {
		info, err := s.client.ClusterInfo(context.Background()).Result()
		return err == nil && len(info) > 0 && info[:len("cluster_state:ok")] == "cluster_state:ok"
	}, "the cluster is not up")
	store, err := redisstore.Open("redis-cluster://"+s.addr, &redisstore.Options{Timeout: 5 * time.Second, Logger: quietLogger()})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	run(t, store)
	ears := map[string]*ear{}
	for _, name := range append([]string{"a", "b", "c"}, oddNames...) {
		ears[name] = &ear{}
		store.Watch(name, ears[name].hear)
	}
	for name, e := range ears {
		eventually(t, e.live, name)
		trip(t, store, name)
		eventually(t, func() bool { return e.state() == breaker.Open }, name)
		require.NoError(t, redisstore.Touch(store, name))
		key := keyOf(name)
		assert.Equal(t, s.do("CLUSTER", "KEYSLOT", key), s.do("CLUSTER", "KEYSLOT", key+":probe"), "%q", name)
		assert.EqualValues(t, 2, s.do("EXISTS", key, key+":probe"), "%q: these two, and in one command", name)
	}
	assert.EqualValues(t, 2*len(ears), s.do("DBSIZE"), "and no other")
	names, err := store.List(context.Background())
	require.NoError(t, err)
	assert.Equal(t, slices.Sorted(maps.Keys(ears)), names)
}

// What is kept outlives the process: a new one finds the circuit as it is (P113, A35).
func TestNewProcess(t *testing.T) {
	s := startRedis(t)
	trip(t, s.store(nil), "kept")
	assert.Equal(t, breaker.Open, do(t, s.store(nil), "kept", read()).Record.Beneath)
}

// TestOneProbe runs many clients at the end of the cooldown (P107, P123, A13).
func TestOneProbe(t *testing.T) {
	s := startRedis(t)
	for i := range 5 {
		name := "rush" + strconv.Itoa(i)
		trip(t, s.store(nil), name)
		s.do("HSET", "stoic:{"+name+"}", "last_failure", "1")
		granted := make(chan bool, 100)
		for range 5 {
			store := s.store(nil)
			for range 20 {
				go func() {
					answer, err := store.Do(context.Background(), name, acquire())
					granted <- err == nil && answer.Granted
				}()
			}
		}
		total := 0
		for range 100 {
			if <-granted {
				total++
			}
		}
		require.Equal(t, 1, total)
	}
}

// Several commands are one round trip, the script that the server has forgotten apart.
func TestDoAllIsOneRoundTrip(t *testing.T) {
	s := startRedis(t)
	store, hook := counted(t, s)
	commands := []breaker.BatchCommand{
		{Circuit: "a", Command: settle(0, 0, breaker.Failure)},
		{Circuit: "b", Command: acquire()},
		{Circuit: "garbled", Command: read()},
		{Circuit: "c", Command: breaker.Command{Kind: 99}},
	}
	s.do("SET", "stoic:{garbled}", "nonsense")
	store.DoAll(t.Context(), commands) // the server learns the scripts
	before := hook.trips.Load()
	commands[0].Command.ID++
	replies := store.DoAll(t.Context(), commands)
	assert.EqualValues(t, 1, hook.trips.Load()-before)
	require.Len(t, replies, 4)
	require.NoError(t, replies[0].Err)
	assert.Equal(t, 2, replies[0].Answer.Record.Failures)
	require.NoError(t, replies[1].Err)
	assert.True(t, replies[1].Answer.Granted)
	require.ErrorIs(t, replies[2].Err, breaker.ErrGarbled)
	require.Error(t, replies[3].Err)
	assert.Empty(t, store.DoAll(t.Context(), nil))

	s.stop()
	defer s.resume()
	ended, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, r := range store.DoAll(ended, commands[:2]) {
		require.Error(t, r.Err)
	}
}
