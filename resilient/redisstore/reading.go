package redisstore

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// batch is how many circuits are read at a time: few enough for one Timeout.
const batch = 64

// readSome reads a few of the circuits that are behind, and tells their watchers. It
// reports false if Redis did not answer; who was not read then is still behind.
func (r *runner) readSome(ctx context.Context) bool {
	permit, err := r.health.enter(r.options.Timeout)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	some := r.some()
	replies := r.send(ctx, some)
	var failed error
	suspect := ""
	for circuit, reply := range replies {
		answer, err := r.understand(r.again(ctx, circuit, reply))
		if err != nil {
			r.note(circuit, err)
			if judge(ctx, err, false) != breaker.Success {
				suspect, failed = circuit, err
				continue
			}
		}
		for _, one := range some[circuit] {
			delete(r.behind, one)
			if err == nil {
				r.tellAnswer(one, answer, true)
			}
		}
		if answer.Clamped {
			r.events.about(Clamped, circuit, nil)
		}
	}
	r.health.leave(permit, suspect, judge(ctx, failed, false), failed)
	return failed == nil
}

// some are a few of those that are behind, by circuit.
func (r *runner) some() map[string][]*watcher {
	some := map[string][]*watcher{}
	for one := range r.behind {
		if _, in := some[one.circuit]; !in && len(some) == batch {
			continue
		}
		some[one.circuit] = append(some[one.circuit], one)
	}
	return some
}

// readCommand reads for those whose policies Run does not know. They matter only where a
// read has something to write, a force that has ended: then it is kept as long as any
// policy could want.
func readCommand() breaker.Command {
	c := breaker.Command{Kind: breaker.Read, Settings: breaker.DefaultSettings()}
	c.Settings.RecoveryTimeout = c.Settings.MaxRecoveryTimeout
	return c
}

// send reads the circuits in one round trip.
func (r *runner) send(ctx context.Context, some map[string][]*watcher) map[string]*redis.Cmd {
	replies := make(map[string]*redis.Cmd, len(some))
	pipe := r.client.Pipeline()
	for circuit := range some {
		replies[circuit] = r.scripts[breaker.Read].EvalSha(ctx, pipe, []string{r.key(circuit)}, r.arguments(circuit, readCommand())...)
	}
	_, _ = pipe.Exec(ctx) // each reply has its own error
	return replies
}

// again sends the script itself if the server has forgotten it.
func (r *runner) again(ctx context.Context, circuit string, reply *redis.Cmd) *redis.Cmd {
	if !forgotten(reply.Err()) {
		return reply
	}
	return r.scripts[breaker.Read].Run(ctx, r.client, []string{r.key(circuit)}, r.arguments(circuit, readCommand())...)
}
