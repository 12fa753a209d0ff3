package einoguard_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/integrations/einoguard"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// endpoint calls a tool through the guard's middleware, outside of an agent.
func endpoint(g *einoguard.Guard, b does) func(ctx context.Context, arguments string) (string, error) {
	return func(ctx context.Context, arguments string) (string, error) {
		m := g.ToolMiddleware(info("search"))
		output, err := m.Invokable(func(ctx context.Context, input *compose.ToolInput) (*compose.ToolOutput, error) {
			text, err := b(ctx, input.Arguments)
			return &compose.ToolOutput{Result: text}, err
		})(ctx, &compose.ToolInput{Name: "search", Arguments: arguments})
		if err != nil {
			return "", err
		}
		return output.Result, nil
	}
}

// What says nothing about a tool does not count, however often it comes, and gives a
// probe's place back at once (A107, R27).
func TestNoVerdict(t *testing.T) {
	for name, one := range map[string]struct {
		does      does
		arguments string
	}{
		"denied":            {raises(toolguard.WithOutcome(errDown, toolguard.Denied)), goodArguments},
		"ignored":           {raises(resilient.Neutral(errDown)), goodArguments},
		"no object":         {fails, `[]`},
		"null":              {fails, `null`},
		"no JSON":           {fails, `{"text"`},
		"nothing":           {fails, ``},
		"another type":      {fails, `{"text":1}`},
		"missing":           {fails, `{}`},
		"interrupted":       {raises(fmt.Errorf("agent: %w", adk.ErrStreamCanceled)), goodArguments},
		"agent interrupted": {raises(fmt.Errorf("agent: %w", &adk.CancelError{Info: &adk.AgentCancelInfo{}})), goodArguments},
		"running":           {waits, goodArguments},
		"running graph":     {graphThatWaits(t), goodArguments},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, soon())
			call := endpoint(g, one.does)
			for range 50 {
				_, err := call(t.Context(), one.arguments)
				require.Error(t, err)
			}
			assert.Equal(t, breaker.Closed, state(g, "search"))
			assert.Empty(t, g.Tools().Tools(), "there is a state")
			due(t, g, "search")
			for range 50 {
				_, err := call(t.Context(), one.arguments)
				require.Error(t, err, "refused")
			}
			assert.Equal(t, 1, g.Tools().Circuit("", "search").Snapshot().Generation)
		})
	}
}

// graphThatWaits is a tool with a graph inside.
func graphThatWaits(t *testing.T) does {
	chain := compose.NewChain[string, string]()
	chain.AppendLambda(compose.InvokableLambda(func(ctx context.Context, _ string) (string, error) {
		return "", compose.Interrupt(ctx, "may I?")
	}))
	graph, err := chain.Compile(t.Context(), compose.WithCheckPointStore(&checkpoints{}))
	require.NoError(t, err)
	return func(ctx context.Context, _ string) (string, error) {
		return graph.Invoke(ctx, "", compose.WithCheckPointID("1"))
	}
}

// What does count, by three times.
func TestErrors(t *testing.T) {
	for name, does := range map[string]does{
		"an error":          fails,
		"a deadline":        raises(context.DeadlineExceeded),
		"a cancellation":    raises(context.Canceled), // which is not the caller's
		"its own time":      hangs,
		"beyond its time":   func(context.Context, string) (string, error) { time.Sleep(time.Minute); return "42", nil },
		"a wrapped refusal": raises(resilient.Permanent(errDown)),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newGuard(t, watchAll())
				call := endpoint(g, does)
				for range 3 {
					_, _ = call(t.Context(), goodArguments)
				}
				assert.Equal(t, breaker.Open, state(g, "search"))
				text, err := call(t.Context(), goodArguments)
				require.NoError(t, err)
				requireRefused(t, text)
			})
		})
	}
}

// A caller's cancellation is none of the tool's doing; its deadline is: a tool that hangs
// shows itself in just that way.
func TestCallersEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		call := endpoint(g, hangs)
		for range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := call(ctx, goodArguments)
			require.ErrorIs(t, err, context.Canceled)
			_, err = call(ctx, goodArguments)
			require.ErrorIs(t, err, context.Canceled, "begun in vain")
		}
		assert.Empty(t, g.Tools().Tools())
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := call(ctx, goodArguments)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
		}
		assert.Equal(t, breaker.Open, state(g, "search"))
	})
}

// A panic and the end of the goroutine are errors, and go on as what they are.
func TestCallsThatDoNotReturn(t *testing.T) {
	for kind, make := range kinds {
		t.Run(kind, func(t *testing.T) {
			g := newGuard(t, watchAll())
			b := newBackend("search", func(context.Context, string) (string, error) { panic("tool") })
			for range 3 {
				o := run(t, g, configured(turns(1, "search"), make(b)))
				require.ErrorContains(t, o.err, "tool")
			}
			assert.Equal(t, breaker.Open, state(g, "search"))
		})
	}
	g := newGuard(t, watchAll())
	call := endpoint(g, func(context.Context, string) (string, error) { runtime.Goexit(); return "", nil })
	for range 3 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = call(t.Context(), goodArguments)
		}()
		<-done
	}
	assert.Equal(t, breaker.Open, state(g, "search"))
}

// A tool's 429 with Retry-After 300 is not offered for 300 s, although its first cooldown
// is 60 s.
func TestRetryAfter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, b := newGuard(t, watchAll()), newBackend("search", raises(resilient.RetryAfter(errDown, 5*time.Minute)))
		run(t, g, configured(turns(1, "search"), invokable{b}))
		for range 5 {
			m := turns(0)
			run(t, g, configured(m, invokable{b}))
			assert.Equal(t, [][]string{nil}, m.offered())
			time.Sleep(time.Minute)
		}
		m := turns(0)
		run(t, g, configured(m, invokable{b}))
		assert.Equal(t, [][]string{{"search"}}, m.offered())
	})
}

// Classify is given what the tool has returned: failures that are put into a result count.
func TestClassify(t *testing.T) {
	values := map[string]any{
		"invokable": "oops", "streamable": []string{"oo", "ps"},
		"enhanced": result("oops"), "enhanced streamable": []*schema.ToolResult{result("oops")},
	}
	for kind, make := range kinds {
		t.Run(kind, func(t *testing.T) {
			options := watchAll()
			options.Classify = func(_ context.Context, r toolguard.Result) (toolguard.Outcome, bool) {
				assert.Equal(t, values[kind], r.Value)
				assert.Equal(t, "search", r.Tool)
				return toolguard.Error, true
			}
			g := newGuard(t, options)
			b := newBackend("search", func(context.Context, string) (string, error) { return "oops", nil })
			for range 3 {
				o := run(t, g, configured(turns(1, "search"), make(b)))
				assert.Equal(t, []string{"oops"}, o.results)
			}
			assert.Equal(t, breaker.Open, state(g, "search"))
		})
	}
}

// A run goes on after an interrupt with the guard: the call that waited is begun anew,
// and what is found out meanwhile holds.
func TestResume(t *testing.T) {
	for _, meanwhile := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			g, b := newGuard(t, watchAll()), newBackend("search", waits)
			m := turns(1, "search")
			runner := newRunner(t, g, configured(m, invokable{b}), false)
			open(t, g, "search")
			time.Sleep(time.Minute)
			first := collect(runner.Query(t.Context(), "do it", adk.WithCheckPointID("1")))
			require.NotNil(t, first.interrupted)
			require.Equal(t, breaker.HalfOpen, state(g, "search"))
			if meanwhile {
				permit, err := g.Tools().Begin(t.Context(), "search") // the place is free at once
				require.NoError(t, err)
				require.True(t, permit.Probe())
				permit.End(toolguard.Error)
			}
			events, err := runner.Resume(t.Context(), "1")
			require.NoError(t, err)
			o := collect(events)
			require.NoError(t, o.err)
			require.Len(t, o.results, 1)
			if meanwhile {
				requireRefused(t, o.results[0])
				return
			}
			assert.Equal(t, []string{"42"}, o.results)
			assert.Equal(t, breaker.Closed, state(g, "search"))
		})
	}
}

// An agent that is a tool is one: its calls are its own affair, and have their own turns.
func TestAgentAsTool(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, b := newGuard(t, watchAll()), newBackend("search", fails)
		inner := configured(turns(4, "search"), invokable{b})
		inner.Name = "researcher"
		g.Protect(inner)
		agent, err := adk.NewChatModelAgent(t.Context(), inner)
		require.NoError(t, err)
		o := run(t, g, configured(turns(1, "researcher", "calc"), adk.NewAgentTool(t.Context(), agent), invokable{newBackend("calc", works)}))
		require.NoError(t, o.err)
		assert.EqualValues(t, 3, b.hits.Load())
		assert.Equal(t, breaker.Open, state(g, "search"))
		assert.Equal(t, breaker.Closed, state(g, "researcher"))
	})
}

// A stream is what it ends as: an error in the middle, a panic, its time that is over
// count, whether somebody reads it or not; an interrupt in the middle does not.
func TestStreams(t *testing.T) {
	then := func(last func(ctx context.Context) error) func(context.Context) *schema.StreamReader[string] {
		return func(ctx context.Context) *schema.StreamReader[string] {
			reader, writer := schema.Pipe[string](1)
			go func() {
				defer writer.Close()
				writer.Send("4", nil)
				if err := last(ctx); err != nil {
					writer.Send("", err)
				}
			}()
			return reader
		}
	}
	for name, one := range map[string]struct {
		stream func(context.Context) *schema.StreamReader[string]
		want   breaker.State
	}{
		"to the end":    {then(func(context.Context) error { return nil }), breaker.Closed},
		"in the middle": {then(func(context.Context) error { return errDown }), breaker.Open},
		"its time":      {then(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }), breaker.Open},
		"interrupted":   {then(func(ctx context.Context) error { return tool.Interrupt(ctx, "may I?") }), breaker.HalfOpen},
		"a panic": {func(context.Context) *schema.StreamReader[string] {
			return schema.StreamReaderWithConvert(schema.StreamReaderFromArray([]string{"4"}), func(string) (string, error) { panic("stream") })
		}, breaker.Open},
	} {
		for _, read := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " read ", read), func(t *testing.T) {
				options := soon()
				if name == "its time" {
					options.Timeout = 50 * time.Millisecond
				}
				g := newGuard(t, options)
				due(t, g, "search")
				output, err := g.ToolMiddleware().Streamable(func(ctx context.Context, _ *compose.ToolInput) (*compose.StreamToolOutput, error) {
					return &compose.StreamToolOutput{Result: one.stream(ctx)}, nil
				})(t.Context(), &compose.ToolInput{Name: "search", Arguments: goodArguments})
				require.NoError(t, err)
				if read {
					if end := drain(output.Result); end != nil {
						assert.Equal(t, one.want, state(g, "search"), "not counted yet")
					}
				}
				require.Eventually(t, func() bool { return state(g, "search") == one.want }, time.Minute, time.Millisecond)
				if one.want == breaker.HalfOpen {
					require.Eventually(t, func() bool {
						turn := g.Tools().Turn(t.Context(), []string{"search"})
						defer turn.Close()
						return len(turn.Withheld()) == 0
					}, time.Minute, time.Millisecond)
				}
			})
		}
	}
}

// drain reads a stream to its end, which may be a panic; then it is nil.
func drain(reader *schema.StreamReader[string]) (end error) {
	defer func() {
		if recover() != nil {
			end = nil
		}
	}()
	for end == nil {
		_, end = reader.Recv()
	}
	return end
}

// A refusal of a stream is a stream, and one that is not watched is not listened to.
func TestRefusedStream(t *testing.T) {
	g := newGuard(t, toolguard.Options{Monitor: []string{"search"}})
	open(t, g, "search")
	for name, wanted := range map[string]bool{"search": true, "calc": false} {
		reader := schema.StreamReaderFromArray([]string{"42"})
		output, err := g.ToolMiddleware().Streamable(func(context.Context, *compose.ToolInput) (*compose.StreamToolOutput, error) {
			return &compose.StreamToolOutput{Result: reader}, nil
		})(t.Context(), &compose.ToolInput{Name: name})
		require.NoError(t, err)
		text, err := output.Result.Recv()
		require.NoError(t, err)
		if wanted {
			requireRefused(t, text)
		} else {
			assert.Same(t, reader, output.Result)
		}
	}
	_, err := g.ToolMiddleware().Streamable(func(context.Context, *compose.ToolInput) (*compose.StreamToolOutput, error) {
		return nil, errors.New("other")
	})(t.Context(), &compose.ToolInput{Name: "calc"})
	require.ErrorContains(t, err, "other")
}
