package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// startRedis starts a server, and returns its address and what ends it.
func startRedis(ctx context.Context) (address string, stop func(), err error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return "", nil, fmt.Errorf("%w (make redis installs it)", err)
	}
	address, err = freeAddress(ctx)
	if err != nil {
		return "", nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil, err
	}
	server := exec.CommandContext(ctx, binary, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = server.Process.Kill()
		_ = server.Wait() // that it was killed
	}
	if err := awaitRedis(ctx, address); err != nil {
		stop()
		return "", nil, err
	}
	return address, stop, nil
}

// awaitRedis waits until somebody listens.
func awaitRedis(ctx context.Context, address string) error {
	for range 100 {
		var dialer net.Dialer
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return connection.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("redis-server does not listen on %s", address)
}

func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
