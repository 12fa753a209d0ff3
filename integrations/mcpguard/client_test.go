package mcpguard_test

import (
	"context"
	"slices"
	"sync"
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

// cachedForAnHour has clients keep the list.
func cachedForAnHour() *mcp.ServerOptions {
	return &mcp.ServerOptions{SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.TTLMs = 3_600_000 }}
}

// turnOf makes one turn.
func turnOf(t testing.TB, s *mcpguard.Session) *mcpguard.Turn {
	t.Helper()
	turn, err := s.Turn(t.Context())
	require.NoError(t, err)
	return turn
}

// The list is filtered after the SDK's own cache: what is withheld is not kept for as
// long as the list, and the list in the cache stays whole (A106, A114).
func TestClientFiltersAfterTheCache(t *testing.T) {
	bubble(t, func(t *testing.T) {
		search := newBackend(fails)
		c, g := inMemory(t, newServer(search, cachedForAnHour()), modern, nil), newGuard(t, watchAll())
		s := g.Client(c.ClientSession, nil)
		whole := turnOf(t, s).Tools()
		require.Len(t, whole, 2)
		open(t, g, turnOf(t, s), "search")
		turn := turnOf(t, s)
		assert.Equal(t, []string{"calc"}, offered(turn))
		assert.Same(t, whole[0], turn.Tools()[0])
		cached, err := c.ListTools(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, whole, cached.Tools)
		result, err := call(t.Context(), turn, "search") // stubborn
		requireRefused(t, result, err)
		assert.Contains(t, text(t, result), `Other tools: "calc".`)
		assert.Equal(t, int64(3), search.hits.Load())

		time.Sleep(time.Minute)
		search.set(works)
		turn = turnOf(t, s)
		assert.Equal(t, []string{"calc", "search"}, offered(turn))
		assert.Equal(t, []string{"calc"}, offered(turnOf(t, s)), "one turn has the probe")
		_, err = call(t.Context(), turn, "search")
		require.NoError(t, err)
		assert.Equal(t, breaker.Closed, state(g, "search"))
	})
}

// A109, A110: one probe in a turn, however many calls; none is kept by a turn that is over.
func TestClientProbesOncePerTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		search := newBackend(fails)
		c, g := inMemory(t, newServer(search, nil), modern, nil), newGuard(t, watchAll())
		s := g.Client(c.ClientSession, nil)
		open(t, g, turnOf(t, s), "search")
		time.Sleep(time.Minute)
		lazy := turnOf(t, s)
		require.Len(t, offered(lazy), 2)
		lazy.Close()
		search.set(hangs)
		turn := turnOf(t, s)
		require.Len(t, offered(turn), 2, "at once")
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { _, _ = call(t.Context(), turn, "search") })
		}
		wg.Wait()
		assert.Equal(t, int64(4), search.hits.Load())
	})
}

// At the half-open edge, one of 64 turns over two processes on one store has the tool.
func TestOneTurnOfTheFleetIsOfferedTheProbe(t *testing.T) {
	bubble(t, func(t *testing.T) {
		options := watchAll()
		options.Store = breaker.NewMemoryStore(nil)
		c := inMemory(t, newServer(newBackend(fails), cachedForAnHour()), modern, nil)
		var sessions []*mcpguard.Session
		first := newGuard(t, options)
		for _, g := range []*mcpguard.Guard{first, newGuard(t, options)} {
			sessions = append(sessions, g.Client(c.ClientSession, nil))
			turnOf(t, sessions[len(sessions)-1])
		}
		open(t, first, turnOf(t, sessions[0]), "search")
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"calc"}, offered(turnOf(t, sessions[1])))
		for range 200 {
			time.Sleep(time.Until(first.Tools().Circuit("", "search").Snapshot().Until))
			turns := make([]*mcpguard.Turn, 64)
			var wg sync.WaitGroup
			for i := range turns {
				wg.Go(func() { turns[i], _ = sessions[i%2].Turn(t.Context()) })
			}
			wg.Wait()
			var seen []*mcpguard.Turn
			for _, turn := range turns {
				if slices.Contains(offered(turn), "search") {
					seen = append(seen, turn)
				}
			}
			require.Len(t, seen, 1)
			result, err := call(t.Context(), seen[0], "search")
			require.NoError(t, err)
			require.True(t, result.IsError)
			for _, turn := range turns {
				turn.Close()
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// Where the server has a guard of its own, in another process maybe, what that one answers
// is no success of the tool, and no error: the probe of a client's turn is free again.
func TestRefusalOfTheServersGuard(t *testing.T) {
	for _, version := range versions {
		for name, dial := range transports {
			t.Run(name+" "+version, func(t *testing.T) {
				search := newBackend(fails)
				server, theirs := newServer(search, nil), newGuard(t, watchAll())
				theirs.Protect(server)
				options := watchAll()
				options.FailureThreshold = 4
				ours := newGuard(t, options)
				s := ours.Client(dial(t, server, version, nil).ClientSession, nil)
				open(t, theirs, turnOf(t, s), "search")
				for range 50 {
					result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: ask("q")})
					requireRefused(t, result, err)
					require.Contains(t, result.Meta, mcpguard.MetaKeyRefused)
				}
				snap := ours.Tools().Circuit("", "search").Snapshot()
				assert.Equal(t, breaker.Closed, snap.State)
				assert.Equal(t, 3, snap.Failures, "still in a row")
				theirs.Tools().Circuit("", "search").Reset()
				_, err := call(t.Context(), s, "search")
				require.NoError(t, err)
				assert.Equal(t, breaker.Open, state(ours, "search"))
				assert.EqualValues(t, 4, search.hits.Load())
			})
		}
	}
}

// A refusal says what it is to programs, too.
func TestRefusalIsMarked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		s := g.Client(inMemory(t, newServer(newBackend(fails), nil), modern, nil).ClientSession, nil)
		open(t, g, turnOf(t, s), "search")
		result, err := call(t.Context(), s, "search")
		requireRefused(t, result, err)
		until := g.Tools().Circuit("", "search").Snapshot().Until.UTC().Format(time.RFC3339)
		assert.Equal(t, map[string]any{"reason": "open", "until": until}, result.Meta[mcpguard.MetaKeyRefused])
		g.Tools().Circuit("", "search").ForceOpen()
		result, err = call(t.Context(), s, "search")
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"reason": "forced"}, result.Meta[mcpguard.MetaKeyRefused])
	})
}

// Two servers with tools of the same name are told apart by a prefix, which no model sees.
func TestPrefix(t *testing.T) {
	g := newGuard(t, watchAll())
	down := g.Client(inMemory(t, newServer(newBackend(fails), nil), modern, nil).ClientSession, &mcpguard.ClientOptions{Prefix: "down/"})
	up := g.Client(inMemory(t, newServer(newBackend(works), nil), modern, nil).ClientSession, &mcpguard.ClientOptions{Prefix: "up/"})
	for range 3 {
		_, err := call(t.Context(), turnOf(t, down), "search")
		require.NoError(t, err)
	}
	assert.Equal(t, breaker.Open, state(g, "down/search"))
	assert.Equal(t, []string{"calc"}, offered(turnOf(t, down)))
	assert.Equal(t, []string{"calc", "search"}, offered(turnOf(t, up)))
	result, err := call(t.Context(), turnOf(t, down), "search")
	requireRefused(t, result, err)
	assert.NotContains(t, text(t, result), "down/")
	assert.Contains(t, text(t, result), `Other tools: "calc".`)
}

// A list that is not to change says who may be chosen.
func TestMask(t *testing.T) {
	options := watchAll()
	options.Mode = toolguard.Mask
	g := newGuard(t, options)
	s := g.Client(inMemory(t, newServer(newBackend(fails), nil), modern, nil).ClientSession, nil)
	open(t, g, turnOf(t, s), "search")
	turn := turnOf(t, s)
	assert.Equal(t, []string{"calc", "search"}, offered(turn))
	assert.Equal(t, []string{"calc"}, turn.Allowed())
}

// A server that is gone is an error of each of its tools that is called, and of no other.
func TestDeadServer(t *testing.T) {
	for name, dial := range transports {
		for _, version := range versions {
			t.Run(name+" "+version, func(t *testing.T) {
				server := newServer(newBackend(works), nil)
				c, g := dial(t, server, version, nil), newGuard(t, watchAll())
				s := g.Client(c.ClientSession, nil)
				turn := turnOf(t, s)
				_ = c.Close()
				for range 3 {
					_, err := call(t.Context(), turn, "search")
					require.ErrorIs(t, err, mcp.ErrConnectionClosed)
				}
				assert.Equal(t, breaker.Open, state(g, "search"))
				assert.Equal(t, breaker.Closed, state(g, "calc"))
			})
		}
	}
}

// The outcomes as a client sees them.
func TestClientOutcomes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		search := newBackend(hangs)
		options := watchAll()
		options.Timeout = 20 * time.Second
		g := newGuard(t, options)
		s := g.Client(inMemory(t, newServer(search, nil), modern, nil).ClientSession, nil)
		for range 50 { // the caller gives up first
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Second, cancel)
			_, err := call(ctx, turnOf(t, s), "search")
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Equal(t, breaker.Closed, state(g, "search"))
		for range 50 { // arguments that are none for this tool
			result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"txt": 1}})
			require.NoError(t, err)
			require.True(t, result.IsError)
		}
		require.Equal(t, breaker.Closed, state(g, "search"))
		for range 3 { // our limit is over
			_, err := call(t.Context(), turnOf(t, s), "search")
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		assert.Equal(t, breaker.Open, state(g, "search"))
		synctest.Wait()
	})
}
