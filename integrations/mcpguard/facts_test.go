package mcpguard_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// What of the SDK decides the design is tested here without a guard, so that a new
// version in which it is otherwise is noticed.

// A tool that is not in the list is run nevertheless: a filter alone is never enough.
func TestFactAFilterDoesNotKeepToolsFromBeingCalled(t *testing.T) {
	search := newBackend(works)
	server := newServer(search, nil)
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if list, ok := result.(*mcp.ListToolsResult); ok {
				list.Tools = list.Tools[:1]
			}
			return result, err
		}
	})
	c := inMemory(t, server, modern, nil)
	require.Equal(t, []string{"calc"}, listed(t, c.ClientSession))
	_, err := call(t.Context(), c, "search")
	require.NoError(t, err)
	assert.Equal(t, int64(1), search.hits.Load())
}

// Who changes a list that came from the client's cache changes it for as long as it is
// kept.
func TestFactTheClientsCacheIsShared(t *testing.T) {
	c := inMemory(t, newServer(newBackend(works), cachedForAnHour()), modern, nil)
	list, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	list.Tools = list.Tools[:1]
	again, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	assert.Len(t, again.Tools, 1)
}

// The server's lists have the tools that are registered, not copies.
func TestFactTheServersToolsAreShared(t *testing.T) {
	var seen [][]*mcp.Tool
	server := newServer(newBackend(works), nil)
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			if list, ok := result.(*mcp.ListToolsResult); ok {
				seen = append(seen, list.Tools)
			}
			return result, err
		}
	})
	c := inMemory(t, server, legacy, nil)
	listed(t, c.ClientSession)
	listed(t, c.ClientSession)
	require.Len(t, seen, 2)
	assert.Same(t, seen[0][0], seen[1][0])
}

// A tool that does not exist is -32602; arguments that do not fit are a tool's error like
// any other, and keep their cause only inside of the server.
func TestFactWhatIsWrongWithACall(t *testing.T) {
	for _, version := range versions {
		var inside error
		server := newServer(newBackend(works), nil)
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				result, err := next(ctx, method, req)
				if called, ok := result.(*mcp.CallToolResult); ok && called != nil {
					inside = called.GetError()
				}
				return result, err
			}
		})
		c := inMemory(t, server, version, nil)
		_, err := call(t.Context(), c, "nonsense")
		var wire *jsonrpc.Error
		require.ErrorAs(t, err, &wire)
		assert.EqualValues(t, jsonrpc.CodeInvalidParams, wire.Code)
		result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"txt": 1}})
		require.NoError(t, err)
		assert.True(t, result.IsError)
		require.Error(t, inside)
		assert.NotErrorAs(t, inside, &wire)
		require.NoError(t, result.GetError())
	}
}

// A client that gives up on a hung backend, by its deadline, reaches the handler as a
// plain cancellation: without a limit of its own a server never learns that it hung.
func TestFactACallersDeadlineIsACancellation(t *testing.T) {
	for _, version := range versions {
		bubble(t, func(t *testing.T) {
			type end struct {
				err, cause error
				deadline   bool
			}
			ended := make(chan end, 1)
			server := newServer(newBackend(func(ctx context.Context, _ *mcp.CallToolRequest, _ query) (*mcp.CallToolResult, any, error) {
				<-ctx.Done()
				_, has := ctx.Deadline()
				ended <- end{ctx.Err(), context.Cause(ctx), has}
				return nil, nil, ctx.Err()
			}), nil)
			c := inMemory(t, server, version, nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := call(ctx, c, "search")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, end{context.Canceled, context.Canceled, false}, <-ended)
		})
	}
}

// A dead server is -32005 to its clients over HTTP, and an error of the tool that was called.
func TestFactADeadServerIsRejectedByTransport(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			server := newServer(newBackend(works), nil)
			web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
				&mcp.StreamableHTTPOptions{Logger: silent, Stateless: true}))
			defer web.Close()
			session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, &mcp.ClientOptions{Logger: silent}).
				Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true, MaxRetries: -1},
					&mcp.ClientSessionOptions{ProtocolVersion: version})
			require.NoError(t, err)
			defer func() { _ = session.Close() }()
			g := newGuard(t, watchAll())
			turn := turnOf(t, g.Client(session, nil))
			web.CloseClientConnections()
			web.Close()
			for range 3 {
				_, err := call(t.Context(), turn, "search")
				var wire *jsonrpc.Error
				require.ErrorAs(t, err, &wire)
				require.EqualValues(t, -32005, wire.Code)
			}
			assert.Equal(t, breaker.Open, state(g, "search"))
			assert.Equal(t, breaker.Closed, state(g, "calc"))
		})
	}
}

// The SDK tells of tools that are registered or removed, and of nothing else: a filter
// that lets a tool back in is not noticed by clients that wait to be told.
func TestFactAFilterTellsNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		server := newServer(newBackend(works), nil)
		for _, version := range versions {
			c := inMemory(t, server, version, nil)
			listed(t, c.ClientSession)
			_, err := call(t.Context(), c, "search")
			require.NoError(t, err)
			time.Sleep(time.Hour)
			synctest.Wait()
			assert.Zero(t, c.changed.Load())
		}
	})
}

// A list that lacks a tool is kept by clients no longer than the tool is withheld, and an
// invitation to keep it for longer is not passed on.
func TestCachedListsComeToAnEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		server, g := newServer(newBackend(fails), cachedForAnHour()), newGuard(t, watchAll())
		g.Protect(server)
		here, there := mcp.NewInMemoryTransports()
		_, err := server.Connect(t.Context(), there, nil)
		require.NoError(t, err)
		deaf, err := mcp.NewClient(&mcp.Implementation{Name: "deaf", Version: "1"}, nil).Connect(t.Context(), here, nil)
		require.NoError(t, err)
		defer func() { _ = deaf.Close() }()
		open(t, g, deaf, "search")
		assert.Equal(t, []string{"calc"}, listed(t, deaf))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"calc", "search"}, listed(t, deaf))
	})
}
