package einoguard_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the guard is built on: eino as it is, without the guard. Where one of these tests
// fails with another version, the guard has to be looked at.

// spy is a middleware that does what a test asks for.
type spy struct {
	adk.BaseChatModelAgentMiddleware
	beforeModel func(*adk.ChatModelAgentState)
	wrapModel   func([]*schema.ToolInfo) []model.Option
	afterAgent  func()
	called      func(ctx context.Context, name string, err error)
}

func (s *spy) AfterAgent(ctx context.Context, _ *adk.ChatModelAgentState) (context.Context, error) {
	if s.afterAgent != nil {
		s.afterAgent()
	}
	return ctx, nil
}

func (s *spy) BeforeModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	if s.beforeModel != nil {
		s.beforeModel(state)
	}
	return ctx, state, nil
}

type withOptions struct {
	model.BaseChatModel
	more func([]*schema.ToolInfo) []model.Option
}

func (w withOptions) Generate(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.Message, error) {
	return w.BaseChatModel.Generate(ctx, input, append(options, w.more(model.GetCommonOptions(nil, options...).Tools)...)...)
}

func (s *spy) WrapModel(_ context.Context, next model.BaseChatModel, _ *adk.ModelContext) (model.BaseChatModel, error) {
	if s.wrapModel == nil {
		return next, nil
	}
	return withOptions{next, s.wrapModel}, nil
}

func (s *spy) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, tc *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, arguments string, options ...tool.Option) (string, error) {
		text, err := next(ctx, arguments, options...)
		if s.called != nil {
			s.called(ctx, tc.Name, err)
		}
		return text, err
	}, nil
}

// spied is a configuration without a teller.
func spied(s *spy, m model.BaseChatModel, tools ...tool.BaseTool) *adk.ChatModelAgentConfig {
	config := configured(m, tools...)
	config.Handlers = []adk.ChatModelAgentMiddleware{s}
	return config
}

// A filter on the list alone does not help: a model that names the tool gets it.
func TestFactWithheldToolIsStillExecuted(t *testing.T) {
	b, m := newBackend("search", works), turns(1, "search")
	nothing := &spy{wrapModel: func([]*schema.ToolInfo) []model.Option { return []model.Option{model.WithTools(nil)} }}
	o := run(t, nil, spied(nothing, m, invokable{b}))
	require.NoError(t, o.err)
	assert.Empty(t, m.offered()[0])
	assert.EqualValues(t, 1, b.hits.Load())
	assert.Equal(t, []string{"42"}, o.results)
}

// What is filtered in the agent's state, or in place, is gone for the rest of the run.
func TestFactFilteringInPlacePersists(t *testing.T) {
	for name, filter := range map[string]func(first bool) *spy{
		"in the state": func(bool) *spy {
			first := true
			return &spy{beforeModel: func(state *adk.ChatModelAgentState) {
				if first {
					state.ToolInfos = state.ToolInfos[:1]
				}
				first = false
			}}
		},
		"in place": func(bool) *spy {
			first := true
			return &spy{wrapModel: func(tools []*schema.ToolInfo) []model.Option {
				if first {
					first = false
					tools[1] = tools[0]
				}
				return nil
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := turns(2, "calc")
			o := run(t, nil, spied(filter(true), m, invokable{newBackend("calc", works)}, invokable{newBackend("search", works)}))
			require.NoError(t, o.err)
			require.Len(t, m.offered(), 3)
			for _, list := range m.offered()[1:] {
				assert.NotContains(t, list, "search")
			}
		})
	}
}

// An error of a tool is the end of the run, and never told to the model: a refusal has to
// be a result.
func TestFactAnErrorOfAToolEndsTheRun(t *testing.T) {
	m := turns(2, "search")
	o := run(t, nil, spied(&spy{}, m, invokable{newBackend("search", fails)}))
	require.ErrorIs(t, o.err, errDown)
	assert.Len(t, m.offered(), 1)
}

// Only a run that comes to its answer is told to be over: what is left of others has to
// end with the answer of the model, or with the context.
func TestFactAfterAgentIsForAnswersOnly(t *testing.T) {
	over := 0
	s := &spy{afterAgent: func() { over++ }}
	require.NoError(t, run(t, nil, spied(s, turns(1, "search"), invokable{newBackend("search", works)})).err)
	assert.Equal(t, 1, over)
	require.Error(t, run(t, nil, spied(s, turns(1, "search"), invokable{newBackend("search", fails)})).err)
	require.NotNil(t, run(t, nil, spied(s, turns(1, "search"), invokable{newBackend("search", waits)}), adk.WithCheckPointID("1")).interrupted)
	assert.Equal(t, 1, over)
}

// waits for somebody, and goes on when it is resumed.
func waits(ctx context.Context, _ string) (string, error) {
	if resumed, _, _ := tool.GetInterruptState[any](ctx); resumed {
		return "42", nil
	}
	return "", tool.Interrupt(ctx, "may I?")
}

// A call that waits for somebody comes as an error, and is known by its type.
func TestFactAnInterruptIsAnError(t *testing.T) {
	var got error
	s := &spy{called: func(_ context.Context, _ string, err error) { got = err }}
	o := run(t, nil, spied(s, turns(1, "search"), invokable{newBackend("search", waits)}), adk.WithCheckPointID("1"))
	require.NotNil(t, o.interrupted)
	require.Error(t, got)
	_, ok := compose.IsInterruptRerunError(got)
	assert.True(t, ok)
	_, ok = compose.IsInterruptRerunError(errors.Join(errDown, context.Canceled))
	assert.False(t, ok)
}

// A graph inside of a tool is interrupted by an error of another type.
func TestFactAnInterruptOfAGraph(t *testing.T) {
	chain := compose.NewChain[string, string]()
	chain.AppendLambda(compose.InvokableLambda(func(ctx context.Context, _ string) (string, error) {
		return "", compose.Interrupt(ctx, "may I?")
	}))
	graph, err := chain.Compile(t.Context(), compose.WithCheckPointStore(&checkpoints{}))
	require.NoError(t, err)
	_, err = graph.Invoke(t.Context(), "", compose.WithCheckPointID("1"))
	_, ok := compose.IsInterruptRerunError(err)
	assert.False(t, ok)
	_, ok = compose.ExtractInterruptInfo(err)
	assert.True(t, ok)
}

// A tool that does not exist ends the run, or is answered by the application: middleware
// is not asked in either case.
func TestFactMiddlewareIsNotAskedForUnknownTools(t *testing.T) {
	s := &spy{called: func(context.Context, string, error) { t.Error("asked") }}
	require.ErrorContains(t, run(t, nil, spied(s, turns(1, "nonsense"), invokable{newBackend("search", works)})).err, "not found")
	config := spied(s, turns(1, "nonsense"), invokable{newBackend("search", works)})
	config.ToolsConfig.UnknownToolsHandler = func(context.Context, string, string) (string, error) { return "no such tool", nil }
	assert.Equal(t, "no such tool", run(t, nil, config).answer)
}

// Arguments that are none come as an error of the tool, whose chain has nothing of eino's
// in it.
func TestFactBadArgumentsAreAnErrorOfTheTool(t *testing.T) {
	reached := false
	typed, err := utils.InferTool("typed", "takes a number", func(context.Context, struct {
		N int `json:"n"`
	}) (string, error) {
		reached = true
		return "", nil
	})
	require.NoError(t, err)
	_, err = typed.InvokableRun(t.Context(), `{"n":"many"}`)
	require.ErrorContains(t, err, "failed to unmarshal arguments")
	assert.False(t, reached)
	_, err = typed.InvokableRun(t.Context(), "")
	require.ErrorContains(t, err, "failed to unmarshal arguments")
	_, err = typed.InvokableRun(t.Context(), `{}`)
	require.NoError(t, err, "what is missing is left out")
}

// Hand-over and exit are tools like any other, in the list and in the calls.
func TestFactHandOverAndExitAreTools(t *testing.T) {
	var called []string
	s := &spy{called: func(_ context.Context, name string, _ error) { called = append(called, name) }}
	m := turns(1, "exit")
	config := spied(s, m, invokable{newBackend("search", works)})
	config.Exit = adk.ExitTool{}
	run(t, nil, config)
	assert.Equal(t, []string{"search", "exit"}, m.offered()[0])
	assert.Equal(t, []string{"exit"}, called)

	m = turns(1, "search")
	parent, err := adk.NewChatModelAgent(t.Context(), configured(m, invokable{newBackend("search", works)}))
	require.NoError(t, err)
	config = configured(turns(0))
	config.Name = "child"
	child, err := adk.NewChatModelAgent(t.Context(), config)
	require.NoError(t, err)
	both, err := adk.SetSubAgents(t.Context(), parent, []adk.Agent{child})
	require.NoError(t, err)
	collect(adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: both}).Query(t.Context(), "do it"))
	assert.Equal(t, []string{"search", "transfer_to_agent"}, m.offered()[0])
}

// A tool is called in middleware by whatever name the model has used.
func TestFactAliasesReachMiddleware(t *testing.T) {
	var called []string
	s := &spy{called: func(_ context.Context, name string, _ error) { called = append(called, name) }}
	config := spied(s, turns(1, "find"), invokable{newBackend("search", works)})
	config.ToolsConfig.ToolAliases = map[string]compose.ToolAliasConfig{"search": {NameAliases: []string{"find"}}}
	require.NoError(t, run(t, nil, config).err)
	assert.Equal(t, []string{"find"}, called)
}

// A caller that gives up is a cancellation to the tool, and its deadline a deadline: they
// can be told apart.
func TestFactCallersContextReachesTheTool(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var got error
		s := &spy{called: func(_ context.Context, _ string, err error) { got = err }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		collect(newRunner(t, nil, spied(s, turns(1, "search"), invokable{newBackend("search", hangs)}), false).Query(ctx, "do it"))
		require.ErrorIs(t, got, context.DeadlineExceeded)

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		collect(newRunner(t, nil, spied(s, turns(1, "search"), invokable{newBackend("search", hangs)}), false).Query(ctx, "do it"))
		require.ErrorIs(t, got, context.Canceled)
	})
}

// A run may be cancelled without its context, and then nobody tells the tool: what is left
// of it goes on.
func TestFactACancelledRunLeavesItsTools(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var ended sync.WaitGroup
		ended.Add(1)
		b := newBackend("search", func(ctx context.Context, _ string) (string, error) {
			defer ended.Done()
			time.Sleep(time.Minute)
			return "", ctx.Err()
		})
		s := &spy{called: func(_ context.Context, _ string, err error) { assert.NoError(t, err) }}
		option, cancel := adk.WithCancel()
		time.AfterFunc(time.Second, func() { cancel() })
		o := collect(newRunner(t, nil, spied(s, turns(1, "search"), invokable{b}), false).
			Query(t.Context(), "do it", option, adk.WithCheckPointID("1")))
		var cancelled *adk.CancelError
		require.ErrorAs(t, o.err, &cancelled)
		ended.Wait()
	})
}

// The result of a tool that returns directly is the answer, a refusal too.
func TestFactReturnDirectly(t *testing.T) {
	config := spied(&spy{}, turns(5, "search"), invokable{newBackend("search", works)})
	config.ToolsConfig.ReturnDirectly = map[string]bool{"search": true}
	o := run(t, nil, config)
	require.NoError(t, o.err)
	assert.Equal(t, []string{"42"}, o.results)
	assert.Empty(t, o.answer)
}

// Where one call of an answer fails, the streams of the others are neither read nor
// closed: who counts on their reader waits for ever.
func TestFactStreamsAreLeft(t *testing.T) {
	reader, writer := schema.Pipe[string](0)
	defer reader.Close()
	good := leaving{newBackend("calc", works), reader}
	config := spied(&spy{}, turns(1, "calc", "search"), good, streamable{newBackend("search", fails)})
	events, failed := newRunner(t, nil, config, true).Query(t.Context(), "do it"), false
	for event, ok := events.Next(); ok; event, ok = events.Next() { // none of their streams is read
		failed = failed || errors.Is(event.Err, errDown)
	}
	require.True(t, failed)
	taken := make(chan bool, 1)
	go func() { taken <- !writer.Send("42", nil) }()
	select {
	case <-taken:
		t.Error("read or closed")
	case <-time.After(50 * time.Millisecond): // long enough to be noticed, if it is not so any more
	}
}

// leaving is a tool whose stream the test has.
type leaving struct {
	*backend
	reader *schema.StreamReader[string]
}

func (l leaving) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return l.reader, nil
}
