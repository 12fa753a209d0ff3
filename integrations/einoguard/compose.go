package einoguard

import (
	"context"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// composed is the guard on the call in a graph.
type composed struct {
	guard *Guard
	infos map[string]*toolInfo
}

func (c composed) middleware() compose.ToolMiddleware {
	return compose.ToolMiddleware{
		Invokable: c.invokable, EnhancedInvokable: c.enhancedInvokable,
		Streamable: c.streamable, EnhancedStreamable: c.enhancedStreamable,
	}
}

func (c composed) call(input *compose.ToolInput) call {
	return call{guard: c.guard, called: input.Name, name: input.Name, info: c.infos[input.Name], arguments: input.Arguments}
}

func (c composed) invokable(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
	say := func(s string) *compose.ToolOutput { return &compose.ToolOutput{Result: s} }
	return func(ctx context.Context, input *compose.ToolInput) (*compose.ToolOutput, error) {
		return invoke(ctx, c.call(input), say, func(ctx context.Context) (*compose.ToolOutput, error) {
			return next(ctx, input)
		})
	}
}

func (c composed) enhancedInvokable(next compose.EnhancedInvokableToolEndpoint) compose.EnhancedInvokableToolEndpoint {
	say := func(s string) *compose.EnhancedInvokableToolOutput {
		return &compose.EnhancedInvokableToolOutput{Result: part(s)}
	}
	return func(ctx context.Context, input *compose.ToolInput) (*compose.EnhancedInvokableToolOutput, error) {
		return invoke(ctx, c.call(input), say, func(ctx context.Context) (*compose.EnhancedInvokableToolOutput, error) {
			return next(ctx, input)
		})
	}
}

func (c composed) streamable(next compose.StreamableToolEndpoint) compose.StreamableToolEndpoint {
	return func(ctx context.Context, input *compose.ToolInput) (*compose.StreamToolOutput, error) {
		reader, err := stream(ctx, c.call(input), text, func(ctx context.Context) (*schema.StreamReader[string], error) {
			output, err := next(ctx, input)
			if err != nil {
				return nil, err
			}
			return output.Result, nil
		})
		if err != nil {
			return nil, err
		}
		return &compose.StreamToolOutput{Result: reader}, nil
	}
}

func (c composed) enhancedStreamable(next compose.EnhancedStreamableToolEndpoint) compose.EnhancedStreamableToolEndpoint {
	return func(ctx context.Context, input *compose.ToolInput) (*compose.EnhancedStreamableToolOutput, error) {
		reader, err := stream(ctx, c.call(input), part, func(ctx context.Context) (*schema.StreamReader[*schema.ToolResult], error) {
			output, err := next(ctx, input)
			if err != nil {
				return nil, err
			}
			return output.Result, nil
		})
		if err != nil {
			return nil, err
		}
		return &compose.EnhancedStreamableToolOutput{Result: reader}, nil
	}
}
