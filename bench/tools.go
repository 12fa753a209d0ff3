package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// The tools of an agent.

// toolCount is how many an agent has.
const toolCount = 100

// tool is what an agent registers.
type tool struct{ name, description string }

func nameOf(t *tool) string { return t.name }

// toolbox is an agent's tools, and their names.
func toolbox() (tools []*tool, names []string) {
	for i := range toolCount {
		one := &tool{name: fmt.Sprintf("tool_%d", i), description: "does one thing"}
		tools, names = append(tools, one), append(names, one.name)
	}
	return tools, names
}

// toolGuard makes one that watches all tools.
func toolGuard(o toolguard.Options) *toolguard.Guard {
	o.MonitorAll, o.Logger = true, slog.New(slog.DiscardHandler)
	o.FailureThreshold = tripAfter
	return must(toolguard.New(&o))
}

// failedOnce lets each tool have a failure behind it, so that there is a circuit for each
// of them, and all are closed.
func failedOnce(g *toolguard.Guard, names []string) {
	for _, name := range names {
		for _, outcome := range []toolguard.Outcome{toolguard.Error, toolguard.Success} {
			must(g.Begin(context.Background(), name)).End(outcome)
		}
	}
	if all := g.Tools(); len(all) != len(names) || all[0].State != breaker.Closed {
		panic("the tools are not known, or not closed")
	}
}

// nothingFailed leaves it at that.
func nothingFailed(*toolguard.Guard, []string) {}

var errWithheld = errors.New("a tool that works was withheld")

func oursTurns(o toolguard.Options, before func(*toolguard.Guard, []string)) func(*service) loop {
	tools, names := toolbox()
	guard := toolGuard(o)
	before(guard, names)
	return func(*service) loop {
		ctx := context.Background()
		return func(n int) error {
			for range n {
				turn := guard.Turn(ctx, names)
				left := toolguard.Filter(turn, tools, nameOf)
				turn.Close()
				if len(left) != len(tools) {
					return errWithheld
				}
			}
			return nil
		}
	}
}

// lookups asks a map about each tool, and does no more: what any filter has to do.
func lookups() func(*service) loop {
	tools, names := toolbox()
	broken := make(map[string]*bool, len(names))
	for _, name := range names {
		broken[name] = new(bool)
	}
	return func(*service) loop {
		return func(n int) error {
			for range n {
				for _, one := range tools {
					if is := broken[one.name]; is == nil || *is {
						return errWithheld
					}
				}
			}
			return nil
		}
	}
}

func oursToolCalls(o toolguard.Options, before func(*toolguard.Guard, []string)) func(*service) loop {
	_, names := toolbox()
	guard := toolGuard(o)
	before(guard, names)
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := toolguard.Call(ctx, guard, names[id%len(names)], id, s.call)
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

func timeoutByHand() func(*service) loop {
	return func(s *service) loop {
		return func(n int) error {
			for id := range n {
				ctx, cancel := context.WithTimeout(context.Background(), totalTimeout)
				got, err := s.call(ctx, id)
				cancel()
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}
