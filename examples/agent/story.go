package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed42274fcc/stoic/integrations/mcpguard"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// story is what replicas do turn by turn, and what was seen of it. After an error nothing more happens in it.
type story struct {
	ctx  context.Context
	w    *world
	told []string
	err  error
}

func (s *story) tell(format string, args ...any) {
	s.told = append(s.told, fmt.Sprintf(format, args...))
}

// turn begins one, and tells whether search is offered in it.
func (s *story) turn(r *replica) *mcpguard.Turn {
	if s.err != nil {
		return &mcpguard.Turn{}
	}
	turn, err := r.session.Turn(s.ctx)
	switch {
	case err != nil:
		s.err = err
		return &mcpguard.Turn{}
	case slices.Contains(offered(turn), search):
		s.tell("%s is offered it", r.name)
	default:
		s.tell("%s is not", r.name)
	}
	return turn
}

func (s *story) call(turn *mcpguard.Turn, tool string) {
	if s.err != nil {
		return
	}
	if one := call(s.ctx, turn, tool, "this and that"); one.useful() {
		s.tell("%s answers", tool)
	} else {
		s.tell("%s says %q", tool, one.text)
	}
}

// await waits until it is so for every replica.
func (s *story) await(what string, reached func(breaker.Snapshot) bool) {
	if s.err == nil {
		s.err = s.w.await(s.ctx, what, func(seen []breaker.Snapshot) bool { return all(seen, reached) })
	}
}
