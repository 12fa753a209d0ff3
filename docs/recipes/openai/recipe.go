// Package openai is a recipe: toolguard in a plain tool loop over OpenAI's chat completions.
package openai

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
	"github.com/seed42274fcc/stoic/sanitize"
)

// region recipe

// Turn is one request to the model, and the calls that it asks for. Repeat it until a message has no calls: that is
// the answer.
func Turn(ctx context.Context, client openai.Client, guard *toolguard.Guard, params *openai.ChatCompletionNewParams, run Run) (openai.ChatCompletionMessage, error) {
	turn := guard.Turn(ctx, names(params.Tools))
	defer turn.Close()
	request := *params // params.Tools stay whole, for the turns to come
	request.Tools = toolguard.Filter(turn, params.Tools, nameOf)
	completion, err := client.Chat.Completions.New(ctx, request)
	if err == nil && len(completion.Choices) == 0 {
		err = errors.New("the model has not answered")
	}
	if err != nil {
		return openai.ChatCompletionMessage{}, err
	}
	message := completion.Choices[0].Message
	params.Messages = append(params.Messages, message.ToParam())
	for _, call := range message.ToolCalls {
		result := callTool(turn.Context(ctx), guard, call.Function, run)
		params.Messages = append(params.Messages, openai.ToolMessage(result, call.ID))
	}
	return message, nil
}

// callTool returns what the model is to read.
func callTool(ctx context.Context, guard *toolguard.Guard, call openai.ChatCompletionMessageFunctionToolCallFunction, run Run) string {
	result, err := toolguard.Call(ctx, guard, call.Name, call.Arguments, func(ctx context.Context, arguments string) (string, error) {
		return run(ctx, call.Name, arguments)
	})
	var refused *toolguard.RefusedError
	switch {
	case errors.As(err, &refused):
		return refused.Message() // a result like any other
	case err != nil:
		return "The tool failed: " + sanitize.String(err.Error())
	}
	return result
}

// endregion

// Run calls a tool with the arguments that the model has written, as JSON.
type Run func(ctx context.Context, tool, arguments string) (string, error)

func names(tools []openai.ChatCompletionToolUnionParam) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = nameOf(tool)
	}
	return names
}

func nameOf(tool openai.ChatCompletionToolUnionParam) string {
	if function := tool.GetFunction(); function != nil {
		return function.Name
	}
	return "" // a custom tool: its calls have no Function
}
