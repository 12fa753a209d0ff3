// Package anthropic is a recipe: toolguard in a plain tool loop over Anthropic's messages.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
	"github.com/seed42274fcc/stoic/sanitize"
)

// region recipe

// Turn is one request to the model, and the calls that it asks for. Repeat it while a message's StopReason is tool_use.
func Turn(ctx context.Context, client anthropic.Client, guard *toolguard.Guard, params *anthropic.MessageNewParams, run Run) (*anthropic.Message, error) {
	turn := guard.Turn(ctx, names(params.Tools))
	defer turn.Close()
	request := *params // params.Tools stay whole, for the turns to come
	request.Tools = toolguard.Filter(turn, params.Tools, nameOf)
	message, err := client.Messages.New(ctx, request)
	if err != nil {
		return nil, err
	}
	params.Messages = append(params.Messages, message.ToParam())
	var results []anthropic.ContentBlockParamUnion
	for _, block := range message.Content {
		if call, ok := block.AsAny().(anthropic.ToolUseBlock); ok && message.StopReason == anthropic.StopReasonToolUse {
			results = append(results, callTool(turn.Context(ctx), guard, call, run))
		}
	}
	if results != nil {
		params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
	}
	return message, nil
}

// callTool returns what the model is to read.
func callTool(ctx context.Context, guard *toolguard.Guard, call anthropic.ToolUseBlock, run Run) anthropic.ContentBlockParamUnion {
	result, err := toolguard.Call(ctx, guard, call.Name, call.Input, func(ctx context.Context, input json.RawMessage) (string, error) {
		return run(ctx, call.Name, input)
	})
	var refused *toolguard.RefusedError
	switch {
	case errors.As(err, &refused):
		return anthropic.NewToolResultBlock(call.ID, refused.Message(), false) // a result like any other: no error
	case err != nil:
		return anthropic.NewToolResultBlock(call.ID, sanitize.String(err.Error()), true)
	}
	return anthropic.NewToolResultBlock(call.ID, result, false)
}

// endregion

// Run calls a tool with the input that the model has written.
type Run func(ctx context.Context, tool string, input json.RawMessage) (string, error)

func names(tools []anthropic.ToolUnionParam) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = nameOf(tool)
	}
	return names
}

func nameOf(tool anthropic.ToolUnionParam) string {
	if name := tool.GetName(); name != nil {
		return *name
	}
	return ""
}
