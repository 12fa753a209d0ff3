// Package mcpgo is a recipe: toolguard in a server made with mcp-go.
package mcpgo

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// region recipe

// Filter takes broken tools from the server's lists: give it to Hooks.AddAfterListTools. WithToolFilter is no place for
// it, since what that hides is "not found" when it is called: an error.
func Filter(guard *toolguard.Guard) server.OnAfterListToolsFunc {
	return func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, list *mcp.ListToolsResult) {
		turn := guard.Turn(ctx, names(list.Tools))
		defer turn.Close() // the call claims the probe, not the list
		list.Tools = toolguard.Filter(turn, list.Tools, nameOf)
	}
}

// Protect guards the calls: give it to WithToolHandlerMiddleware.
func Protect(guard *toolguard.Guard) server.ToolHandlerMiddleware {
	return func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result, err := toolguard.Call(ctx, guard, request.Params.Name, request, judged(next))
			var refused *toolguard.RefusedError
			switch {
			case errors.As(err, &refused):
				return mcp.NewToolResultText(refused.Message()), nil // a result like any other: no error
			case errors.Is(err, errReported):
				return result, nil
			}
			return result, err
		}
	}
}

var errReported = errors.New("the tool has answered with an error")

// judged makes an error that a tool has reported in its result one that counts.
func judged(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := next(ctx, request)
		switch {
		case err == nil && result.NeedsInput():
			err = toolguard.WithOutcome(errReported, toolguard.Running)
		case err == nil && result != nil && result.IsError:
			err = errReported
		}
		return result, err
	}
}

// endregion

func names(tools []mcp.Tool) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names
}

func nameOf(tool mcp.Tool) string { return tool.Name }
