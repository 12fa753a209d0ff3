package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// What a replica is told through its environment, besides its policies.
const (
	replicaProvider  = "SERVICES_REPLICA_PROVIDER" // the provider's URL; set in replicas only
	replicaNamespace = "SERVICES_REPLICA_NAMESPACE"
)

// replica is a process that shares its circuits with others: it does what it is told on its standard input, line by
// line, and writes what came of it. It returns the exit code.
func replica(ctx context.Context, in io.Reader, out, stderr io.Writer) int {
	if err := serve(ctx, in, out); err != nil {
		_, _ = fmt.Fprintln(stderr, "replica:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	quiet := slog.New(slog.DiscardHandler)
	// CLEVERAGENTS_CB_STORE says where the circuits are shared.
	store, err := redisstore.FromEnv("CLEVERAGENTS", &redisstore.Options{
		Namespace: os.Getenv(replicaNamespace), Logger: quiet,
	})
	if err != nil {
		return err
	}
	if store == nil {
		return errors.New("a replica needs CLEVERAGENTS_CB_STORE")
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // without it the circuits ask by themselves, once a second
		defer close(ended)
		_ = store.Run(ctx) // it ends with ctx, and logs what is wrong before
	}()
	defer func() {
		stop()
		<-ended
		_ = store.Close()
	}()
	registry, err := policies.FromEnv("CLEVERAGENTS", &policies.Options{
		Options: resilient.Options{Classify: classify, Logger: quiet, Store: store},
	})
	if err != nil {
		return err
	}
	r := &replicaServices{
		plans:   newPlanService(registry, os.Getenv(replicaProvider), providerKey),
		circuit: registry.Guard("plan_service").Circuit(),
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if _, err := fmt.Fprintln(out, r.do(ctx, lines.Text())); err != nil {
			return err
		}
	}
	return lines.Err()
}

type replicaServices struct {
	plans   planService
	circuit *breaker.Circuit
}

// do carries out one line.
func (r *replicaServices) do(ctx context.Context, line string) string {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "get":
		_, err := r.plans.Get(ctx, rest)
		return describe(err)
	case "apply":
		return describe(r.plans.Apply(ctx, plan{ID: rest}))
	case "state":
		return r.circuit.State().String()
	case "due": // when the next probe may be made
		return r.circuit.Snapshot().Until.Format(time.RFC3339Nano)
	case "maintenance":
		return describe(r.circuit.Steer(ctx, breaker.Order{
			Force: breaker.ForceOpen, Author: "on call", Reason: rest, For: time.Hour,
		}))
	case "release":
		return describe(r.circuit.Steer(ctx, breaker.Order{Author: "on call", Reason: rest}))
	}
	return "what is " + verb + "?"
}
