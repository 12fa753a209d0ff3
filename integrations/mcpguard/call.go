package mcpguard

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// call is one call of a tool under its permit, on either side.
type call struct {
	permit *toolguard.Permit
	asking asking
	// misfit says that the arguments are none for this tool. It is asked only where the
	// tool has answered with an error.
	misfit func() bool
	// foreign says that middleware has answered with a type of its own.
	foreign bool
}

// run calls the tool, and ends the permit whatever happens. A tool that does not heed its
// context is found when its time is up, not when it returns, if ever.
func (c *call) run(ctx context.Context, fn func(context.Context) (*mcp.CallToolResult, error)) (*mcp.CallToolResult, error) {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		c.timeUp(ctx)
	})
	returned := false
	defer func() {
		if !returned { // a panic or the end of the goroutine
			stop()
			c.permit.End(toolguard.Error)
		}
	}()
	result, err := fn(withAsking(ctx, &c.asking))
	returned = true
	if !stop() {
		<-told // so that who has the result finds it counted
	}
	c.settle(ctx, result, err)
	return result, err
}

// timeUp ends the permit, if it is the tool's own time that is over.
func (c *call) timeUp(ctx context.Context) {
	if !ours(ctx) {
		return
	}
	if c.asking.now() {
		c.permit.End(toolguard.Running)
		return
	}
	c.permit.EndResult(nil, context.Cause(ctx))
}

func ours(ctx context.Context) bool {
	var limit *resilient.TimeoutError
	return errors.As(context.Cause(ctx), &limit)
}

// served.call is the guard on the call, in a server.
func (s *served) call(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest) (mcp.Result, error) {
	name := req.Params.Name
	permit, err := s.guard.tools.Begin(ctx, name)
	if err != nil {
		return s.refuse(ctx, next, req, err)
	}
	if !permit.Watched() {
		return next(ctx, methodCallTool, req)
	}
	c := call{permit: permit, misfit: func() bool {
		return misfit(find(registered(context.WithoutCancel(ctx), next, req.Session), name), req.Params.Arguments)
	}}
	var other mcp.Result // of middleware that answers with a type of its own
	result, err := c.run(permit.Context(), func(ctx context.Context) (*mcp.CallToolResult, error) {
		result, err := next(ctx, methodCallTool, req)
		typed, ok := result.(*mcp.CallToolResult)
		if !ok {
			other, c.foreign = result, result != nil
		}
		return typed, err
	})
	if result == nil {
		return other, err
	}
	return result, err
}

// refuse answers a call that has no permit.
func (s *served) refuse(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest, err error) (mcp.Result, error) {
	name := req.Params.Name
	var tools []*mcp.Tool
	result, err := answer(err, func(refused *toolguard.RefusedError) {
		tools = registered(ctx, next, req.Session)
		turn := s.guard.look(ctx, tools)
		defer turn.Close()
		refused.Others = turn.Others(name)
	})
	if err != nil {
		return nil, err
	}
	result.IsError = structured(find(tools, name))
	return result, nil
}

// MetaKeyRefused marks a result, in its _meta, as a refusal of a guard: the tool has not
// run. It has an object with the "reason" and, if somebody knows, "until" when (RFC 3339).
const MetaKeyRefused = "io.github.seed42274fcc.stoic/refused"

// structured reports whether a tool has promised structured content. A refusal has none, and
// the protocol lets that pass in errors only: clients that insist on it, as those of the SDKs
// for Python and TypeScript do, throw any other such result away with its text, and the model
// learns of an error without a reason.
func structured(tool *mcp.Tool) bool { return tool != nil && tool.OutputSchema != nil }

// answer makes a refusal what the model is to get: a normal result. Any other error stays
// one. complete may add to a copy of the refusal.
func answer(err error, complete func(*toolguard.RefusedError)) (*mcp.CallToolResult, error) {
	var refused *toolguard.RefusedError
	if !errors.As(err, &refused) {
		return nil, err
	}
	own := *refused
	complete(&own)
	why := map[string]any{"reason": own.Reason.String()}
	if !own.Until.IsZero() {
		why["until"] = own.Until.UTC().Format(time.RFC3339)
	}
	return &mcp.CallToolResult{
		Meta:    mcp.Meta{MetaKeyRefused: why},
		Content: []mcp.Content{&mcp.TextContent{Text: own.Message()}},
	}, nil
}
