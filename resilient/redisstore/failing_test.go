package redisstore_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// slack is what a loaded machine may add to a bound.
const slack = 500 * time.Millisecond

// whileLost calls until Redis is found to be lost, and then holds that nobody asks it.
func whileLost(t *testing.T, store *redisstore.Store, d *diary, timeout time.Duration) {
	t.Helper()
	for range 3 {
		began := time.Now()
		_, err := store.Do(context.Background(), "x", settle(0, 0, breaker.Failure))
		require.Error(t, err)
		require.Less(t, time.Since(began), timeout+slack)
	}
	require.Equal(t, []redisstore.EventKind{redisstore.Lost}, d.kinds())
	began := time.Now()
	for range 100 {
		_, err := store.Do(context.Background(), "x", read())
		require.ErrorIs(t, err, redisstore.ErrUnavailable)
	}
	require.Less(t, time.Since(began), timeout/2+slack)
}

// untilBack calls until Redis is used again.
func untilBack(t *testing.T, store *redisstore.Store, d *diary) {
	t.Helper()
	eventually(t, func() bool {
		_, err := store.Do(context.Background(), "x", settle(0, 0, breaker.Failure))
		return err == nil
	}, "Redis is not found to be back")
	require.Equal(t, []redisstore.EventKind{redisstore.Lost, redisstore.Back}, d.kinds(), "each is told once")
}

// A Redis that cannot be used is asked by few, told once, and used again when it is back;
// with Run and without it (P109, P122, A42).
func TestFailures(t *testing.T) {
	failures := map[string]struct{ breaks, mends func(s *server) }{
		"hangs": {(*server).stop, (*server).resume},
		"dies":  {(*server).kill, (*server).start},
		"out of memory": {
			func(s *server) { s.do("CONFIG", "SET", "maxmemory", "1") },
			func(s *server) { s.do("CONFIG", "SET", "maxmemory", "0") },
		},
		"read-only": {
			func(s *server) { s.do("REPLICAOF", "127.0.0.1", "1") },
			func(s *server) { s.do("REPLICAOF", "NO", "ONE") },
		},
	}
	for name, failure := range failures {
		for _, watched := range []bool{false, true} {
			t.Run(map[bool]string{true: name + " with Run", false: name}[watched], func(t *testing.T) {
				t.Parallel()
				s := startRedis(t)
				d := &diary{}
				timeout := 300 * time.Millisecond
				store := s.store(&redisstore.Options{Timeout: timeout, OnEvent: d.note, MaxViewAge: 100 * time.Millisecond})
				e := &ear{}
				if watched {
					store.Watch("x", e.hear)
					run(t, store)
					eventually(t, e.live, "no news")
				}
				do(t, store, "x", settle(0, 0, breaker.Failure))
				failure.breaks(s)
				if watched {
					eventually(t, func() bool {
						_, err := store.Do(context.Background(), "x", settle(0, 0, breaker.Failure))
						return err != nil && len(d.kinds()) > 0
					}, "Redis is not found to be lost")
				} else {
					whileLost(t, store, d, timeout)
				}
				failure.mends(s)
				untilBack(t, store, d)
				if watched {
					eventually(t, e.live, "no news again")
				}
			})
		}
	}
}

// A read does not make a Redis healthy that takes no writes: no event comes twice.
func TestReadsDoNotHideThatWritesFail(t *testing.T) {
	s := startRedis(t)
	d := &diary{}
	store := s.store(&redisstore.Options{OnEvent: d.note})
	do(t, store, "x", settle(0, 0, breaker.Failure))
	s.do("CONFIG", "SET", "maxmemory", "1")
	whileLost(t, store, d, time.Second)
	for end := time.Now().Add(1200 * time.Millisecond); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		_, err := store.Do(context.Background(), "x", read())
		require.Error(t, err)
	}
	require.Equal(t, []redisstore.EventKind{redisstore.Lost}, d.kinds())
}

// Do returns by the time its context ends; that a caller had no time is no fault of Redis.
func TestDeadlines(t *testing.T) {
	s := startRedis(t)
	d := &diary{}
	store := s.store(&redisstore.Options{Timeout: 2 * time.Second, OnEvent: d.note})
	do(t, store, "x", read())
	s.stop()
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		began := time.Now()
		_, err := store.Do(ctx, "x", read())
		require.Error(t, err)
		require.Less(t, time.Since(began), 30*time.Millisecond+slack)
		cancel()
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := store.Do(cancelled, "x", read())
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, d.kinds())
	s.resume()
	eventually(t, func() bool { _, err := store.Do(context.Background(), "x", read()); return err == nil }, "not back")
}

// A server that accepts and never answers holds nobody up, not even while dialing.
func TestAcceptsAndSaysNothing(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	d := &diary{}
	store, err := redisstore.Open("redis://"+listener.Addr().String(), &redisstore.Options{Timeout: 50 * time.Millisecond, OnEvent: d.note, Logger: quietLogger()})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	whileLost(t, store, d, 50*time.Millisecond)
}

// A Redis that answers nonsense is not obeyed.
func TestAnswersNonsense(t *testing.T) {
	for _, nonsense := range []string{"+OK\r\n", ":1\r\n", "*1\r\n$1\r\n1\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "$-1\r\n", "*-1\r\n", "%1\r\n"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					defer func() { _ = c.Close() }()
					buffer := make([]byte, 64<<10)
					for {
						if _, err := c.Read(buffer); err != nil {
							return
						}
						if _, err := c.Write([]byte(nonsense)); err != nil {
							return
						}
					}
				}()
			}
		}()
		store, err := redisstore.Open("redis://"+listener.Addr().String(), &redisstore.Options{Timeout: 100 * time.Millisecond, Logger: quietLogger()})
		require.NoError(t, err)
		run(t, store)
		for range 3 {
			answer, err := store.Do(context.Background(), "x", acquire())
			require.Error(t, err, "%q", nonsense)
			assert.False(t, answer.Granted)
		}
		_ = listener.Close()
	}
}
