package mcpgo_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	recipe "github.com/seed42274fcc/stoic/docs/recipes/mcpgo"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

var (
	both    = []string{"calc", "search"}
	errDown = errors.New("connection refused")
)

// The whole way of a tool: three failures, withheld, refused, a probe in vain, a probe, back.
func TestABrokenToolIsWithheldAndComesBack(t *testing.T) {
	for name, down := range map[string]handler{"error": raises, "reported": reports} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAgent(t, protected(newGuard(t))...)
				a.search = down
				for range 3 {
					assert.Equal(t, both, a.listed(t))
					_, _ = a.call(t, "it")
				}
				assert.Equal(t, 3, a.hits)
				assert.Equal(t, []string{"calc"}, a.listed(t))
				result, err := a.call(t, "it") // the model remembers it
				require.NoError(t, err)
				assert.False(t, result.IsError, "a model that gets an error tries again (A117)")
				assert.Contains(t, text(t, result), `Tool "search" is temporarily unavailable until `)
				assert.Equal(t, 3, a.hits, "the handler does not run")

				time.Sleep(time.Minute)
				assert.Equal(t, both, a.listed(t))
				assert.Equal(t, both, a.listed(t), "a list claims nothing that it keeps")
				_, _ = a.call(t, "it")
				_, _ = a.call(t, "it")
				assert.Equal(t, 4, a.hits, "one probe")
				assert.Equal(t, []string{"calc"}, a.listed(t))

				time.Sleep(2 * time.Minute)
				a.search = works
				for range 5 {
					assert.Equal(t, both, a.listed(t))
					result, err = a.call(t, "it")
					require.NoError(t, err)
					assert.Equal(t, "found", text(t, result))
				}
				assert.Equal(t, 4+5, a.hits)
				assert.Len(t, a.server.ListTools(), 2, "what is registered is not touched")
			})
		})
	}
}

// What a tool has reported as an error goes to the client as it is.
func TestAReportedErrorIsPassedOn(t *testing.T) {
	a := newAgent(t, protected(newGuard(t))...)
	a.search = reports
	result, err := a.call(t, "it")
	require.NoError(t, err)
	assert.True(t, result.IsError)
	assert.Equal(t, "search is down", text(t, result))
}

// A call that waits for somebody says nothing about the tool, and gives the probe's place back (R27).
func TestACallThatNeedsInputDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := newGuard(t)
		next := func(result *mcp.CallToolResult, err error) (*mcp.CallToolResult, error) {
			request := mcp.CallToolRequest{}
			request.Params.Name = "search"
			return recipe.Protect(guard)(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return result, err
			})(t.Context(), request)
		}
		for range 3 {
			_, err := next(nil, errDown)
			require.ErrorIs(t, err, errDown)
		}
		time.Sleep(time.Minute)
		waits := &mcp.CallToolResult{Result: mcp.Result{ResultType: mcp.ResultTypeInputRequired}}
		for range 50 {
			result, err := next(waits, nil)
			require.NoError(t, err)
			assert.Same(t, waits, result)
			assert.NotEqual(t, breaker.Closed, guard.Tools()[0].State)
		}
	})
}

// Arguments that do not fit the schema do not get as far as the guard (A107).
func TestBadArgumentsDoNotCount(t *testing.T) {
	guard := newGuard(t)
	a := newAgent(t, protected(guard)...)
	for range 10 {
		result, err := a.call(t, 7)
		require.NoError(t, err)
		assert.True(t, result.IsError)
	}
	assert.Zero(t, a.hits)
	assert.Empty(t, guard.Tools())
}

// What becomes of a tool that is not in the list, in this version: a reason to have both halves, and for where they are.

func TestFactAListHookDoesNotKeepToolsFromBeingCalled(t *testing.T) {
	hooks := &server.Hooks{}
	hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, list *mcp.ListToolsResult) {
		list.Tools = list.Tools[:1]
	})
	a := newAgent(t, server.WithHooks(hooks))
	require.Equal(t, []string{"calc"}, a.listed(t))
	_, err := a.call(t, "it")
	require.NoError(t, err)
	assert.Equal(t, 1, a.hits)
}

func TestFactAToolFilterMakesCallsErrors(t *testing.T) {
	middleware := 0
	a := newAgent(t,
		server.WithToolFilter(func(_ context.Context, tools []mcp.Tool) []mcp.Tool {
			return slices.DeleteFunc(slices.Clone(tools), func(tool mcp.Tool) bool { return tool.Name == "search" })
		}),
		server.WithToolHandlerMiddleware(func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
			middleware++
			return next
		}))
	require.Equal(t, []string{"calc"}, a.listed(t))
	_, err := a.call(t, "it")
	require.Error(t, err)
	assert.Contains(t, err.Error(), "not found")
	assert.Zero(t, middleware, "no place to say why")
}

func newGuard(t *testing.T) *toolguard.Guard {
	t.Helper()
	guard, err := toolguard.New(&toolguard.Options{MonitorAll: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return guard
}

func protected(guard *toolguard.Guard) []server.ServerOption {
	// region use
	hooks := &server.Hooks{}
	hooks.AddAfterListTools(recipe.Filter(guard))
	return []server.ServerOption{
		server.WithHooks(hooks),
		server.WithToolHandlerMiddleware(recipe.Protect(guard)),
		server.WithInputSchemaValidation(), // arguments that do not fit do not count
	}
	// endregion
}

// agent is a client with the server that it calls.
type agent struct {
	server *server.MCPServer
	client *client.Client
	search handler
	hits   int // of search
}

type handler func() (*mcp.CallToolResult, error)

func works() (*mcp.CallToolResult, error)   { return mcp.NewToolResultText("found"), nil }
func raises() (*mcp.CallToolResult, error)  { return nil, errDown }
func reports() (*mcp.CallToolResult, error) { return mcp.NewToolResultError("search is down"), nil }

func newAgent(t *testing.T, options ...server.ServerOption) *agent {
	t.Helper()
	a := &agent{server: server.NewMCPServer("test", "1", options...), search: works}
	for _, name := range both {
		a.server.AddTool(mcp.NewTool(name, mcp.WithString("text", mcp.Required())),
			func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				a.hits++
				return a.search()
			})
	}
	var err error
	a.client, err = client.NewInProcessClient(a.server)
	require.NoError(t, err)
	require.NoError(t, a.client.Start(t.Context()))
	t.Cleanup(func() { _ = a.client.Close() })
	_, err = a.client.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	return a
}

func (a *agent) listed(t *testing.T) (names []string) {
	t.Helper()
	list, err := a.client.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// call calls search.
func (a *agent) call(t *testing.T, argument any) (*mcp.CallToolResult, error) {
	t.Helper()
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = "search", map[string]any{"text": argument}
	return a.client.CallTool(t.Context(), request)
}

func text(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	require.Len(t, result.Content, 1)
	content, ok := result.Content[0].(mcp.TextContent)
	require.True(t, ok)
	return content.Text
}
