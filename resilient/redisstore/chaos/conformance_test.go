package chaos_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/breaker/storetest"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

func TestConformanceOnMiniredis(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		server := miniredis.RunT(t)
		h := harness(t, "redis://"+server.Addr(), true)
		var off time.Duration
		set := func() {
			if off == 0 {
				server.SetTime(time.Time{}) // it goes by itself
				return
			}
			server.SetTime(time.Now().Add(off)) // and there it stands still
		}
		h.Skew = func(d time.Duration) {
			off += d
			set()
		}
		h.Advance = func(d time.Duration) {
			if d < time.Second {
				time.Sleep(d)
			} else {
				off += d
				server.FastForward(d) // what is to expire
			}
			set()
		}
		h.Now = nil // it is only known from Redis
		return h
	})
}

func TestConformanceOnRedis(t *testing.T) {
	t.Parallel()
	server := servers.Start(t)
	proxy := servers.NewProxy(t, server.Address)
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		h := harness(t, proxy.URL(), true)
		h.Stall = func() func() {
			proxy.Hold(servers.All)
			return func() { proxy.Release(servers.All) }
		}
		return h
	})
}

func TestConformanceWithoutNews(t *testing.T) {
	t.Parallel()
	server := servers.Start(t)
	proxy := servers.NewProxy(t, server.Address)
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		h := harness(t, proxy.URL(), false)
		var stores []breaker.Store
		open := h.Open
		h.Open = func() breaker.Store {
			stores = append(stores, open())
			return stores[len(stores)-1]
		}
		h.LoseReplies = func(lose bool) {
			proxy.LoseReplies(lose)
			if !lose {
				answering(t, stores)
			}
		}
		return h
	})
}

// answering waits until each store asks Redis again: after a few failures in a row it
// does not, for a while.
func answering(t *testing.T, stores []breaker.Store) {
	t.Helper()
	for _, s := range stores {
		require.True(t, servers.Within(10*time.Second, func() bool {
			_, err := s.Do(context.Background(), "answering", breaker.Command{Kind: breaker.Read})
			return err == nil
		}))
	}
}

func TestConformanceOnACluster(t *testing.T) {
	t.Parallel()
	cluster := servers.StartCluster(t)
	storetest.Run(t, func(t *testing.T) storetest.Harness { return harness(t, cluster.URL(), true) })
}

// harness opens stores on what the URL leads to, and meddles with their keys.
func harness(t *testing.T, url string, news bool) storetest.Harness {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { end(); running.Wait() })
	client := keys(t, url)
	return storetest.Harness{
		News: news,
		Open: func() breaker.Store {
			store, err := redisstore.Open(url, patient)
			require.NoError(t, err)
			if news {
				running.Go(func() { _ = store.Run(ctx) })
			}
			t.Cleanup(func() { _ = store.Close() })
			return store
		},
		Now:    func() time.Duration { return time.Duration(time.Now().UnixNano()) },
		Forget: func(circuit string) { require.NoError(t, client.Del(ctx, key(circuit)).Err()) },
		Garble: func(circuit string) { require.NoError(t, client.HSet(ctx, key(circuit), "round", "nonsense").Err()) },
	}
}

// key is where the store keeps a circuit, as its documentation has it.
func key(circuit string) string { return "stoic:{" + circuit + "}" }

func keys(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	options, err := redis.ParseClusterURL(url)
	require.NoError(t, err)
	client := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: options.Addrs})
	t.Cleanup(func() { _ = client.Close() })
	return client
}
