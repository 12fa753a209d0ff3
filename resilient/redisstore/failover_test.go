package redisstore_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// follows waits until the server is a replica that has all that its master has.
func (s *server) follows(t *testing.T) {
	t.Helper()
	eventually(t, func() bool {
		return strings.Contains(s.do("INFO", "replication").(string), "master_link_status:up")
	}, "it does not follow")
}

// stays opens a circuit, lets another server take over, and holds that the store finds it
// and what was kept there, news included.
func stays(t *testing.T, store *redisstore.Store, d *diary, master *server, failover func()) {
	t.Helper()
	e := &ear{}
	store.Watch("x", e.hear)
	run(t, store)
	eventually(t, e.live, "no news")
	round := trip(t, store, "x").Record.Round
	master.do("WAIT", 1, 5000)
	master.kill()
	eventually(t, func() bool { _, err := store.Do(context.Background(), "x", read()); return err != nil }, "it is not noticed")
	failover()
	began := time.Now()
	eventually(t, func() bool {
		answer, err := store.Do(context.Background(), "x", read())
		return err == nil && answer.Record.Round == round
	}, "the new master is not found")
	t.Logf("found after %v", time.Since(began).Round(time.Millisecond))
	eventually(t, e.live, "no news again")
	before := e.count()
	do(t, store, "x", operate(breaker.Order{Reset: true}))
	eventually(t, func() bool { return e.count() > before && e.state() == breaker.Closed }, "no news of the reset")
	assert.Subset(t, []redisstore.EventKind{redisstore.Lost, redisstore.Back, redisstore.Deaf, redisstore.Hearing}, d.kinds())
}

// A cluster's client goes on asking a master that is gone, unless it is told to look again.
func TestClusterFailover(t *testing.T) {
	master := startRedis(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "60000")
	next := startRedis(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "60000")
	master.do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
	host, port, err := net.SplitHostPort(master.addr)
	require.NoError(t, err)
	next.do("CLUSTER", "MEET", host, port)
	id := master.do("CLUSTER", "MYID")
	eventually(t, func() bool {
		return next.client.Do(context.Background(), "CLUSTER", "REPLICATE", id).Err() == nil
	}, "the two do not meet")
	next.follows(t)
	eventually(t, func() bool {
		return strings.Contains(master.do("CLUSTER", "INFO").(string), "cluster_state:ok") &&
			strings.Contains(next.do("CLUSTER", "INFO").(string), "cluster_state:ok")
	}, "the cluster is not up")

	d := &diary{}
	store, err := redisstore.Open(fmt.Sprintf("redis-cluster://%s,%s", master.addr, next.addr), &redisstore.Options{
		Timeout: time.Second, MaxViewAge: 200 * time.Millisecond, OnEvent: d.note, Logger: quietLogger(),
	})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	stays(t, store, d, master, func() { next.do("CLUSTER", "FAILOVER", "TAKEOVER") })
}

// Sentinels tell where the master is, and where the next one.
func TestSentinels(t *testing.T) {
	master, next := startRedis(t), startRedis(t)
	host, port, err := net.SplitHostPort(master.addr)
	require.NoError(t, err)
	next.do("REPLICAOF", host, port)
	next.follows(t)
	watch := startSentinel(t, master.addr)
	d := &diary{}
	store, err := redisstore.Open("redis-sentinel://"+watch+"/0?master=mymaster", &redisstore.Options{
		Timeout: time.Second, MaxViewAge: 200 * time.Millisecond, OnEvent: d.note, Logger: quietLogger(),
	})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	stays(t, store, d, master, func() {})
}

// startSentinel starts one that alone decides, and waits until it knows the replica.
func startSentinel(t *testing.T, master string) (addr string) {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	require.NoError(t, err)
	addr = freeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	host, masterPort, err := net.SplitHostPort(master)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "port %s\nbind 127.0.0.1\ndir %s\nlogfile sentinel.log\n"+
		"sentinel monitor mymaster %s %s 1\nsentinel down-after-milliseconds mymaster 300\nsentinel failover-timeout mymaster 2000\n",
		port, filepath.Dir(file), host, masterPort), 0o600))
	process := exec.Command(binary, file, "--sentinel")
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	client := redis.NewSentinelClient(&redis.Options{Addr: addr, DisableIdentity: true, DialerRetries: 1, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	eventually(t, func() bool {
		replicas, err := client.Replicas(context.Background(), "mymaster").Result()
		return err == nil && len(replicas) == 1 && replicas[0]["master-link-status"] == "ok"
	}, "the sentinel does not know the replica")
	return addr
}

// What Redis evicts for want of room is closed again, without a probe, and what belongs to
// the time before is late.
func TestEvicted(t *testing.T) {
	s := startRedis(t, "--maxmemory-policy", "allkeys-lru")
	store := s.store(nil)
	opened := trip(t, store, "x")
	used := strings.SplitAfter(s.do("INFO", "memory").(string), "used_memory:")
	require.Len(t, used, 2)
	number, _, _ := strings.Cut(used[1], "\r")
	s.do("CONFIG", "SET", "maxmemory", number)
	filler := strings.Repeat("x", 1<<16)
	for i := 0; s.do("EXISTS", "stoic:{x}") == int64(1); i++ {
		require.Less(t, i, 1000)
		_ = s.client.Set(context.Background(), fmt.Sprint("filler", i), filler, 0).Err()
	}
	s.do("CONFIG", "SET", "maxmemory", "0")
	assert.Equal(t, breaker.Record{}, do(t, store, "x", read()).Record)
	assert.False(t, do(t, store, "x", settle(opened.Record.Round, 0, breaker.Failure)).Counted)
	assert.Greater(t, trip(t, store, "x").Record.Round, opened.Record.Round)
}
