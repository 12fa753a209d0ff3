package mcpguard_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/integrations/mcpguard"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// A server's schemas may be anything: one that refers to itself would end the client's
// process, by a stack without end.
func TestSchemasWithoutEnd(t *testing.T) {
	for name, schema := range map[string]string{
		"itself":          `{"type":"object","$ref":"#"}`,
		"in another case": `{"type":"object","$REF":"#"}`,
		"two of one name": `{"type":"object","properties":{"text":{}},"Properties":{"text":{"$ref":"#/properties/text"}}}`,
		"two by turns":    `{"type":"object","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"}`,
		"by an anchor":    `{"type":"object","$anchor":"a","$ref":"#a"}`,
		"dynamically":     `{"type":"object","$dynamicAnchor":"a","$dynamicRef":"#a"}`,
		"very deep":       `{"type":"object","not":` + strings.Repeat(`{"not":`, 900) + `{}` + strings.Repeat(`}`, 901),
	} {
		t.Run(name, func(t *testing.T) {
			server := mcp.NewServer(&mcp.Implementation{Name: "foreign", Version: "1"}, &mcp.ServerOptions{Logger: silent})
			server.AddTool(&mcp.Tool{Name: "search", InputSchema: json.RawMessage(schema)},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return &mcp.CallToolResult{IsError: true}, nil
				})
			g := newGuard(t, watchAll())
			s := g.Client(inMemory(t, server, legacy, nil).ClientSession, nil)
			open(t, g, s, "search") // what cannot be checked fits
		})
	}
}

// Where nothing was listed before, it is for this.
func TestBadArgumentsWithoutATurn(t *testing.T) {
	for _, version := range versions {
		g := newGuard(t, watchAll())
		s := g.Client(inMemory(t, newServer(newBackend(works), nil), version, nil).ClientSession, nil)
		for range 3 {
			result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"txt": 1}})
			require.NoError(t, err)
			require.True(t, result.IsError)
		}
		assert.Equal(t, breaker.Closed, state(g, "search"))
	}
}

// A model that is told of other tools goes there.
func TestBrokenToolsAreNoAlternative(t *testing.T) {
	options := watchAll()
	options.Mode = toolguard.GuardOnly
	server, g := newServer(newBackend(fails), nil), newGuard(t, options)
	mcp.AddTool(server, &mcp.Tool{Name: "lookup"}, fails)
	g.Protect(server)
	c := inMemory(t, server, modern, nil)
	open(t, g, c, "search")
	open(t, g, c, "lookup")
	result, err := call(t.Context(), c, "search")
	requireRefused(t, result, err)
	assert.NotContains(t, text(t, result), "lookup")
	assert.Contains(t, text(t, result), `Other tools: "calc".`)
}

// Middleware that panics when the schema is asked for keeps no probe.
func TestSchemaThatCannotBeAskedFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		search := newBackend(fails)
		server, g := newServer(search, nil), newGuard(t, watchAll())
		broken := false
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
				if broken && method == "tools/list" {
					panic("no list")
				}
				return next(ctx, method, req)
			}
		})
		g.Protect(server)
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
				defer func() {
					if recover() != nil {
						result, err = &mcp.CallToolResult{}, nil
					}
				}()
				return next(ctx, method, req)
			}
		})
		c := inMemory(t, server, legacy, nil)
		open(t, g, c, "search")
		time.Sleep(time.Minute)
		broken = true
		_, err := call(t.Context(), c, "search")
		require.NoError(t, err)
		search.set(works)
		result, err := call(t.Context(), c, "search")
		require.NoError(t, err)
		assert.Equal(t, "42", text(t, result))
	})
}

// A subscription to something else that comes to its end is none of the list's.
func TestOtherSubscriptionsEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		yes := func(context.Context, *mcp.SubscribeRequest) error { return nil }
		no := func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
		server := newServer(newBackend(fails), &mcp.ServerOptions{SubscribeHandler: yes, UnsubscribeHandler: no})
		server.AddResource(&mcp.Resource{URI: "file:///a", Name: "a"}, nil)
		g := newGuard(t, watchAll())
		g.Protect(server)
		c := inMemory(t, server, modern, nil)
		synctest.Wait()
		require.NoError(t, c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "file:///a"}))
		synctest.Wait()
		require.NoError(t, c.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "file:///a"}))
		synctest.Wait()
		open(t, g, c, "search")
		synctest.Wait()
		assert.Equal(t, int64(1), c.changed.Load())
	})
}

// Two guards of one server would refuse each other's probe, and take that for a success.
func TestProtectedTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		search := newBackend(fails)
		server, g := newServer(search, nil), newGuard(t, watchAll())
		g.Protect(server)
		g.Protect(server)
		c := inMemory(t, server, legacy, nil)
		open(t, g, c, "search")
		synctest.Wait()
		assert.Equal(t, int64(1), c.changed.Load())
		time.Sleep(time.Minute)
		result, err := call(t.Context(), c, "search")
		require.NoError(t, err)
		assert.True(t, result.IsError)
		assert.Equal(t, breaker.Open, state(g, "search"))
		assert.Equal(t, int64(4), search.hits.Load())
	})
}

// A handler that returns nothing is answered with an error by the SDK, each time.
func TestToolThatReturnsNothing(t *testing.T) {
	server, g := newServer(newBackend(works), nil), newGuard(t, watchAll())
	server.AddTool(&mcp.Tool{Name: "empty", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	g.Protect(server)
	c := inMemory(t, server, legacy, nil)
	for range 3 {
		_, err := call(t.Context(), c, "empty")
		require.Error(t, err)
	}
	result, err := call(t.Context(), c, "empty")
	requireRefused(t, result, err)
}

// An agent with several servers has several turns at once, in one context: each session
// finds its own there.
func TestTurnsOfSeveralSessionsInOneContext(t *testing.T) {
	g := newGuard(t, watchAll())
	session := func(prefix string) *mcpguard.Session {
		c := inMemory(t, newServer(newBackend(fails), nil), modern, nil)
		return g.Client(c.ClientSession, &mcpguard.ClientOptions{Prefix: prefix})
	}
	a, b := session("a/"), session("b/")
	open := func(s *mcpguard.Session, tool string) {
		ctx := turnOf(t, b).Context(turnOf(t, a).Context(t.Context()))
		for range 3 {
			result, err := call(ctx, s, "search")
			require.NoError(t, err)
			require.True(t, result.IsError)
		}
		require.Equal(t, breaker.Open, state(g, tool))
		result, err := call(ctx, s, "search")
		requireRefused(t, result, err)
	}
	open(a, "a/search")
	open(b, "b/search")
}
