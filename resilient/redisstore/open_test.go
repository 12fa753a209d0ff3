package redisstore_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

func TestOptionsOutOfRange(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: freeAddr(t), ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1})
	defer func() { _ = client.Close() }()
	for want, options := range map[string]redisstore.Options{
		"Retention":  {Retention: time.Minute},
		"Timeout":    {Timeout: time.Hour},
		"MaxViewAge": {MaxViewAge: -1},
		"Namespace":  {Namespace: "a{b}"},
	} {
		_, err := redisstore.New(client, &options)
		require.ErrorContains(t, err, want)
	}
	store, err := redisstore.New(client, nil)
	require.NoError(t, err)
	assert.Equal(t, breaker.Terms{Timeout: 50 * time.Millisecond, MaxViewAge: time.Second}, store.Terms())
	require.NoError(t, store.Close(), "the client is the caller's")
	assert.NotErrorIs(t, client.Ping(context.Background()).Err(), redis.ErrClosed)
}

// A client with which a call could hang is refused, with the way out.
func TestNewRefuses(t *testing.T) {
	plain, cluster := redis.NewClient(&redis.Options{}), redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"localhost:1"}})
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "localhost:1"}, ContextTimeoutEnabled: true})
	defer func() { _, _, _ = plain.Close(), cluster.Close(), ring.Close() }()
	var none *redis.Client
	for want, client := range map[string]redis.UniversalClient{"ContextTimeoutEnabled": plain, "nil": none, "*redis.Ring": ring} {
		_, err := redisstore.New(client, nil)
		require.ErrorContains(t, err, want)
	}
	_, err := redisstore.New(cluster, nil)
	require.ErrorContains(t, err, "ContextTimeoutEnabled")
	_, err = redisstore.New(nil, nil)
	require.ErrorContains(t, err, "nil")
}

// Each form of URL finds its way to go-redis.
func TestForms(t *testing.T) {
	single := func(c redis.UniversalClient) *redis.Options { return c.(*redis.Client).Options() }
	for url, check := range map[string]func(t *testing.T, c redis.UniversalClient){
		"redis://host:1234/3": func(t *testing.T, c redis.UniversalClient) {
			o := single(c)
			assert.Equal(t, []any{"host:1234", 3, ""}, []any{o.Addr, o.DB, o.Password})
			assert.Nil(t, o.TLSConfig)
		},
		"rediss://u:p%40ss@host?pool_size=7": func(t *testing.T, c redis.UniversalClient) {
			o := single(c)
			assert.Equal(t, []any{"host:6379", "u", "p@ss", 7}, []any{o.Addr, o.Username, o.Password, o.PoolSize})
			assert.NotNil(t, o.TLSConfig)
		},
		"unix:///run/redis.sock?db=2": func(t *testing.T, c redis.UniversalClient) {
			assert.Equal(t, "/run/redis.sock", single(c).Addr)
		},
		"redis-cluster://u:p%40ss@a,b:7000,[::1]:7001/?max_redirects=5": func(t *testing.T, c redis.UniversalClient) {
			o := c.(*redis.ClusterClient).Options()
			assert.Equal(t, []string{"a:6379", "b:7000", "[::1]:7001"}, o.Addrs)
			assert.Equal(t, []any{"u", "p@ss", 5}, []any{o.Username, o.Password, o.MaxRedirects})
			assert.Nil(t, o.TLSConfig)
		},
		"rediss-cluster://a": func(t *testing.T, c redis.UniversalClient) {
			assert.NotNil(t, c.(*redis.ClusterClient).Options().TLSConfig)
		},
		"redis://a:1?addr=b:2": func(t *testing.T, c redis.UniversalClient) {
			assert.Equal(t, []string{"a:1", "b:2"}, c.(*redis.ClusterClient).Options().Addrs)
		},
		"redis-sentinel://u:p%40ss@a,b:2/4?master=m": func(t *testing.T, c redis.UniversalClient) {
			o := single(c)
			assert.Equal(t, []any{"FailoverClient", "u", "p@ss", 4}, []any{o.Addr, o.Username, o.Password, o.DB})
		},
		"redis-sentinel://:p@a?master=m&sentinel_username=x&sentinel_password=y%26": func(t *testing.T, c redis.UniversalClient) {
			assert.Equal(t, []any{"", "p"}, []any{single(c).Username, single(c).Password})
		},
		"redis://x:y@a:26379?master_name=m&password=p": func(t *testing.T, c redis.UniversalClient) {
			assert.Equal(t, "p", single(c).Password)
		},
	} {
		t.Run(url, func(t *testing.T) {
			store, err := redisstore.Open(url, nil)
			require.NoError(t, err)
			defer func() { _ = store.Close() }()
			check(t, redisstore.Client(store))
		})
	}
}

// No error and no log shows what may be a secret.
func TestSecretsStayInside(t *testing.T) {
	const secret = "hunter2"
	for _, url := range []string{
		"redis://:hunter2", "redis://u:hunter2@host:port", "redis://u:hun/ter2hunter2@host", "redis://u:hunter2@host/x/y", "redis://u:hunter2@host/db",
		"redis://u:?hunter2@host", "redis://u:#hunter2@host", "http://u:hunter2@host", "u:hunter2@host", "hunter2", "redis-sentinel://u:hunter2@a",
		"redis-sentinel://u:hunter2@a?master=m&route_randomly=1", "redis-cluster://u:hunter2@a?%zz", "redis-cluster://u:hunter2@a,b:x:y", "redis://h?password=hunter2",
		"redis://u:hunter2@host?pool_size=99999999999", "redis://u:hunter2@host?pool_size=hunter2", "redis-sentinel://u:%zzhunter2@a?master=m&x=y",
		"redis://u:hunter2@h\x01ost", "redis-cluster://", "", "://", "redis://h?x:hunter2",
	} {
		t.Setenv("APP_CB_STORE", url)
		store, err := redisstore.FromEnv("APP", &redisstore.Options{Logger: quietLogger()})
		if err != nil {
			assert.NotContains(t, err.Error(), secret, url)
			assert.Nil(t, store)
		} else if store != nil {
			_ = store.Close()
		}
	}

	var log bytes.Buffer
	d := &diary{}
	s := startRedis(t)
	s.do("CONFIG", "SET", "requirepass", "other")
	store, err := redisstore.Open("redis://user:hunter2@"+s.addr, &redisstore.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), OnEvent: d.note})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	for range 4 {
		_, err = store.Do(context.Background(), "password=hunter2", read())
		require.Error(t, err)
		assert.NotContains(t, err.Error(), secret)
	}
	assert.Equal(t, []redisstore.EventKind{redisstore.Lost}, d.kinds())
	assert.NotContains(t, log.String(), secret)
	assert.Equal(t, 1, strings.Count(log.String(), "\n"), "one record")
}

func TestFromEnv(t *testing.T) {
	for _, prefix := range []string{"", "app", "APP_", "1APP", "A-B"} {
		_, err := redisstore.FromEnv(prefix, nil)
		require.ErrorContains(t, err, "prefix", prefix)
	}
	for _, empty := range []string{"", "  "} {
		t.Setenv("APP_CB_STORE", empty)
		store, err := redisstore.FromEnv("APP", nil)
		require.NoError(t, err)
		var asStore breaker.Store = store
		assert.True(t, asStore == nil, "none is plainly nil")
	}
	t.Setenv("APP_CB_STORE", " redis://localhost:1 ")
	store, err := redisstore.FromEnv("APP", nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	t.Setenv("APP_CB_STORE", "ftp://localhost")
	_, err = redisstore.FromEnv("APP", nil)
	require.ErrorContains(t, err, "APP_CB_STORE")
}

// Where a parameter is misspelt, the error says which.
func TestUnknownParameter(t *testing.T) {
	_, err := redisstore.Open("redis://host?pool_sice=3", nil)
	require.ErrorContains(t, err, "pool_sice")
}

// A user with the rights that the package's documentation names can do all of it.
func TestRights(t *testing.T) {
	s := startRedis(t)
	s.do(append([]any{"ACL", "SETUSER", "stoic", "on", ">secret"}, anys(strings.Fields(redisstore.Rights("stoic")))...)...)
	store, err := redisstore.Open("redis://stoic:secret@"+s.addr, &redisstore.Options{Timeout: 5 * time.Second, Logger: quietLogger()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() }) // after Run has ended
	e := &ear{}
	store.Watch("x", e.hear)
	run(t, store)
	eventually(t, e.live, "no news")
	trip(t, store, "x")
	eventually(t, func() bool { return e.state() == breaker.Open }, "no news")
	s.do("SET", "stoic:{x}", "garbage")
	do(t, store, "x", breaker.Command{Kind: breaker.Rebuild, ID: 1, Settings: small()})
	require.NoError(t, redisstore.Touch(store, "x"))
}

func anys(texts []string) []any {
	var all []any
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}
