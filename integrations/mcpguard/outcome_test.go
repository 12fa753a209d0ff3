package mcpguard_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// isError is what a handler without types answers with.
func isError(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "down"}}}, nil, nil
}

func wire(code int64) handler { return raises(&jsonrpc.Error{Code: code, Message: "no"}) }

// needs asks for an answer by its result.
func needs(_ context.Context, req *mcp.CallToolRequest, _ query) (*mcp.CallToolResult, any, error) {
	if req.Params.InputResponses != nil {
		return nil, nil, errDown
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"ok": &mcp.ElicitParams{Message: "sure?"}}}, nil, nil
}

// What each end of a call says about the tool: 50 of those that say nothing leave it as
// it is, three errors open it.
func TestServerOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		do     handler
		counts bool
	}{
		"success":               {works, false},
		"IsError":               {isError, true},
		"an error":              {fails, true},
		"invalid params":        {wire(jsonrpc.CodeInvalidParams), false},
		"method not found":      {wire(jsonrpc.CodeMethodNotFound), false},
		"internal error":        {wire(jsonrpc.CodeInternalError), true},
		"rejected by transport": {wire(-32005), true},
		"any other code":        {wire(-31999), true},
		"wrapped code":          {raises(fmt.Errorf("backend: %w", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams})), false},
		"needs a visit":         {wire(mcp.CodeURLElicitationRequired), false},
		"denied":                {raises(toolguard.WithOutcome(errDown, toolguard.Denied)), false},
		"neutral":               {raises(resilient.Neutral(errDown)), false},
		"hangs":                 {hangs, true},
		"hangs and is cut off": {func(ctx context.Context, r *mcp.CallToolRequest, q query) (*mcp.CallToolResult, any, error) {
			time.Sleep(5 * time.Minute)
			return works(ctx, r, q)
		}, true},
	} {
		for _, version := range versions {
			t.Run(name+" "+version, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					server, g := newServer(newBackend(c.do), nil), newGuard(t, watchAll())
					g.Protect(server)
					session := inMemory(t, server, version, nil)
					calls := 50
					if c.counts {
						calls = 3
					}
					for range calls {
						_, _ = call(t.Context(), session, "search")
					}
					if c.counts {
						assert.Equal(t, breaker.Open, state(g, "search"))
					} else {
						assert.Equal(t, breaker.Closed, state(g, "search"))
						assert.Empty(t, g.Tools().Tools())
					}
					assert.Equal(t, breaker.Closed, state(g, "calc"), "per tool, never per server")
				})
			})
		}
	}
}

// A107: arguments that do not fit are no error of the tool, and do not keep a probe's place.
func TestBadArgumentsAreNoErrorOfTheTool(t *testing.T) {
	for _, version := range versions {
		bubble(t, func(t *testing.T) {
			search := newBackend(fails)
			server, g := newServer(search, nil), newGuard(t, watchAll())
			g.Protect(server)
			c := inMemory(t, server, version, nil)
			bad := func() {
				for _, arguments := range []any{map[string]any{}, map[string]any{"text": 1}, map[string]any{"text": "q", "more": 1}} {
					result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: arguments})
					require.NoError(t, err)
					require.True(t, result.IsError)
				}
			}
			bad()
			bad()
			require.Empty(t, g.Tools().Tools())
			open(t, g, c, "search")
			time.Sleep(time.Minute)
			bad()
			search.set(works)
			result, err := call(t.Context(), c, "search")
			require.NoError(t, err)
			assert.Equal(t, "42", text(t, result))
			assert.Equal(t, breaker.Closed, state(g, "search"))
		})
	}
}

// A client that gives up says nothing about the tool.
func TestCallerThatGivesUp(t *testing.T) {
	for _, version := range versions {
		bubble(t, func(t *testing.T) {
			server, g := newServer(newBackend(hangs), nil), newGuard(t, watchAll())
			g.Protect(server)
			c := inMemory(t, server, version, nil)
			for range 50 {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(20*time.Second, cancel)
				_, err := call(ctx, c, "search")
				require.ErrorIs(t, err, context.Canceled)
				time.Sleep(time.Second)
			}
			assert.Empty(t, g.Tools().Tools())
		})
	}
}

// A call that waits for somebody's answer is not a tool that hangs.
func TestCallThatNeedsInput(t *testing.T) {
	elicits := func(ctx context.Context, req *mcp.CallToolRequest, _ query) (*mcp.CallToolResult, any, error) {
		_, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?"})
		return nil, nil, err
	}
	slow := func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, c := range map[string]struct {
		do      handler
		version string
		options mcp.ClientOptions
	}{
		"by result":            {needs, modern, mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}},
		"asked by the SDK":     {needs, legacy, mcp.ClientOptions{ElicitationHandler: slow}},
		"asked by the handler": {elicits, legacy, mcp.ClientOptions{ElicitationHandler: slow}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				server, g := newServer(newBackend(c.do), nil), newGuard(t, watchAll())
				g.Protect(server)
				session := inMemory(t, server, c.version, &c.options)
				for range 5 {
					result, err := call(t.Context(), session, "search")
					if c.version == modern {
						require.NoError(t, err)
						require.True(t, result.NeedsInput())
					}
				}
				assert.Empty(t, g.Tools().Tools())
			})
		})
	}
}

// A tool that panics is an error, and the panic goes on as what it is.
func TestToolThatPanics(t *testing.T) {
	search := newBackend(func(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, any, error) { panic("oh") })
	server, g := newServer(search, nil), newGuard(t, watchAll())
	g.Protect(server)
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
			defer func() {
				if value := recover(); value != nil {
					err = fmt.Errorf("panic: %v", value)
				}
			}()
			return next(ctx, method, req)
		}
	})
	c := inMemory(t, server, modern, nil)
	for range 3 {
		_, err := call(t.Context(), c, "search")
		require.ErrorContains(t, err, "panic: oh")
	}
	assert.Equal(t, breaker.Open, state(g, "search"))
	result, err := call(t.Context(), c, "search")
	requireRefused(t, result, err)
}

// Running is no success either: the errors before it are still in a row.
func TestRunningIsNoSuccess(t *testing.T) {
	search := newBackend(fails)
	server, g := newServer(search, nil), newGuard(t, watchAll())
	g.Protect(server)
	c := inMemory(t, server, modern, &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}})
	for _, do := range []handler{fails, fails, needs, fails} {
		search.set(do)
		_, err := call(t.Context(), c, "search")
		require.NoError(t, err)
	}
	assert.Equal(t, breaker.Open, state(g, "search"))
}

// A tool's own Retry-After holds, although its first cooldown is shorter.
func TestRetryAfterHolds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		server, g := newServer(newBackend(raises(resilient.RetryAfter(errors.New("429"), 300*time.Second))), nil), newGuard(t, watchAll())
		g.Protect(server)
		c := inMemory(t, server, modern, nil)
		_, err := call(t.Context(), c, "search")
		require.NoError(t, err)
		time.Sleep(299 * time.Second)
		assert.Equal(t, []string{"calc"}, listed(t, c.ClientSession))
		assert.Equal(t, int64(1), c.changed.Load())
		time.Sleep(time.Second)
		assert.Equal(t, []string{"calc", "search"}, listed(t, c.ClientSession))
	})
}
