package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// startRedis starts a server that ends with the context, and returns its address.
func startRedis(ctx context.Context) (string, error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return "", fmt.Errorf("%w (make redis installs it)", err)
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if _, err := strconv.Atoi(port); err != nil {
		return "", err
	}
	server := exec.CommandContext(ctx, binary, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return "", err
	}
	for range 100 {
		var dialer net.Dialer
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return address, connection.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return "", fmt.Errorf("redis-server does not listen on %s", address)
}

func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
