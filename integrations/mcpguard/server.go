package mcpguard

import (
	"context"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// The methods that the guard knows. The SDK does not export their names.
const (
	methodInitialize = "initialize"
	methodListTools  = "tools/list"
	methodCallTool   = "tools/call"
	methodListen     = "subscriptions/listen"
)

// served is a server under a guard.
type served struct {
	guard  *Guard
	server *mcp.Server
	inbox  inbox
}

// receiving is the middleware for what clients ask. A request of another type than the
// SDK's own passes as it is.
func (s *served) receiving(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case methodListTools:
			result, err := next(ctx, method, req)
			return s.filtered(ctx, result), err
		case methodCallTool:
			if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
				return s.call(ctx, next, call)
			}
		case methodInitialize:
			result, err := next(ctx, method, req)
			s.inbox.initialized(result)
			return result, err
		case methodListen:
			own := &subscription{}
			ctx = withSubscription(ctx, own)
			defer s.inbox.unsubscribed(req.GetSession(), own)
		}
		return next(ctx, method, req)
	}
}

// filtered is a list without the tools that are withheld: a new one, since the result of
// a handler may be kept by somebody. A client is not to keep it for longer than it is true.
func (s *served) filtered(ctx context.Context, result mcp.Result) mcp.Result {
	list, ok := result.(*mcp.ListToolsResult)
	if !ok || list == nil || !s.guard.hides {
		return result
	}
	hidden := s.guard.hidden(ctx, list.Tools)
	if len(hidden) == 0 {
		return result
	}
	shorter := *list
	shorter.Tools = without(list.Tools, hidden)
	for _, w := range hidden {
		shorter.TTLMs = min(shorter.TTLMs, lasts(w))
	}
	return &shorter
}

// lasts is for how many milliseconds a list without the tool is true at least.
func lasts(w toolguard.Withheld) int {
	if w.Until.IsZero() {
		return 0
	}
	return int(max(time.Until(w.Until), 0) / time.Millisecond)
}

// without never returns nil: a list without tools is an empty one to clients.
func without(tools []*mcp.Tool, hidden map[string]toolguard.Withheld) []*mcp.Tool {
	left := make([]*mcp.Tool, 0, len(tools))
	for _, tool := range tools {
		if _, is := hidden[tool.Name]; !is {
			left = append(left, tool)
		}
	}
	return left
}

// hidden are the tools that a list is not to have. A list is no turn: nobody knows when
// its client will use it. So nothing is claimed for it, and a tool that may be tried
// again is in it; the call that comes first is the probe.
func (g *Guard) hidden(ctx context.Context, tools []*mcp.Tool) map[string]toolguard.Withheld {
	turn := g.look(ctx, tools)
	defer turn.Close()
	hidden := map[string]toolguard.Withheld{}
	for _, w := range turn.Withheld() {
		if !w.Listed && !due(w) {
			hidden[w.Tool] = w
		}
	}
	return hidden
}

// look makes a turn that claims nothing.
func (g *Guard) look(ctx context.Context, tools []*mcp.Tool) *toolguard.Turn {
	over, cancel := context.WithCancel(ctx)
	cancel()
	return g.tools.Turn(over, names(tools))
}

// due reports whether a tool may be tried again, or is being tried.
func due(w toolguard.Withheld) bool {
	return w.Reason == toolguard.ReasonProbe || w.Reason == toolguard.ReasonOpen && w.Until.IsZero()
}

func names(tools []*mcp.Tool) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names
}

// registered asks the server itself for all its tools, past the filter. It is done where
// a call has gone wrong, not where all is well.
func registered(ctx context.Context, next mcp.MethodHandler, session *mcp.ServerSession) (all []*mcp.Tool) {
	params := &mcp.ListToolsParams{}
	for {
		result, err := next(ctx, methodListTools, &mcp.ListToolsRequest{Session: session, Params: params})
		list, ok := result.(*mcp.ListToolsResult)
		if err != nil || !ok || list == nil {
			return all
		}
		all = append(all, list.Tools...)
		if list.NextCursor == "" || list.NextCursor == params.Cursor {
			return all
		}
		params = &mcp.ListToolsParams{Cursor: list.NextCursor}
	}
}

func find(tools []*mcp.Tool, name string) *mcp.Tool {
	i := slices.IndexFunc(tools, func(tool *mcp.Tool) bool { return tool.Name == name })
	if i < 0 {
		return nil
	}
	return tools[i]
}
