package einoguard

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// call is one call of a tool that exists: of one that does not, eino tells no middleware.
type call struct {
	guard     *Guard
	turn      *turn  // the model's; nil if there is none
	called    string // the name that the model has used
	name      string // the tool's own
	info      *toolInfo
	arguments string
}

// call is what an agent's model has asked for.
func (m *middleware) call(ctx context.Context, called, arguments string) call {
	c := call{guard: m.guard, turn: m.runIn(ctx).current(), called: called, name: m.nameOf(called), arguments: arguments}
	if c.turn != nil {
		c.info = c.turn.infos[c.name]
	}
	return c
}

// begin asks for the permit: in the turn if it knows of the tool. After an interrupt there
// is no turn, and what another middleware keeps from the model is not in one.
func (c call) begin(ctx context.Context) (*toolguard.Permit, error) {
	if c.turn != nil && c.info != nil {
		return c.turn.begin(ctx, c.name)
	}
	return c.guard.tools.Begin(ctx, c.name)
}

// refusal makes a refusal what the model is to get: a normal result. Any other error
// stays one.
func (c call) refusal(err error) (string, error) {
	var refused *toolguard.RefusedError
	if !errors.As(err, &refused) {
		return "", err
	}
	own := *refused
	own.Tool = c.called
	return own.Message(), nil
}

// invoke calls a tool whose result comes at once, and ends the permit whatever happens. A
// tool that does not heed its context is found when its time is up, not when it returns,
// if ever.
func invoke[R any](ctx context.Context, c call, say func(string) R, fn func(context.Context) (R, error)) (result R, err error) {
	permit, err := c.begin(ctx)
	if err != nil {
		text, err := c.refusal(err)
		if err != nil {
			return result, err
		}
		return say(text), nil
	}
	if !permit.Watched() {
		return fn(permit.Context())
	}
	limited := permit.Context()
	over := limit(permit)
	returned := false
	defer func() {
		if !returned { // a panic or the end of the goroutine
			over()
			permit.End(toolguard.Error)
		}
	}()
	result, err = fn(limited)
	returned = true
	over()
	c.settle(limited, permit, result, err)
	return result, err
}

// limit ends a permit when the tool's own time is over, and not before the call has. What
// it returns ends that; where it comes too late, it waits, so that who has the result
// finds it counted.
func limit(permit *toolguard.Permit) (over func()) {
	ctx, told := permit.Context(), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		if ours(ctx) {
			permit.EndResult(nil, context.Cause(ctx))
		}
	})
	return func() {
		if !stop() {
			<-told
		}
	}
}

func ours(ctx context.Context) bool {
	var limit *resilient.TimeoutError
	return errors.As(context.Cause(ctx), &limit)
}

func text(s string) string { return s }

func part(s string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
}

// exempt reports whether a tool is not guarded in this call: it ends the agent, or the
// request insists on it.
func (m *middleware) exempt(ctx context.Context, called string) bool {
	name := m.nameOf(called)
	if m.guard.idle || name == m.exitName(ctx) {
		return true
	}
	turn := m.runIn(ctx).current()
	return turn != nil && turn.forced == name
}

// WrapInvokableToolCall is the guard on the call.
func (m *middleware) WrapInvokableToolCall(ctx context.Context, next adk.InvokableToolCallEndpoint, tc *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	if m.exempt(ctx, tc.Name) {
		return next, nil
	}
	return func(ctx context.Context, arguments string, options ...tool.Option) (string, error) {
		return invoke(ctx, m.call(ctx, tc.Name, arguments), text, func(ctx context.Context) (string, error) {
			return next(ctx, arguments, options...)
		})
	}, nil
}

// WrapStreamableToolCall is the guard on the call.
func (m *middleware) WrapStreamableToolCall(ctx context.Context, next adk.StreamableToolCallEndpoint, tc *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	if m.exempt(ctx, tc.Name) {
		return next, nil
	}
	return func(ctx context.Context, arguments string, options ...tool.Option) (*schema.StreamReader[string], error) {
		return stream(ctx, m.call(ctx, tc.Name, arguments), text, func(ctx context.Context) (*schema.StreamReader[string], error) {
			return next(ctx, arguments, options...)
		})
	}, nil
}

// WrapEnhancedInvokableToolCall is the guard on the call.
func (m *middleware) WrapEnhancedInvokableToolCall(ctx context.Context, next adk.EnhancedInvokableToolCallEndpoint, tc *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	if m.exempt(ctx, tc.Name) {
		return next, nil
	}
	return func(ctx context.Context, argument *schema.ToolArgument, options ...tool.Option) (*schema.ToolResult, error) {
		return invoke(ctx, m.call(ctx, tc.Name, argument.Text), part, func(ctx context.Context) (*schema.ToolResult, error) {
			return next(ctx, argument, options...)
		})
	}, nil
}

// WrapEnhancedStreamableToolCall is the guard on the call.
func (m *middleware) WrapEnhancedStreamableToolCall(ctx context.Context, next adk.EnhancedStreamableToolCallEndpoint, tc *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	if m.exempt(ctx, tc.Name) {
		return next, nil
	}
	return func(ctx context.Context, argument *schema.ToolArgument, options ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		return stream(ctx, m.call(ctx, tc.Name, argument.Text), part, func(ctx context.Context) (*schema.StreamReader[*schema.ToolResult], error) {
			return next(ctx, argument, options...)
		})
	}, nil
}
