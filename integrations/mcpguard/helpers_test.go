package mcpguard_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/integrations/mcpguard"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

const (
	legacy = "2025-11-25" // the last version with sessions that are told unasked
	modern = "2026-07-28" // the first with subscriptions
)

var (
	versions = []string{legacy, modern}
	errDown  = errors.New("connect to db://root:hunter2@db: connection refused")
	silent   = slog.New(slog.DiscardHandler)
)

func newGuard(t testing.TB, options toolguard.Options) *mcpguard.Guard {
	t.Helper()
	options.Logger = silent
	g, err := mcpguard.New(&options)
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

func watchAll() toolguard.Options { return toolguard.Options{MonitorAll: true} }

// query is what the tools take.
type query struct {
	Text string `json:"text"`
}

// handler is what a tool does.
type handler = mcp.ToolHandlerFor[query, any]

// backend counts how often it is hit.
type backend struct {
	hits atomic.Int64
	do   atomic.Pointer[handler]
}

func newBackend(do handler) *backend {
	b := &backend{}
	b.set(do)
	return b
}

func (b *backend) set(do handler) { b.do.Store(&do) }

func (b *backend) handle(ctx context.Context, req *mcp.CallToolRequest, q query) (*mcp.CallToolResult, any, error) {
	b.hits.Add(1)
	return (*b.do.Load())(ctx, req, q)
}

func works(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "42"}}}, nil, nil
}

func fails(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, any, error) {
	return nil, nil, errDown
}

// hangs as a well-behaved tool does: until its context is over.
func hangs(ctx context.Context, _ *mcp.CallToolRequest, _ query) (*mcp.CallToolResult, any, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

func raises(err error) handler {
	return func(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, any, error) {
		return nil, nil, err
	}
}

// newServer has the tools calc, which works, and search.
func newServer(search *backend, options *mcp.ServerOptions) *mcp.Server {
	if options == nil {
		options = &mcp.ServerOptions{}
	}
	options.Logger = silent
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, options)
	mcp.AddTool(server, &mcp.Tool{Name: "calc", Description: "calculates"}, works)
	mcp.AddTool(server, &mcp.Tool{Name: "search", Description: "searches"}, search.handle)
	return server
}

// client is one with its news.
type client struct {
	*mcp.ClientSession
	changed atomic.Int64
}

func clientOptions(c *client, options *mcp.ClientOptions) *mcp.ClientOptions {
	own := mcp.ClientOptions{}
	if options != nil {
		own = *options
	}
	own.Logger = silent
	own.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { c.changed.Add(1) }
	return &own
}

func connect(t testing.TB, transport mcp.Transport, version string, options *mcp.ClientOptions) *client {
	t.Helper()
	c := &client{}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, clientOptions(c, options)).
		Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	require.Equal(t, version, session.InitializeResult().ProtocolVersion)
	c.ClientSession = session
	return c
}

// inMemory connects a client by the SDK's in-memory transport.
func inMemory(t testing.TB, server *mcp.Server, version string, options *mcp.ClientOptions) *client {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	_, err := server.Connect(context.Background(), there, nil)
	require.NoError(t, err)
	c := connect(t, here, version, options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// overHTTP connects a client by the SDK's streamable HTTP transport, which serves the
// modern version without sessions only.
func overHTTP(t testing.TB, server *mcp.Server, version string, options *mcp.ClientOptions) *client {
	t.Helper()
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Logger: silent, Stateless: version == modern}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	c := connect(t, &mcp.StreamableClientTransport{Endpoint: web.URL}, version, options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// bubble runs a test in which time takes no time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// caller is a session, guarded or not, or a turn.
type caller interface {
	CallTool(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error)
}

func ask(text string) map[string]any { return map[string]any{"text": text} }

func call(ctx context.Context, c caller, tool string) (*mcp.CallToolResult, error) {
	return c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: ask("q")})
}

// open makes a tool's circuit open by three calls that fail.
func open(t testing.TB, g *mcpguard.Guard, c caller, tool string) {
	t.Helper()
	for range 3 {
		result, err := call(t.Context(), c, tool)
		require.NoError(t, err)
		require.True(t, result.IsError)
	}
	require.Equal(t, breaker.Open, state(g, tool))
}

// state is that of a tool; closed while nothing is known.
func state(g *mcpguard.Guard, tool string) breaker.State {
	if c := g.Tools().Circuit("", tool); c != nil {
		return c.State()
	}
	return breaker.Closed
}

func text(t testing.TB, result *mcp.CallToolResult) string {
	t.Helper()
	require.Len(t, result.Content, 1)
	content, ok := result.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	return content.Text
}

func requireRefused(t testing.TB, result *mcp.CallToolResult, err error) {
	t.Helper()
	require.NoError(t, err)
	require.False(t, result.IsError)
	require.Contains(t, text(t, result), "temporarily unavailable")
}

func listed(t testing.TB, session *mcp.ClientSession) (names []string) {
	t.Helper()
	for tool, err := range session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		names = append(names, tool.Name)
	}
	return names
}

func offered(turn *mcpguard.Turn) (names []string) {
	for _, tool := range turn.Tools() {
		names = append(names, tool.Name)
	}
	return names
}
