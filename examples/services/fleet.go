package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// embedded is the Redis that this program brings along.
const embedded = "embedded"

// sharing says how many replicas share circuits, and where.
type sharing struct {
	replicas int
	redis    string // embedded, or a URL
}

// fleet is several processes of this program that share their circuits.
type fleet struct {
	server   *miniredis.Miniredis // nil where Redis is somebody else's
	replicas []*process
}

// process is one replica.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

// startFleet starts the replicas, each of which talks to the platform's provider.
func startFleet(ctx context.Context, p *platform) (*fleet, error) {
	f := &fleet{}
	url := p.sharing.redis
	if url == embedded {
		var err error
		if f.server, err = miniredis.Run(); err != nil {
			return nil, err
		}
		url = "redis://" + f.server.Addr()
	}
	namespace := fmt.Sprintf("services-%d", time.Now().UnixNano())
	for range p.sharing.replicas {
		r, err := startReplica(ctx, p.provider.url, url, namespace)
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.replicas = append(f.replicas, r)
	}
	return f, nil
}

func startReplica(ctx context.Context, provider, store, namespace string) (*process, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &process{command: exec.CommandContext(ctx, binary)}
	r.command.Env = append(os.Environ(),
		replicaProvider+"="+provider, replicaNamespace+"="+namespace, "CLEVERAGENTS_CB_STORE="+store)
	for name, value := range environment {
		r.command.Env = append(r.command.Env, name+"="+value)
	}
	r.command.Stderr = os.Stderr
	if r.in, err = r.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewScanner(out)
	return r, r.command.Start()
}

// tell gives a replica a line; hear waits for what came of it.
func (r *process) tell(line string) error {
	_, err := fmt.Fprintln(r.in, line)
	return err
}

func (r *process) hear() (string, error) {
	if !r.out.Scan() {
		return "", errors.Join(errors.New("the replica has ended"), r.out.Err())
	}
	return r.out.Text(), nil
}

// ask does both.
func (r *process) ask(line string) (string, error) {
	if err := r.tell(line); err != nil {
		return "", err
	}
	return r.hear()
}

// all asks all replicas at once, and counts what comes of it.
func (f *fleet) all(line string) (map[string]int, error) {
	for _, r := range f.replicas {
		if err := r.tell(line); err != nil {
			return nil, err
		}
	}
	answers := map[string]int{}
	for _, r := range f.replicas {
		answer, err := r.hear()
		if err != nil {
			return nil, err
		}
		answers[answer]++
	}
	return answers, nil
}

// await waits until all replicas see the circuit in that state. News take a moment.
func (f *fleet) await(ctx context.Context, state string) error {
	for {
		answers, err := f.all("state")
		if err != nil || answers[state] == len(f.replicas) {
			return err
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return fmt.Errorf("the replicas see %v, not %s: %w", answers, state, err)
		}
	}
}

func (f *fleet) close() error {
	var errs []error
	for _, r := range f.replicas {
		errs = append(errs, r.in.Close(), r.command.Wait())
	}
	if f.server != nil {
		f.server.Close()
	}
	return errors.Join(errs...)
}
