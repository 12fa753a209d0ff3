package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

var _ breaker.BatchStore = (*Store)(nil)

// DoAll carries out several commands in one round trip, in a cluster one to each node.
// Each is [Store.Do] by itself: one of them may fail where another does not.
func (s *Store) DoAll(ctx context.Context, commands []breaker.BatchCommand) []breaker.BatchReply {
	replies := make([]breaker.BatchReply, len(commands))
	if len(commands) == 0 {
		return replies
	}
	permit, err := s.health.enter(s.options.Timeout)
	if err != nil {
		for i := range replies {
			replies[i].Err = fmt.Errorf("redisstore: %w", err)
		}
		return replies
	}
	hurried := false
	if deadline, ok := ctx.Deadline(); ok {
		hurried = time.Until(deadline) < s.options.Timeout*9/10
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	if permit.Probe() {
		err = s.touch(ctx, commands[0].Circuit)
	}
	if err == nil {
		s.sendAll(ctx, commands, replies)
	} else {
		for i := range replies {
			replies[i].Err = err
		}
	}
	suspect, failed := s.settleAll(commands, replies)
	s.health.leave(permit, suspect, judge(ctx, failed, hurried), failed)
	return replies
}

// sendAll sends the commands together. A script that the server has forgotten goes there
// by itself.
func (s *Store) sendAll(ctx context.Context, commands []breaker.BatchCommand, replies []breaker.BatchReply) {
	said := make([]*redis.Cmd, len(commands))
	pipe := s.client.Pipeline()
	for i, c := range commands {
		script := s.scripts[c.Command.Kind]
		if script == nil {
			replies[i].Err = fmt.Errorf("%d is no kind of a command", c.Command.Kind)
			continue
		}
		said[i] = script.EvalSha(ctx, pipe, []string{s.key(c.Circuit)}, s.arguments(c.Circuit, c.Command)...)
	}
	_, _ = pipe.Exec(ctx) // each reply has its own error
	for i, c := range commands {
		if said[i] == nil {
			continue
		}
		if forgotten(said[i].Err()) {
			said[i] = s.scripts[c.Command.Kind].Run(ctx, s.client, []string{s.key(c.Circuit)}, s.arguments(c.Circuit, c.Command)...)
		}
		replies[i].Answer, replies[i].Err = s.understand(said[i])
	}
}

// settleAll does what the replies call for. It returns one of those that say that Redis
// does not work, if there is one.
func (s *Store) settleAll(commands []breaker.BatchCommand, replies []breaker.BatchReply) (suspect string, failed error) {
	for i, c := range commands {
		r := &replies[i]
		if r.Err != nil {
			s.note(c.Circuit, r.Err)
			if judge(context.Background(), r.Err, false) != breaker.Success {
				suspect, failed = c.Circuit, r.Err
			}
			r.Err = fmt.Errorf("redisstore: %s of circuit %s: %w", c.Command.Kind, sanitize.Message(c.Circuit), r.Err)
		} else if r.Answer.Clamped {
			s.events.about(Clamped, c.Circuit, nil)
		}
	}
	return suspect, failed
}

// forgotten reports whether the server does not know the script.
func forgotten(err error) bool {
	return errors.Is(err, redis.ErrNoScript) || redis.HasErrorPrefix(err, "NOSCRIPT")
}
