package redisstore

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/seed42274fcc/stoic/sanitize"
)

// Open makes a store and the client that it needs. It does not connect: a Redis that is
// down stops no program. [Store.Close] closes the client.
//
//	redis://user:password@host:6379/0        one server
//	rediss://…                               the same, by TLS
//	unix:///path/to/socket?db=0              one server, by its socket
//	redis-cluster://user:password@host1:6379,host2:6379
//	rediss-cluster://…
//	redis-sentinel://user:password@sentinel1:26379,sentinel2:26379/0?master=mymaster
//	rediss-sentinel://…
//
// With sentinels the user is that of the servers; what the sentinels want, if anything,
// is sentinel_username and sentinel_password. What is special in a user or password is
// escaped, as %40 for @. Parameters are those of redis.ParseURL, redis.ParseClusterURL
// and redis.ParseFailoverURL, whose own forms (redis://…?addr=…, redis://…?master_name=…)
// are understood too; but timeouts and retries are the store's.
//
// No error shows the URL or a part of it that may be a secret.
func Open(url string, options *Options) (*Store, error) {
	full, err := options.complete()
	if err != nil {
		return nil, err
	}
	client, err := connect(strings.TrimSpace(url), full.Timeout)
	if err != nil {
		return nil, err
	}
	s, err := New(client, &full)
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	s.owned = true
	return s, nil
}

// connect makes the client. It never panics, whatever the URL says.
func connect(url string, timeout time.Duration) (client redis.UniversalClient, err error) {
	defer func() {
		if value := recover(); value != nil {
			client, err = nil, unreadable(url, fmt.Errorf("%v", value))
		}
	}()
	at := readAddress(url)
	switch at.kind {
	case cluster:
		o, err := redis.ParseClusterURL(at.url)
		if err != nil {
			return nil, unreadable(url, err)
		}
		tuneCluster(o, timeout)
		return redis.NewClusterClient(o), nil
	case sentinels:
		o, err := redis.ParseFailoverURL(at.url)
		if err != nil {
			return nil, unreadable(url, err)
		}
		if err := tuneFailover(o, timeout); err != nil {
			return nil, err
		}
		return redis.NewFailoverClient(o), nil
	default:
		o, err := redis.ParseURL(at.url)
		if err != nil {
			return nil, unreadable(url, err)
		}
		tuneSingle(o, timeout)
		return redis.NewClient(o), nil
	}
}

// unreadable says that a URL is wrong. Why is told only where no secret can be in it:
// the parsers quote what they stumble over, be it a password with a slash in it, or the
// rest of one with a question mark.
func unreadable(url string, err error) error {
	text := "redisstore.Open: the URL is none that go-redis reads: want redis://user:password@host:port/db or one of " +
		"the other forms, with special characters of user and password escaped"
	const option = "redis: unexpected option: "
	_, query, _ := strings.Cut(url, "?")
	if name, ok := strings.CutPrefix(err.Error(), option); ok && !strings.ContainsAny(query, "@:") {
		return fmt.Errorf("%s; there is no parameter %s", text, sanitize.Message(name))
	}
	return errors.New(text + "; it is not shown, since it may hold a password")
}

// dialTime is how long a connection may take. Connections are made in the background:
// the command that wanted one waits no longer for it than it may, and the next one has
// it.
const dialTime = time.Second

// tuneSingle lets no command wait longer than its context says, nor be sent again by the
// client: a circuit that has waited once goes on by itself.
func tuneSingle(o *redis.Options, timeout time.Duration) {
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.DialTimeout, o.DialerRetries = max(dialTime, timeout), 1
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout
	// What costs a round trip each time a connection is made.
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

func tuneCluster(o *redis.ClusterOptions, timeout time.Duration) {
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1 // redirections are counted apart
	o.DialTimeout, o.DialerRetries = max(dialTime, timeout), 1
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

func tuneFailover(o *redis.FailoverOptions, timeout time.Duration) error {
	switch {
	case o.MasterName == "":
		return errors.New("redisstore.Open: a URL with sentinels names the master that they watch: …?master=mymaster")
	case o.RouteByLatency, o.RouteRandomly, o.ReplicaOnly:
		return errors.New("redisstore.Open: a store writes, so it wants the master: leave out route_by_latency, route_randomly and replica_only")
	}
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.DialTimeout, o.DialerRetries = max(dialTime, timeout), 1
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout
	o.DisableIdentity = true
	return nil
}
