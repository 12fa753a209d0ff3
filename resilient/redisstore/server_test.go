package redisstore_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

func TestMain(m *testing.M) {
	logging.Disable() // go-redis tells of each refused connection, and these tests refuse many
	os.Exit(m.Run())
}

// server is a real Redis, of this test alone.
type server struct {
	t      testing.TB
	binary string
	dir    string
	args   []string
	addr   string // host:port
	cmd    *exec.Cmd
	client *redis.Client
}

// startRedis starts a redis-server that ends with the test. Where there is none the test
// fails, if that is what CI or STOIC_REDIS=required asks for.
func startRedis(t testing.TB, args ...string) *server {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" || os.Getenv("STOIC_REDIS") == "required" {
			t.Fatalf("this test needs a redis-server in PATH: %v", err)
		}
		t.Skipf("NOT RUN: this test needs a redis-server in PATH (%v); STOIC_REDIS=required makes that a failure", err)
	}
	s := &server{t: t, binary: binary, dir: t.TempDir(), args: args, addr: freeAddr(t)}
	s.client = redis.NewClient(&redis.Options{Addr: s.addr, DisableIdentity: true})
	t.Cleanup(func() {
		_ = s.client.Close()
		s.kill()
	})
	s.start()
	return s
}

// freeAddr is an address that nobody listens at.
func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func (s *server) start() {
	s.t.Helper()
	_, port, err := net.SplitHostPort(s.addr)
	require.NoError(s.t, err)
	args := append([]string{
		"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", s.dir,
		"--logfile", filepath.Join(s.dir, "redis.log"), "--daemonize", "no", "--repl-diskless-sync-delay", "0",
	}, s.args...)
	s.cmd = exec.Command(s.binary, args...)
	require.NoError(s.t, s.cmd.Start())
	probe := redis.NewClient(&redis.Options{Addr: s.addr, DisableIdentity: true, DialerRetries: 1, MaxRetries: -1})
	defer func() { _ = probe.Close() }()
	require.Eventually(s.t, func() bool { return probe.Ping(context.Background()).Err() == nil },
		10*time.Second, 5*time.Millisecond, "redis-server does not answer")
}

// kill ends the server as a crash would.
func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// stop lets the server hang: it keeps its connections and answers nothing.
func (s *server) stop() { require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGSTOP)) }

func (s *server) resume() { require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGCONT)) }

func (s *server) do(args ...any) any {
	s.t.Helper()
	value, err := s.client.Do(context.Background(), args...).Result()
	require.NoError(s.t, err, "%v", args)
	return value
}

func (s *server) url() string { return fmt.Sprintf("redis://%s/0", s.addr) }

// store is one process's, by its URL. Timeouts are long, as machines that test are slow.
func (s *server) store(options *redisstore.Options) *redisstore.Store {
	s.t.Helper()
	if options == nil {
		options = &redisstore.Options{}
	}
	if options.Timeout == 0 {
		options.Timeout = 5 * time.Second
	}
	if options.Logger == nil {
		options.Logger = quietLogger()
	}
	store, err := redisstore.Open(s.url(), options)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = store.Close() })
	return store
}
