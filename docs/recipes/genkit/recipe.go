// Package genkit is a recipe: toolguard in what genkit.Generate does.
package genkit

import (
	"context"
	"errors"
	"slices"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// region recipe

type turnKey struct{}

// Generate is genkit.Generate with a turn for each request to the model.
func Generate(ctx context.Context, g *genkit.Genkit, guard *toolguard.Guard, options ...ai.GenerateOption) (*ai.ModelResponse, error) {
	var turn *toolguard.Turn
	defer func() { turn.Close() }()
	filter := func(next ai.ModelFunc) ai.ModelFunc {
		return func(ctx context.Context, request *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			turn.Close() // the calls of the round before are done
			turn = guard.Turn(ctx, names(request.Tools))
			own := *request // the request itself is that of the next round, too
			own.Tools = toolguard.Filter(turn, request.Tools, nameOf)
			return next(ctx, &own, stream)
		}
	}
	ctx = context.WithValue(ctx, turnKey{}, &turn)
	return genkit.Generate(ctx, g, append(slices.Clip(options), ai.WithMiddleware(filter))...)
}

// Protect guards a tool's function: give what it returns to genkit.DefineTool.
func Protect[In, Out any](guard *toolguard.Guard, name string, fn ai.ToolFunc[In, Out]) ai.ToolFunc[In, any] {
	return func(tool *ai.ToolContext, in In) (any, error) {
		var ctx context.Context = tool
		if turn, ok := tool.Value(turnKey{}).(**toolguard.Turn); ok {
			ctx = (*turn).Context(tool)
		}
		out, err := toolguard.Call(ctx, guard, name, in, func(ctx context.Context, in In) (Out, error) {
			own := *tool
			own.Context = ctx // with the tool's time limit
			out, err := fn(&own, in)
			if waits, _ := ai.IsToolInterruptError(err); waits {
				err = toolguard.WithOutcome(err, toolguard.Running)
			}
			return out, err
		})
		var refused *toolguard.RefusedError
		if errors.As(err, &refused) {
			return refused.Message(), nil // a result like any other: an error would end Generate
		}
		return out, err
	}
}

// endregion

func names(tools []*ai.ToolDefinition) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = nameOf(tool)
	}
	return names
}

func nameOf(tool *ai.ToolDefinition) string { return tool.Name }
