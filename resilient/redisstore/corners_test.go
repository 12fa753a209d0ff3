package redisstore_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// What comes after a # is not read, so that half of a password would be taken for the
// host, and shown where that is not found.
func TestAFragmentIsRefused(t *testing.T) {
	for _, url := range []string{
		"redis://hun#ter2@localhost:1", "redis-cluster://hun#ter2@localhost:1", "redis-sentinel://hun#ter2@localhost:1?master=m",
		"redis://localhost:1/0?db=1#hunter2", "unix://hun#ter2@/path",
	} {
		_, err := redisstore.Open(url, &redisstore.Options{Logger: quietLogger()})
		if assert.Error(t, err, url) {
			assert.NotContains(t, err.Error(), "hun")
			assert.NotContains(t, err.Error(), "ter2")
		}
	}
}

// The rest of a password with a question mark is no parameter's name.
func TestThePartOfAPasswordIsNoParameter(t *testing.T) {
	for _, url := range []string{"redis://u:12?hunter2=1@localhost:1", "redis-cluster://u:12?hunter2@localhost:1", "redis://12?hunter2&x=:@localhost"} {
		_, err := redisstore.Open(url, &redisstore.Options{Logger: quietLogger()})
		if assert.Error(t, err, url) {
			assert.NotContains(t, err.Error(), "hunter2")
		}
	}
	_, err := redisstore.Open("redis://u:hunter2@localhost:1?hunter=3", nil)
	assert.ErrorContains(t, err, "no parameter hunter")
}

// A client without time limits on its connection does not look at a context's either.
func TestNewRefusesClientsWithoutTimeouts(t *testing.T) {
	for name, client := range map[string]redis.UniversalClient{
		"ReadTimeout":  redis.NewClient(&redis.Options{Addr: "localhost:1", ContextTimeoutEnabled: true, ReadTimeout: -2}),
		"WriteTimeout": redis.NewClient(&redis.Options{Addr: "localhost:1", ContextTimeoutEnabled: true, WriteTimeout: -2}),
		"readtimeout": redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: []string{"localhost:1"}, ContextTimeoutEnabled: true, ReadTimeout: -2,
		}),
	} {
		_, err := redisstore.New(client, nil)
		if assert.Error(t, err, name) {
			assert.Contains(t, strings.ToLower(err.Error()), strings.ToLower(name))
		}
		_ = client.Close()
	}
	// -1 is no limit but the context's.
	client := redis.NewClient(&redis.Options{Addr: "localhost:1", ContextTimeoutEnabled: true, ReadTimeout: -1, WriteTimeout: -1})
	defer func() { _ = client.Close() }()
	_, err := redisstore.New(client, nil)
	require.NoError(t, err)
}

// No option of a client's makes a command wait longer than Timeout.
func TestNoClientWaitsLongerThanTimeout(t *testing.T) {
	hole, err := net.Listen("tcp", "127.0.0.1:0") // accepts and never answers
	require.NoError(t, err)
	defer func() { _ = hole.Close() }()
	dead := func(ctx context.Context, _, _ string) (net.Conn, error) {
		time.Sleep(3 * time.Second) // looks at no context
		return nil, fmt.Errorf("dead")
	}
	for name, options := range map[string]*redis.Options{
		"the defaults":       {},
		"no limits":          {ReadTimeout: -1, WriteTimeout: -1},
		"one connection":     {PoolSize: 1},
		"a deaf dialer":      {Dialer: dead},
		"many idle ones":     {MinIdleConns: 5},
		"a long pool":        {PoolSize: 1, PoolTimeout: time.Minute, Dialer: dead},
		"stubborn":           {MaxRetries: 100, MinRetryBackoff: time.Second},
		"with a handshake":   {Username: "u", Password: "p", ClientName: "c"},
		"lifo, and Protocol": {PoolFIFO: true, Protocol: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.Addr, options.ContextTimeoutEnabled = hole.Addr().String(), true
			client := redis.NewClient(options)
			defer func() { _ = client.Close() }()
			store, err := redisstore.New(client, &redisstore.Options{Logger: quietLogger(), Timeout: 100 * time.Millisecond})
			require.NoError(t, err)
			for range 3 {
				start := time.Now()
				_, err = store.Do(context.Background(), "dep", read())
				require.Error(t, err)
				assert.Less(t, time.Since(start), time.Second)
			}
		})
	}
}
