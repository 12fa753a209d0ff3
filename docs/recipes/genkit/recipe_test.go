package genkit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	recipe "github.com/seed42274fcc/stoic/docs/recipes/genkit"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

var (
	both    = []string{"calc", "search"}
	errDown = errors.New("connection refused")
)

// The whole way of a tool: three failures, withheld, refused, a probe in vain, a probe, back.
func TestABrokenToolIsWithheldAndComesBack(t *testing.T) {
	bubble(t, func(t *testing.T, a *agent) {
		a.search = raises(errDown)
		for range 3 { // an error of a tool ends Generate
			require.ErrorContains(t, a.generate(t, round{"search"}), "connection refused")
			assert.Equal(t, both, a.offered[0])
		}
		assert.EqualValues(t, 3, a.hits.Load())
		require.NoError(t, a.generate(t, round{"search"})) // the model remembers it
		assert.Equal(t, [][]string{{"calc"}, {"calc"}}, a.offered)
		require.Len(t, a.results, 1)
		assert.Contains(t, a.results[0], `Tool "search" is temporarily unavailable until `)
		assert.EqualValues(t, 3, a.hits.Load(), "the function does not run")

		time.Sleep(time.Minute)
		require.NoError(t, a.generate(t, round{"calc"})) // offered, and not used: it is still to be had
		assert.Equal(t, [][]string{both, both}, a.offered)
		require.ErrorContains(t, a.generate(t, round{"search"}), "connection refused")
		assert.EqualValues(t, 4, a.hits.Load())
		require.NoError(t, a.generate(t))
		assert.Equal(t, [][]string{{"calc"}}, a.offered)

		time.Sleep(2 * time.Minute)
		a.search = func(*ai.ToolContext) (string, error) { time.Sleep(time.Second); return "found", nil }
		require.NoError(t, a.generate(t, round{"search", "search"}))
		assert.Equal(t, [][]string{both, both}, a.offered)
		assert.EqualValues(t, 5, a.hits.Load(), "one probe (A109)")
		assert.Contains(t, a.results, "found")
		require.NoError(t, a.generate(t, round{"search", "search"}))
		assert.Equal(t, []any{"found", "found"}, a.results)
	})
}

// A tool that is withheld in one round is back in a later one of the same Generate (A106).
func TestAToolComesBackWithinOneGenerate(t *testing.T) {
	bubble(t, func(t *testing.T, a *agent) {
		a.search = raises(errDown)
		for range 3 {
			require.Error(t, a.generate(t, round{"search"}))
		}
		a.search = works
		a.calc = func(*ai.ToolContext) (string, error) { time.Sleep(time.Minute); return "42", nil }
		require.NoError(t, a.generate(t, round{"search", "calc"}, round{"search"}))
		assert.Equal(t, [][]string{{"calc"}, both, both}, a.offered)
		assert.Equal(t, "found", a.results[2])
	})
}

// A tool that hangs has its own time, and the function's context says so.
func TestAToolThatHangsCounts(t *testing.T) {
	bubble(t, func(t *testing.T, a *agent) {
		a.search = func(ctx *ai.ToolContext) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		for range 3 {
			require.Error(t, a.generate(t, round{"search"}))
		}
		require.NoError(t, a.generate(t))
		assert.Equal(t, [][]string{{"calc"}}, a.offered)
	})
}

// A call that waits for somebody says nothing about the tool (R27).
func TestInterruptsDoNotCount(t *testing.T) {
	bubble(t, func(t *testing.T, a *agent) {
		a.search = func(ctx *ai.ToolContext) (string, error) { return "", ctx.Interrupt(nil) }
		for range 50 {
			require.NoError(t, a.generate(t, round{"search"}))
			assert.Equal(t, ai.FinishReason("interrupted"), a.reason)
		}
		assert.Empty(t, a.guard.Tools())
	})
}

// What of this version decides how the recipe is, without a guard.

func TestFactAToolThatIsNotOfferedIsRun(t *testing.T) {
	bubble(t, func(t *testing.T, a *agent) {
		a.rounds = []round{{"search"}}
		_, err := genkit.Generate(t.Context(), a.genkit, ai.WithModelName("test/model"), ai.WithPrompt("find it"), ai.WithTools(a.tools...),
			ai.WithMiddleware(func(next ai.ModelFunc) ai.ModelFunc {
				return func(ctx context.Context, request *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
					own := *request
					own.Tools = without(request.Tools, "search")
					return next(ctx, &own, stream)
				}
			}))
		require.NoError(t, err)
		assert.Equal(t, [][]string{{"calc"}, {"calc"}}, a.offered)
		assert.EqualValues(t, 1, a.hits.Load())
	})
}

func TestFactARequestIsThatOfTheNextRound(t *testing.T) {
	bubble(t, func(t *testing.T, a *agent) {
		a.rounds = []round{{"calc"}, {"calc"}}
		first := true
		_, err := genkit.Generate(t.Context(), a.genkit, ai.WithModelName("test/model"), ai.WithPrompt("find it"), ai.WithTools(a.tools...),
			ai.WithMiddleware(func(next ai.ModelFunc) ai.ModelFunc {
				return func(ctx context.Context, request *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
					if first {
						request.Tools, first = without(request.Tools, "search"), false
					}
					return next(ctx, request, stream)
				}
			}))
		require.NoError(t, err)
		assert.Equal(t, [][]string{{"calc"}, {"calc"}, {"calc"}}, a.offered)
	})
}

func without(tools []*ai.ToolDefinition, name string) []*ai.ToolDefinition {
	return slices.DeleteFunc(slices.Clone(tools), func(tool *ai.ToolDefinition) bool { return tool.Name == name })
}

// agent is the application round the recipe, with a model that is a script.
type agent struct {
	genkit       *genkit.Genkit
	guard        *toolguard.Guard
	tools        []ai.ToolRef
	search, calc func(*ai.ToolContext) (string, error)
	hits         atomic.Int64 // of search

	rounds  []round         // what the model calls, until it answers
	offered [][]string      // what it was offered, in each round
	results []any           // what it has read of tools, in the last round
	reason  ai.FinishReason // of the last Generate
}

// round has the tools that the model calls at once, whether they are offered or not.
type round []string

type query struct {
	Text string `json:"text"`
}

func works(*ai.ToolContext) (string, error) { return "found", nil }

func raises(err error) func(*ai.ToolContext) (string, error) {
	return func(*ai.ToolContext) (string, error) { return "", err }
}

// bubble runs a test with an agent in a bubble. Init stays outside: it waits for signals, for ever.
func bubble(t *testing.T, test func(*testing.T, *agent)) {
	t.Helper()
	g := genkit.Init(t.Context())
	synctest.Test(t, func(t *testing.T) {
		guard, err := toolguard.New(&toolguard.Options{MonitorAll: true, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		a := &agent{genkit: g, guard: guard, search: works, calc: works}
		genkit.DefineModel(g, "test/model", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, a.model)
		search := func(ctx *ai.ToolContext, _ query) (string, error) {
			a.hits.Add(1)
			return a.search(ctx)
		}
		calc := func(ctx *ai.ToolContext, _ query) (string, error) { return a.calc(ctx) }
		a.tools = []ai.ToolRef{
			genkit.DefineTool(g, "calc", "calculates", recipe.Protect(guard, "calc", calc)),
			// region use
			genkit.DefineTool(g, "search", "searches", recipe.Protect(guard, "search", search)),
			// endregion
		}
		test(t, a)
	})
}

func (a *agent) generate(t *testing.T, rounds ...round) error {
	t.Helper()
	a.rounds, a.offered = rounds, nil
	response, err := recipe.Generate(t.Context(), a.genkit, a.guard,
		ai.WithModelName("test/model"), ai.WithPrompt("find it"), ai.WithTools(a.tools...))
	if err == nil {
		a.reason = response.FinishReason
	}
	return err
}

func (a *agent) model(_ context.Context, request *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	var names []string
	for _, tool := range request.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names) // they come in any order
	a.offered, a.results = append(a.offered, names), nil
	for _, message := range request.Messages {
		for _, part := range message.Content {
			if part.IsToolResponse() {
				a.results = append(a.results, part.ToolResponse.Output)
			}
		}
	}
	if len(a.rounds) == 0 {
		return &ai.ModelResponse{Request: request, FinishReason: ai.FinishReasonStop, Message: ai.NewModelTextMessage("done")}, nil
	}
	message := &ai.Message{Role: ai.RoleModel}
	for i, name := range a.rounds[0] {
		message.Content = append(message.Content, ai.NewToolRequestPart(&ai.ToolRequest{
			Name: name, Ref: fmt.Sprint(i), Input: map[string]any{"text": "it"},
		}))
	}
	a.rounds = a.rounds[1:]
	return &ai.ModelResponse{Request: request, FinishReason: ai.FinishReasonStop, Message: message}, nil
}
