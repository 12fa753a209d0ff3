package mcpguard_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
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

type dial func(testing.TB, *mcp.Server, string, *mcp.ClientOptions) *client

var transports = map[string]dial{"memory": inMemory, "http": overHTTP}

// A broken tool is neither listed nor run, whatever the model calls; its neighbour is as
// before: A113, A117.
func TestServerKeepsBrokenToolAway(t *testing.T) {
	for name, dial := range transports {
		for _, version := range versions {
			t.Run(name+" "+version, func(t *testing.T) {
				search := newBackend(fails)
				server, g := newServer(search, nil), newGuard(t, watchAll())
				g.Protect(server)
				c := dial(t, server, version, nil)
				assert.Equal(t, []string{"calc", "search"}, listed(t, c.ClientSession))
				open(t, g, c, "search")
				assert.Equal(t, []string{"calc"}, listed(t, c.ClientSession))
				before := g.Tools().Circuit("", "search").Snapshot()
				for range 20 { // stubborn
					result, err := call(t.Context(), c, "search")
					requireRefused(t, result, err)
					assert.Contains(t, text(t, result), `Other tools: "calc".`)
					assert.Contains(t, text(t, result), "Do not call it before then.")
					assert.NotContains(t, text(t, result), "hunter2")
				}
				assert.Equal(t, int64(3), search.hits.Load())
				after := g.Tools().Circuit("", "search").Snapshot()
				assert.Equal(t, before.Failures, after.Failures)
				assert.Equal(t, before.Round, after.Round)
				result, err := call(t.Context(), c, "calc")
				require.NoError(t, err)
				assert.Equal(t, "42", text(t, result))
			})
		}
	}
}

// A117: the refusal of a tool with an output schema is an error to the protocol, with the text
// for the model. A result without structured content is none to clients that insist on it.
func TestRefusalOfAToolWithAnOutputSchema(t *testing.T) {
	type found struct {
		Title string `json:"title"`
	}
	for _, version := range versions {
		server, g := newServer(newBackend(works), nil), newGuard(t, watchAll())
		runs := 0
		mcp.AddTool(server, &mcp.Tool{Name: "find"}, func(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, found, error) {
			runs++
			return nil, found{}, errDown
		})
		g.Protect(server)
		c, ours := inMemory(t, server, version, nil), newGuard(t, watchAll())
		open(t, g, c, "find")
		s := ours.Client(c.ClientSession, nil)
		for range 50 {
			result, err := call(t.Context(), s, "find")
			require.NoError(t, err)
			assert.True(t, result.IsError)
			assert.Nil(t, result.StructuredContent)
			assert.Contains(t, text(t, result), `Tool "find" is temporarily unavailable until `)
			assert.Contains(t, result.Meta, mcpguard.MetaKeyRefused)
		}
		assert.Equal(t, 3, runs)
		assert.Empty(t, ours.Tools().Tools(), "nor an error of the tool, to a client's guard")
	}
}

// A115: a tool that stays in the list, since too much would be missing there, is no other
// way for a model that is refused.
func TestListedToolsAreNoAlternative(t *testing.T) {
	options := watchAll()
	options.MaxWithheldShare = 0.5
	server, g := newServer(newBackend(fails), nil), newGuard(t, options)
	mcp.AddTool(server, &mcp.Tool{Name: "fetch"}, fails)
	mcp.AddTool(server, &mcp.Tool{Name: "mail"}, fails)
	g.Protect(server)
	c := inMemory(t, server, modern, nil)
	for _, tool := range []string{"search", "fetch", "mail"} {
		open(t, g, c, tool)
	}
	assert.Len(t, listed(t, c.ClientSession), 2, "calc, and the one that is back first")
	for _, tool := range []string{"search", "fetch", "mail"} {
		result, err := call(t.Context(), c, tool)
		requireRefused(t, result, err)
		assert.Contains(t, text(t, result), `Other tools: "calc".`)
	}
}

// A106: it comes back within a session, by the first call after its cooldown.
func TestServerRecovers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		search := newBackend(fails)
		server, g := newServer(search, nil), newGuard(t, watchAll())
		g.Protect(server)
		c := inMemory(t, server, modern, nil)
		open(t, g, c, "search")
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"calc", "search"}, listed(t, c.ClientSession), "may be tried")
		search.set(works)
		result, err := call(t.Context(), c, "search")
		require.NoError(t, err)
		assert.Equal(t, "42", text(t, result))
		assert.Equal(t, breaker.Closed, state(g, "search"))
	})
}

// Each session is told once when the list has changed, and not when it has not.
func TestListChangedOncePerTransitionAndSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		search := newBackend(fails)
		server, g := newServer(search, nil), newGuard(t, watchAll())
		g.Protect(server)
		var clients []*client
		for range 3 {
			for _, version := range versions {
				clients = append(clients, inMemory(t, server, version, nil))
			}
		}
		requireTold := func(times int, why string) {
			t.Helper()
			synctest.Wait()
			for _, c := range clients {
				require.Equal(t, int64(times), c.changed.Load(), why)
			}
		}
		requireTold(0, "connected")
		open(t, g, clients[0], "search")
		requireTold(1, "gone")
		time.Sleep(59 * time.Second)
		requireTold(1, "still gone")
		time.Sleep(time.Second)
		requireTold(2, "may be tried")
		_, err := call(t.Context(), clients[1], "search")
		require.NoError(t, err)
		requireTold(3, "gone again")
		time.Sleep(2 * time.Minute)
		requireTold(4, "may be tried again")
		search.set(works)
		_, err = call(t.Context(), clients[2], "search")
		require.NoError(t, err)
		require.Equal(t, breaker.Closed, state(g, "search"))
		requireTold(4, "it is in the list already")
		_ = clients[0].Close()
		clients = clients[1:]
		search.set(fails)
		open(t, g, clients[0], "search")
		requireTold(5, "without the one that has left")
		g.Tools().Circuit("", "search").ForceOpen()
		requireTold(5, "gone is gone")
		g.Tools().Circuit("", "search").Reset()
		requireTold(6, "back")
	})
}

// A session of a version with subscriptions that has none is told nothing: its client
// would not know what to do with it.
func TestNoNewsWithoutASubscription(t *testing.T) {
	bubble(t, func(t *testing.T) {
		server, g := newServer(newBackend(fails), nil), newGuard(t, watchAll())
		g.Protect(server)
		here, there := mcp.NewInMemoryTransports()
		_, err := server.Connect(t.Context(), there, nil)
		require.NoError(t, err)
		var news atomic.Int64
		agent := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, &mcp.ClientOptions{Logger: silent})
		agent.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				news.Add(1)
				return next(ctx, method, req)
			}
		})
		session, err := agent.Connect(t.Context(), here, nil)
		require.NoError(t, err)
		defer func() { _ = session.Close() }()
		open(t, g, session, "search")
		synctest.Wait()
		assert.Zero(t, news.Load())
	})
}

// An operator's order is told like any other change, and so is that it has come to its end.
func TestListChangedByOperator(t *testing.T) {
	bubble(t, func(t *testing.T) {
		options := watchAll()
		options.Key = func(context.Context) string { return "Bearer abcdefghijklmnopqrstuvwxyz0123456789" } // not as it is shown
		server, g := newServer(newBackend(fails), nil), newGuard(t, options)
		g.Protect(server)
		c := inMemory(t, server, legacy, nil)
		_, err := call(t.Context(), c, "search")
		require.NoError(t, err)
		require.NoError(t, g.Tools().Circuit(options.Key(t.Context()), "search").Steer(t.Context(),
			breaker.Order{Force: breaker.ForceOpen, For: time.Hour, Author: "ann", Reason: "maintenance"}))
		synctest.Wait()
		assert.Equal(t, int64(1), c.changed.Load())
		assert.Equal(t, []string{"calc"}, listed(t, c.ClientSession))
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		assert.Equal(t, int64(2), c.changed.Load())
		assert.Equal(t, []string{"calc", "search"}, listed(t, c.ClientSession))
		g.Close()
		for range 3 {
			_, err := call(t.Context(), c, "search")
			require.NoError(t, err)
		}
		synctest.Wait()
		assert.Equal(t, int64(2), c.changed.Load(), "a closed guard tells nobody")
	})
}

// The same over HTTP, where the modern version has a stream of its own for it.
func TestListChangedOverHTTP(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			server, g := newServer(newBackend(fails), nil), newGuard(t, watchAll())
			g.Protect(server)
			c := overHTTP(t, server, version, nil)
			open(t, g, c, "search")
			require.Eventually(t, func() bool { return c.changed.Load() == 1 }, 10*time.Second, time.Millisecond)
			g.Tools().Circuit("", "search").Reset()
			require.Eventually(t, func() bool { return c.changed.Load() == 2 }, 10*time.Second, time.Millisecond)
		})
	}
}

// Who has said that the list never changes sends no news; nor where it does not.
func TestNoNewsWhereTheListStays(t *testing.T) {
	for name, mode := range map[string]toolguard.Mode{"mask": toolguard.Mask, "guard only": toolguard.GuardOnly, "static": toolguard.Withhold} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				options := watchAll()
				options.Mode = mode
				g := newGuard(t, options)
				own := &mcp.ServerOptions{}
				if name == "static" {
					own.Capabilities = &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
				}
				server := newServer(newBackend(fails), own)
				g.Protect(server)
				for _, version := range versions {
					c := inMemory(t, server, version, nil)
					if version == legacy {
						open(t, g, c, "search")
					}
					if name != "static" {
						assert.Equal(t, []string{"calc", "search"}, listed(t, c.ClientSession))
					}
					result, err := call(t.Context(), c, "search")
					requireRefused(t, result, err)
					synctest.Wait()
					assert.Zero(t, c.changed.Load())
				}
			})
		})
	}
}

// At the half-open edge, of 64 calls over two servers on one store one reaches the tool.
func TestServersShareOneProbe(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := breaker.NewMemoryStore(nil)
		search := newBackend(fails)
		options := toolguard.Options{Monitor: []string{"search"}, Store: store}
		var clients []*client
		first := newGuard(t, options)
		for i := range 2 {
			g := first
			if i == 1 {
				g = newGuard(t, options)
			}
			server := newServer(search, nil)
			g.Protect(server)
			clients = append(clients, inMemory(t, server, versions[i], nil))
			listed(t, clients[i].ClientSession)
		}
		open(t, first, clients[0], "search")
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"calc"}, listed(t, clients[1].ClientSession), "seen by the other")
		assert.Equal(t, int64(1), clients[1].changed.Load(), "and told to its clients")
		for range 15 {
			before := search.hits.Load()
			time.Sleep(time.Until(first.Tools().Circuit("", "search").Snapshot().Until))
			var wg sync.WaitGroup
			for i := range 64 {
				wg.Go(func() { _, _ = call(t.Context(), clients[i%2], "search") })
			}
			wg.Wait()
			require.Equal(t, before+1, search.hits.Load())
			time.Sleep(2 * time.Second)
		}
	})
}

// What is registered is never touched.
func TestRegisteredToolsStayAsTheyAre(t *testing.T) {
	search := newBackend(fails)
	server, g := newServer(search, nil), newGuard(t, watchAll())
	plain := newServer(search, nil)
	g.Protect(server)
	before, err := inMemory(t, plain, modern, nil).ListTools(t.Context(), nil)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for i := range 100 {
		c := inMemory(t, server, versions[i%2], nil)
		wg.Go(func() {
			for range 4 {
				_, _ = call(t.Context(), c, "search")
				_, _ = c.ListTools(t.Context(), nil)
				if circuit := g.Tools().Circuit("", "search"); circuit != nil {
					circuit.Reset()
				}
			}
		})
	}
	wg.Wait()
	if circuit := g.Tools().Circuit("", "search"); circuit != nil {
		circuit.Reset()
	}
	after, err := inMemory(t, server, modern, nil).ListTools(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, before.Tools, after.Tools)
}

// A105: middleware before the guard says whose request it is, so that a session's failures
// are its own, and its key.
func TestSessionsAreToldApart(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			type sessionKey struct{}
			id := func(ctx context.Context) string { return ctx.Value(sessionKey{}).(string) }
			options := watchAll()
			options.Key, options.Session, options.MaxFailuresPerSession = id, id, 4
			server, g := newServer(newBackend(fails), nil), newGuard(t, options)
			mcp.AddTool(server, &mcp.Tool{Name: "fetch"}, fails)
			g.Protect(server)
			server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
					session := fmt.Sprintf("%p", req.GetSession()) // in memory it has no ID
					return next(context.WithValue(ctx, sessionKey{}, session), method, req)
				}
			})
			ann, bob := inMemory(t, server, version, nil), inMemory(t, server, version, nil)
			for range 3 {
				_, err := call(t.Context(), ann, "search")
				require.NoError(t, err)
			}
			assert.Equal(t, []string{"calc", "fetch"}, listed(t, ann.ClientSession))
			assert.Equal(t, []string{"calc", "fetch", "search"}, listed(t, bob.ClientSession))
			_, err := call(t.Context(), ann, "fetch") // the fourth failure
			require.NoError(t, err)
			assert.Empty(t, listed(t, ann.ClientSession))
			result, err := call(t.Context(), ann, "calc")
			require.NoError(t, err)
			assert.False(t, result.IsError)
			assert.Contains(t, text(t, result), "Stop calling tools: 4 calls in this session have failed")
			result, err = call(t.Context(), bob, "calc")
			require.NoError(t, err)
			assert.Equal(t, "42", text(t, result))
		})
	}
}

// A name alone makes no state, and is no error of anybody's.
func TestUnknownToolsAreNotKnown(t *testing.T) {
	for _, version := range versions {
		server, g := newServer(newBackend(works), nil), newGuard(t, watchAll())
		g.Protect(server)
		c := inMemory(t, server, version, nil)
		guarded := newGuard(t, watchAll())
		turn, err := guarded.Client(c.ClientSession, nil).Turn(t.Context())
		require.NoError(t, err)
		for range 50 {
			_, err := call(t.Context(), c, "nonsense")
			require.Error(t, err)
			_, err = call(t.Context(), turn, "nonsense")
			require.Error(t, err)
			_, err = call(t.Context(), guarded.Client(c.ClientSession, nil), "nonsense")
			require.Error(t, err)
		}
		assert.Empty(t, g.Tools().Tools())
		assert.Empty(t, guarded.Tools().Tools())
	}
}

func TestNilOptionsWatchNothing(t *testing.T) {
	server, g := newServer(newBackend(fails), nil), newGuard(t, toolguard.Options{})
	g.Protect(server)
	c := inMemory(t, server, modern, nil)
	for range 10 {
		result, err := call(t.Context(), c, "search")
		require.NoError(t, err)
		assert.True(t, result.IsError)
	}
	assert.Empty(t, g.Tools().Tools())
}
