// Package mutant breaks the store on purpose, so that it can be seen that the checks
// would find it.
package mutant

import (
	"context"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Name is a bug that can be planted. The zero value is none.
type Name string

const (
	// Token is that any result counts for the probe that is out, whoever's it is.
	Token Name = "token not compared"
	// Lease is that a probe that never reports keeps its place for ever.
	Lease Name = "lease not swept"
	// Step is that the failure is counted first, and the circuit opened by a command
	// that follows.
	Step Name = "trip in a second step"
	// Success is that a success does not end a run of failures.
	Success Name = "success not clearing"
)

// All are those that there are.
var All = []Name{Token, Lease, Step, Success}

// edits say what is changed in the scripts.
var edits = map[Name]struct{ from, to string }{
	Token:   {"find(s.leases, TOKEN)", "(find(s.leases, TOKEN) or find(s.leases, (s.leases[1] or {}).owner))"},
	Lease:   {"elseif #live(s.leases) >=", "elseif #s.leases >="},
	Success: {"if s.failures == 0 then return true end\n    s.failures = 0", "if s.failures == 0 then return true end"},
}

// Plant plants it in all commands that the client sends.
func Plant(client redis.UniversalClient, name Name) {
	if edit, ok := edits[name]; ok {
		client.AddHook(&hook{edit.from, edit.to})
	}
}

// hook changes the scripts on their way. A script is sent by its hash first: there is
// none of that hash, so that its text follows.
type hook struct{ from, to string }

func (h *hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h *hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		switch cmd.Name() {
		case "evalsha", "evalsha_ro":
			cmd.SetErr(noScript{})
			return cmd.Err()
		case "eval":
			args := cmd.Args()
			args[1] = strings.ReplaceAll(args[1].(string), h.from, h.to)
		}
		return next(ctx, cmd)
	}
}

type noScript struct{}

// Error is what a server says that does not have the script.
func (noScript) Error() string { return "NOSCRIPT No matching script" }

// RedisError marks it as a server's.
func (noScript) RedisError() {}

// Wrap plants it round a store, if that is the way to do it.
func Wrap(s breaker.Store, name Name) breaker.Store {
	if name == Step {
		return &twoSteps{Store: s}
	}
	return s
}

// twoSteps counts a failure and opens the circuit afterwards.
type twoSteps struct {
	breaker.Store
	counted sync.Map // the IDs
}

// Do carries out one command, or two.
func (s *twoSteps) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if c.Kind != breaker.Settle || c.Outcome != breaker.Failure {
		return s.Store.Do(ctx, circuit, c)
	}
	_, again := s.counted.LoadOrStore(c.ID, true)
	first := c
	first.Settings.FailureThreshold = 1_000_000
	answer, err := s.Store.Do(ctx, circuit, first)
	if err != nil || again || !answer.Counted || answer.Record.Beneath != breaker.Closed ||
		answer.Record.Failures < c.Settings.FailureThreshold {
		return answer, err
	}
	c.Kind, c.ID, c.Failures, c.Settings.MinReporters = breaker.Vote, c.ID^1, answer.Record.Failures, 1
	return s.Store.Do(ctx, circuit, c)
}
