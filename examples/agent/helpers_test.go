package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	logging.Disable()
	os.Exit(m.Run())
}

// servers are what replicas can share their circuits in.
var servers = map[string]func(t *testing.T) (url string){"embedded": startEmbedded, "redis-server": startRedis}

func startEmbedded(t *testing.T) string { return "redis://" + miniredis.RunT(t).Addr() }

// startRedis starts a real one that ends with the test. Where there is none the test fails, if that is what CI or
// STOIC_REDIS=required asks for.
func startRedis(t *testing.T) string {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" || os.Getenv("STOIC_REDIS") == "required" {
			t.Fatalf("this test needs a redis-server in PATH: %v", err)
		}
		t.Skipf("NOT RUN: this test needs a redis-server in PATH (%v); STOIC_REDIS=required makes that a failure", err)
	}
	dir, address := t.TempDir(), freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	server := exec.Command(binary, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", dir, "--logfile", filepath.Join(dir, "redis.log"), "--daemonize", "no")
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	client := redis.NewClient(&redis.Options{Addr: address, DisableIdentity: true, DialerRetries: 1, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	require.Eventually(t, func() bool { return client.Ping(context.Background()).Err() == nil },
		10*time.Second, 5*time.Millisecond, "redis-server does not answer")
	return "redis://" + address
}

// freeAddress is one that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
