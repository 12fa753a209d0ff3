package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// server is a real Redis, of one test alone.
type server struct {
	t      *testing.T
	path   string // of the program
	addr   string
	stop   func()
	client *redis.Client
	store  *redisstore.Store
}

// startRedis starts a redis-server that ends with the test. Where there is none the test
// fails, if that is what CI or STOIC_REDIS=required asks for.
func startRedis(t *testing.T) *server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" || os.Getenv("STOIC_REDIS") == "required" {
			t.Fatalf("this test needs a redis-server in PATH: %v", err)
		}
		t.Skipf("NOT RUN: this test needs a redis-server in PATH (%v); STOIC_REDIS=required makes that a failure", err)
	}
	s := &server{t: t, path: path, addr: freeAddr(t)}
	s.client = redis.NewClient(&redis.Options{Addr: s.addr, Password: "F4KE", DisableIdentity: true})
	t.Cleanup(func() { _ = s.client.Close() })
	t.Cleanup(s.start())
	s.store, err = redisstore.Open(s.url(), &redisstore.Options{Timeout: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.store.Close() })
	return s
}

// start starts it, with nothing in it.
func (s *server) start() (stop func()) {
	s.t.Helper()
	_, port, err := net.SplitHostPort(s.addr)
	require.NoError(s.t, err)
	cmd := exec.Command(s.path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", s.t.TempDir(), "--requirepass", "F4KE")
	require.NoError(s.t, cmd.Start())
	s.stop = sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	require.Eventually(s.t, func() bool { return s.client.Ping(context.Background()).Err() == nil }, 10*time.Second, 5*time.Millisecond)
	return s.stop
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func (s *server) url() string { return "redis://:F4KE@" + s.addr + "/0" }

// ctl is the command with the URL in its environment.
func (s *server) ctl() process { return process{env: []string{redisVariable + "=" + s.url()}} }

// run runs the command, which shows no secret whatever it says.
func (s *server) run(args ...string) result {
	s.t.Helper()
	got := s.ctl().run(s.t, append([]string{"circuits"}, args...)...)
	assert.NotContains(s.t, got.out+got.err, "F4KE")
	return got
}

// fail lets a service fail until its circuit opens.
func (s *server) fail(name string) {
	s.t.Helper()
	settings := breaker.DefaultSettings()
	for id := range settings.FailureThreshold {
		_, err := s.store.Do(context.Background(), name, breaker.Command{
			Kind: breaker.Settle, ID: uint64(1000 + id), Settings: settings, Outcome: breaker.Failure, Cause: "connection refused",
		})
		require.NoError(s.t, err)
	}
}

// circuit is one as the command tells programs.
func (s *server) circuit(args ...string) (c circuit) {
	s.t.Helper()
	got := s.run(append(args, "--json")...)
	require.Zero(s.t, got.code, got.err)
	require.NoError(s.t, json.Unmarshal([]byte(got.out), &c))
	return c
}

// What is broken is seen, and steered, by its exact name.
func TestCircuits(t *testing.T) {
	s := startRedis(t)
	got := s.run("list")
	assert.Equal(t, 0, got.code, got.err)
	assert.Equal(t, 1, strings.Count(got.out, "\n"), "the head alone")
	assert.Equal(t, "[]\n", s.run("list", "--json").out)

	s.fail("payments")
	got = s.run("list")
	assert.Regexp(t, `payments +open +\S+ +- +1 +5 +connection refused`, got.out)
	got = s.run("show", "payments")
	assert.Regexp(t, `state +open\n`, got.out)
	assert.Regexp(t, `cause +connection refused\n`, got.out)
	assert.Equal(t, "open", s.circuit("show", "payments").State)

	for _, test := range []struct{ order, state, force string }{
		{"force-open", "forced-open", "open"},
		{"force-closed", "forced-closed", "closed"},
		{"disable", "disabled", "disabled"},
	} {
		c := s.circuit(test.order, "payments", "--reason", "drill\npassword=F4KE", "--for", "10m")
		assert.Equal(t, test.state, c.State)
		assert.Equal(t, "open", c.Beneath)
		assert.Equal(t, "kim", c.Author, "$USER")
		assert.Equal(t, "drill password=***", c.Reason)
		require.NotNil(t, c.ForceUntil)
		assert.WithinDuration(t, time.Now().Add(10*time.Minute), *c.ForceUntil, time.Minute)
		assert.Equal(t, test.force, forceOf(t, s, "payments"))
	}
	got = s.run("list")
	assert.Regexp(t, `payments +disabled +\S+ +20\S+ .* kim: drill password=\*\*\*`, got.out)

	c := s.circuit("release", "payments", "--author", "lee")
	assert.Equal(t, "open", c.State)
	assert.Equal(t, "lee", c.Author)
	assert.Equal(t, "not told", c.Reason)
	got = s.run("reset", "payments", "--reason", "repaired")
	assert.Equal(t, 0, got.code, got.err)
	assert.Regexp(t, `state +closed\n`, got.out)
	assert.Zero(t, s.circuit("show", "payments").Generation)

	got = s.run("show", "payments", "--namespace", "other")
	assert.Equal(t, 4, got.code)
}

// A43: until when a circuit is open is seen with its policy, and that its time has passed.
func TestCircuitsUntil(t *testing.T) {
	s := startRedis(t)
	for _, name := range []string{"payments", "plans", "toolguard/-/t:search"} {
		s.fail(name)
	}
	file := filepath.Join(t.TempDir(), "overrides.json")
	require.NoError(t, os.WriteFile(file, []byte(`{
		"payments": {"circuit_breaker": {"recovery_timeout": 90, "cooldown": 0, "recovery_jitter": 0.5}},
		"plans": {"circuit_breaker": {"recovery_timeout": "1ms", "cooldown": 0}}}`), 0o644))
	c := s.circuit("show", "payments", "--file", file)
	assert.Equal(t, "open", c.State)
	require.NotNil(t, c.Until)
	assert.Equal(t, 90*time.Second, c.Until.Sub(*c.LastFailure))
	assert.False(t, c.ProbeDue)
	c = s.circuit("show", "plans", "--file", file)
	assert.Equal(t, "open", c.State)
	assert.True(t, c.ProbeDue)
	assert.Nil(t, s.circuit("show", "toolguard/-/t:search", "--file", file).Until, "its policy is not in the file")
	assert.Nil(t, s.circuit("show", "payments").Until, "nothing is known of policies")

	got := s.run("list", "--file", file)
	assert.Regexp(t, `payments +open +\S+ +20\S+ +1 +5`, got.out)
	assert.Regexp(t, `plans +probe-due +\S+ +20\S+ +1 +5`, got.out)
	assert.Regexp(t, `toolguard/-/t:search +open +\S+ +- +1 +5`, got.out)
	assert.Regexp(t, `until +20\S+\n`, s.run("show", "payments", "--file", file).out)

	held := process{env: []string{redisVariable + "=" + s.url(), "SHOP_CB_RECOVERY_TIMEOUT=120", "SHOP_CB_COOLDOWN=0"}}.run(t, "circuits", "show", "payments", "--json", "--prefix", "SHOP")
	require.NoError(t, json.Unmarshal([]byte(held.out), &c), held.err)
	assert.Equal(t, 120*time.Second, c.Until.Sub(*c.LastFailure))
	assert.Equal(t, exitFailed, s.run("list", "--file", "nowhere.json").code)
	assert.Equal(t, exitFailed, s.run("list", "--file", file, "--prefix", "SHOP").code)
	forced := s.circuit("force-open", "payments", "--reason", "drill", "--for", "10m", "--file", file)
	assert.Equal(t, forced.ForceUntil, forced.Until)
}

// forceOf is what lies over a circuit in Redis.
func forceOf(t *testing.T, s *server, name string) string {
	t.Helper()
	answer, err := s.store.Do(context.Background(), name, breaker.Command{Kind: breaker.Read, Settings: breaker.DefaultSettings()})
	require.NoError(t, err)
	return answer.Record.Force.String()
}

// A81: a slip makes no circuit, whatever the command; on request an order does.
func TestCircuitsUnknown(t *testing.T) {
	s := startRedis(t)
	s.fail("payments")
	for _, command := range []string{"show", "force-open", "force-closed", "disable", "release", "reset"} {
		args := []string{command, "paymnets"}
		if command != "show" {
			args = append(args, "--reason", "drill")
		}
		got := s.run(args...)
		assert.Equal(t, 4, got.code, command)
		assert.Empty(t, got.out)
		assert.Contains(t, got.err, "no circuit paymnets is known to Redis")
	}
	assert.EqualValues(t, 1, s.client.DBSize(context.Background()).Val(), "nothing is created")

	c := s.circuit("force-open", "healthy", "--create", "--reason", "drill")
	assert.Equal(t, "forced-open", c.State)
	assert.Equal(t, "closed", c.Beneath)
}

// Wrong use is 2, and a Redis that is not there is 3; neither shows a secret.
func TestCircuitsFailures(t *testing.T) {
	s := startRedis(t)
	s.fail("payments")
	for line, want := range map[string]string{
		"force-open payments":                             "say why: --reason",
		"force-open payments --reason r --for 0s":         "needs an end",
		"force-open payments --reason r --for 721h":       "at most 720h",
		"force-open payments --reason r --author=":        "say who wants it: --author",
		"reset payments --create":                         "unknown flag: --create",
		"show":                                            "accepts 1 arg",
		"list --watch --interval 0s":                      "--interval is 0s",
		"list --timeout 1h":                               "Timeout is 1h",
		"list --namespace a:b":                            "Namespace is not",
		"list --redis redis://user:F4KE@localhost/x?y=F4": "the URL is none that go-redis reads",
	} {
		got := s.run(strings.Fields(line)...)
		assert.Equal(t, 2, got.code, line)
		assert.Contains(t, got.err, want, line)
	}
	assert.Equal(t, "none", forceOf(t, s, "payments"))

	got := process{}.run(t, "circuits", "list")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, "say where the Redis is")
	got = s.run()
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, "Usage:")

	gone := "redis://:F4KE@" + freeAddr(t)
	for _, command := range []string{"list", "show x", "force-open x --reason r", "force-open x --reason r --create", "reset x"} {
		got := s.run(append(strings.Fields(command), "--redis", gone)...)
		assert.Equal(t, 3, got.code, command)
		assert.Empty(t, got.out)
		assert.NotEmpty(t, got.err)
	}
}

// One that takes connections and says nothing is waited for as long as --timeout says.
func TestCircuitsSilentRedis(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	began := time.Now()
	got := process{}.run(t, "circuits", "list", "--redis", "redis://"+l.Addr().String(), "--timeout", "100ms")
	assert.Equal(t, 3, got.code, got)
	assert.Less(t, time.Since(began), 20*time.Second)
}

// What makes no sense is listed as such, beside the others.
func TestCircuitsUnreadable(t *testing.T) {
	s := startRedis(t)
	s.fail("payments")
	s.client.HSet(context.Background(), "stoic:{broken}", "v", "1", "state", "9")
	got := s.run("list")
	assert.Equal(t, 0, got.code, got.err)
	assert.Regexp(t, `broken +unreadable .*garbled`, got.out)
	assert.Regexp(t, `payments +open`, got.out)
	got = s.run("show", "broken")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, "garbled")
}

// A86: names are shown in one line, without secrets and without what steers terminals;
// exact ones are found all the same.
func TestCircuitsOddNames(t *testing.T) {
	s := startRedis(t)
	for _, name := range []string{"two\nlines\x1b[31m", "postgres://app:F4KE@db/plans", ""} {
		s.fail(name)
		assert.Equal(t, "open", s.circuit("show", name).State, "%q", name)
	}
	got := s.run("list")
	assert.Equal(t, 4, strings.Count(got.out, "\n"), got.out)
	assert.NotContains(t, got.out, "\x1b")
	assert.Regexp(t, `postgres://\*\*\*@db/plans +open`, got.out)
}

// The shell is told the names that can be shown as they are.
func TestCircuitsCompletion(t *testing.T) {
	s := startRedis(t)
	s.fail("payments")
	s.fail("postgres://app:F4KE@db/plans")
	got := s.ctl().run(t, "__complete", "circuits", "reset", "p")
	assert.Equal(t, "payments\n:4\n", got.out)
}

// Watching shows each change, waits for a Redis that is gone, and ends well when it is
// interrupted.
func TestCircuitsWatch(t *testing.T) {
	s := startRedis(t)
	cmd := s.ctl().command(t.Context(), "circuits", "list", "--watch", "--interval", "20ms", "--json")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lists := json.NewDecoder(bufio.NewReader(out))
	next := func() (all []circuit) {
		require.NoError(t, lists.Decode(&all))
		return all
	}
	assert.Empty(t, next())
	s.fail("payments")
	for all := next(); len(all) == 0 || all[0].State != "open"; all = next() { // failures show before it opens
		require.LessOrEqual(t, len(all), 1)
	}
	_, err = s.store.Do(context.Background(), "payments", breaker.Command{
		Kind: breaker.Operate, ID: 7, Settings: breaker.DefaultSettings(), Order: breaker.Order{Reset: true, Author: "kim", Reason: "drill"},
	})
	require.NoError(t, err)
	assert.Equal(t, "closed", next()[0].State)
	s.stop()
	line, err := bufio.NewReader(errs).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, "resilientctl: redisstore: list: ")
	t.Cleanup(s.start())
	assert.Empty(t, next(), "it has lost its memory")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_, err = out.Read(make([]byte, 1))
	assert.Error(t, err, "and no more")
	assert.NoError(t, cmd.Wait())
}
