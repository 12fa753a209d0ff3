package mcpguard

import (
	"context"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking counts the questions of a call to its own client that are not answered yet: a
// human may have to. It is safe for concurrent use.
type asking struct{ open atomic.Int32 }

func (a *asking) now() bool { return a.open.Load() > 0 }

type askingKey struct{}

func withAsking(ctx context.Context, a *asking) context.Context {
	return context.WithValue(ctx, askingKey{}, a)
}

// asks reports whether a method is a question that somebody at the client answers.
func asks(method string) bool {
	return method == "elicitation/create" || method == "sampling/createMessage"
}

// sending is the middleware for what the server sends.
func (s *served) sending(next mcp.MethodHandler) mcp.MethodHandler {
	s.inbox.send(next)
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if a, ok := ctx.Value(askingKey{}).(*asking); ok && asks(method) {
			a.open.Add(1)
			result, err := next(ctx, method, req)
			if ctx.Err() == nil { // else it was never answered, and stays open
				a.open.Add(-1)
			}
			return result, err
		}
		s.inbox.acknowledged(ctx, method, req)
		return next(ctx, method, req)
	}
}
