package einoguard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/integrations/einoguard"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

var (
	errDown = errors.New("connect to db://root:hunter2@db: connection refused")
	silent  = slog.New(slog.DiscardHandler)
)

func newGuard(t testing.TB, options toolguard.Options) *einoguard.Guard {
	t.Helper()
	options.Logger = silent
	g, err := einoguard.New(&options)
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

func watchAll() toolguard.Options { return toolguard.Options{MonitorAll: true} }

// soon watches all tools, with a cooldown that is over at once.
func soon() toolguard.Options {
	return toolguard.Options{MonitorAll: true, Limits: toolguard.Limits{RecoveryTimeout: time.Nanosecond}}
}

// bubble runs a test in which time takes no time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// bubbleUnless is for runs that stream: eino gives their events finalizers, which must not
// close the channels of a bubble.
func bubbleUnless(streaming bool, t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if streaming {
		f(t)
		return
	}
	bubble(t, f)
}

// info is that of a tool that takes a text.
func info(name string) *schema.ToolInfo {
	return &schema.ToolInfo{
		Name: name, Desc: "it " + name + "es",
		ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"text": {Type: schema.String, Required: true},
		}),
	}
}

// does is what a tool does.
type does func(ctx context.Context, arguments string) (string, error)

// backend is a tool that counts how often it is hit.
type backend struct {
	info *schema.ToolInfo
	hits atomic.Int64
	do   atomic.Pointer[does]
}

func newBackend(name string, do does) *backend {
	b := &backend{info: info(name)}
	b.set(do)
	return b
}

func (b *backend) set(do does) { b.do.Store(&do) }

func (b *backend) run(ctx context.Context, arguments string) (string, error) {
	b.hits.Add(1)
	return (*b.do.Load())(ctx, arguments)
}

func (b *backend) Info(context.Context) (*schema.ToolInfo, error) { return b.info, nil }

// The four kinds of tools that eino has.
type (
	invokable          struct{ *backend }
	streamable         struct{ *backend }
	enhanced           struct{ *backend }
	enhancedStreamable struct{ *backend }
)

func (b invokable) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	return b.run(ctx, arguments)
}

func (b streamable) StreamableRun(ctx context.Context, arguments string, _ ...tool.Option) (*schema.StreamReader[string], error) {
	return streamed(b.run(ctx, arguments))
}

func (b enhanced) InvokableRun(ctx context.Context, argument *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	s, err := b.run(ctx, argument.Text)
	if err != nil {
		return nil, err
	}
	return result(s), nil
}

func (b enhancedStreamable) StreamableRun(ctx context.Context, argument *schema.ToolArgument, _ ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	s, err := b.run(ctx, argument.Text)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.ToolResult{result(s)}), nil
}

// streamed is a stream of two chunks. An error before it is one of the call.
func streamed(s string, err error) (*schema.StreamReader[string], error) {
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]string{s[:len(s)/2], s[len(s)/2:]}), nil
}

func result(s string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
}

// kinds makes a tool of each kind of a backend.
var kinds = map[string]func(*backend) tool.BaseTool{
	"invokable":           func(b *backend) tool.BaseTool { return invokable{b} },
	"streamable":          func(b *backend) tool.BaseTool { return streamable{b} },
	"enhanced":            func(b *backend) tool.BaseTool { return enhanced{b} },
	"enhanced streamable": func(b *backend) tool.BaseTool { return enhancedStreamable{b} },
}

func works(context.Context, string) (string, error) { return "42", nil }

func fails(context.Context, string) (string, error) { return "", errDown }

// hangs as a well-behaved tool does: until its context is over.
func hangs(ctx context.Context, _ string) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func raises(err error) does {
	return func(context.Context, string) (string, error) { return "", err }
}

// asked is one request to a model.
type asked struct {
	messages []*schema.Message
	options  *model.Options
}

func (a asked) offers() (names []string) {
	for _, one := range a.options.Tools {
		names = append(names, one.Name)
	}
	return names
}

// last is the text of the last message.
func (a asked) last() string {
	m := a.messages[len(a.messages)-1]
	if len(m.UserInputMultiContent) > 0 {
		return m.UserInputMultiContent[0].Text
	}
	return m.Content
}

// scripted is a model that answers by what it is asked. It remembers all requests.
type scripted struct {
	answer func(asked) (*schema.Message, error)

	mu       sync.Mutex
	requests []asked
}

func (s *scripted) Generate(_ context.Context, input []*schema.Message, options ...model.Option) (*schema.Message, error) {
	a := asked{messages: input, options: model.GetCommonOptions(nil, options...)}
	s.mu.Lock()
	s.requests = append(s.requests, a)
	s.mu.Unlock()
	return s.answer(a)
}

func (s *scripted) Stream(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	message, err := s.Generate(ctx, input, options...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{message}), nil
}

// offered are the lists of all requests.
func (s *scripted) offered() (lists [][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.requests {
		lists = append(lists, a.offers())
	}
	return lists
}

const goodArguments = `{"text":"q"}`

// calls is an answer that calls tools.
func calls(names ...string) *schema.Message {
	var toolCalls []schema.ToolCall
	for i, name := range names {
		toolCalls = append(toolCalls, schema.ToolCall{
			ID: fmt.Sprint("call-", i), Type: "function",
			Function: schema.FunctionCall{Name: name, Arguments: goodArguments},
		})
	}
	return schema.AssistantMessage("", toolCalls)
}

func says(text string) *schema.Message { return schema.AssistantMessage(text, nil) }

// turns is a model that asks for the same tools n times, whatever comes of it, and then
// repeats the last result.
func turns(n int, names ...string) *scripted {
	asks := 0
	return &scripted{answer: func(a asked) (*schema.Message, error) {
		if asks++; asks > n {
			return says(a.last()), nil
		}
		return calls(names...), nil
	}}
}

// persistent is a model that calls a tool for as long as it sees it, or is not told that
// it is unavailable.
func persistent(name string) *scripted {
	return &scripted{answer: func(a asked) (*schema.Message, error) {
		for _, offered := range a.offers() {
			if offered == name {
				return calls(name), nil
			}
		}
		return says("I cannot do it"), nil
	}}
}

// teller turns errors of tools into results, as applications do: to eino an error is the
// end of the run.
type teller struct {
	adk.BaseChatModelAgentMiddleware
}

func told(err error) (string, error) {
	if _, ok := compose.IsInterruptRerunError(err); ok {
		return "", err
	}
	return "failed", nil
}

func (*teller) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, _ *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, arguments string, options ...tool.Option) (string, error) {
		s, err := next(ctx, arguments, options...)
		if err != nil {
			return told(err)
		}
		return s, nil
	}, nil
}

func (*teller) WrapStreamableToolCall(_ context.Context, next adk.StreamableToolCallEndpoint, _ *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return func(ctx context.Context, arguments string, options ...tool.Option) (*schema.StreamReader[string], error) {
		s, err := next(ctx, arguments, options...)
		if err != nil {
			return streamed(told(err))
		}
		return s, nil
	}, nil
}

func (*teller) WrapEnhancedInvokableToolCall(_ context.Context, next adk.EnhancedInvokableToolCallEndpoint, _ *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return func(ctx context.Context, argument *schema.ToolArgument, options ...tool.Option) (*schema.ToolResult, error) {
		r, err := next(ctx, argument, options...)
		if err == nil {
			return r, nil
		}
		s, err := told(err)
		return result(s), err
	}, nil
}

func (*teller) WrapEnhancedStreamableToolCall(_ context.Context, next adk.EnhancedStreamableToolCallEndpoint, _ *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return func(ctx context.Context, argument *schema.ToolArgument, options ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		r, err := next(ctx, argument, options...)
		if err == nil {
			return r, nil
		}
		s, err := told(err)
		return schema.StreamReaderFromArray([]*schema.ToolResult{result(s)}), err
	}, nil
}

// configured is an agent's configuration without a guard.
func configured(m model.BaseChatModel, tools ...tool.BaseTool) *adk.ChatModelAgentConfig {
	config := &adk.ChatModelAgentConfig{
		Name: "agent", Description: "an agent", Model: m, MaxIterations: 100,
		Handlers: []adk.ChatModelAgentMiddleware{&teller{}},
	}
	config.ToolsConfig.Tools = tools
	return config
}

// newRunner makes an agent; a nil guard is none.
func newRunner(t testing.TB, g *einoguard.Guard, config *adk.ChatModelAgentConfig, streaming bool) *adk.Runner {
	t.Helper()
	if g != nil {
		g.Protect(config)
	}
	agent, err := adk.NewChatModelAgent(context.Background(), config)
	require.NoError(t, err)
	return adk.NewRunner(context.Background(), adk.RunnerConfig{Agent: agent, EnableStreaming: streaming, CheckPointStore: &checkpoints{}})
}

// checkpoints keep runs that are interrupted.
type checkpoints struct{ byID sync.Map }

func (c *checkpoints) Get(_ context.Context, id string) ([]byte, bool, error) {
	data, ok := c.byID.Load(id)
	if !ok {
		return nil, false, nil
	}
	return data.([]byte), true, nil
}

func (c *checkpoints) Set(_ context.Context, id string, data []byte) error {
	c.byID.Store(id, data)
	return nil
}

// outcome is what a run came to.
type outcome struct {
	results     []string // of tools
	answer      string
	err         error
	interrupted *adk.InterruptInfo
}

func collect(events *adk.AsyncIterator[*adk.AgentEvent]) (o outcome) {
	for {
		event, ok := events.Next()
		if !ok {
			return o
		}
		if event.Err != nil {
			o.err = event.Err
			continue
		}
		if event.Action != nil && event.Action.Interrupted != nil {
			o.interrupted = event.Action.Interrupted
		}
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		message, err := event.Output.MessageOutput.GetMessage()
		switch {
		case err != nil:
			o.err = err
		case message.Role == schema.Tool:
			o.results = append(o.results, asked{messages: []*schema.Message{message}}.last())
		default:
			o.answer = message.Content
		}
	}
}

// run makes an agent, and runs it once.
func run(t testing.TB, g *einoguard.Guard, config *adk.ChatModelAgentConfig, options ...adk.AgentRunOption) outcome {
	t.Helper()
	return collect(newRunner(t, g, config, false).Query(t.Context(), "do it", options...))
}

// open makes a tool's circuit open by three calls that fail.
func open(t testing.TB, g *einoguard.Guard, name string) {
	t.Helper()
	for range 3 {
		permit, err := g.Tools().Begin(t.Context(), name)
		require.NoError(t, err)
		permit.End(toolguard.Error)
	}
	require.Equal(t, breaker.Open, state(g, name))
}

// due makes a tool's circuit open whose cooldown is over soon.
func due(t testing.TB, g *einoguard.Guard, name string) {
	t.Helper()
	open(t, g, name)
	time.Sleep(time.Until(g.Tools().Circuit("", name).Snapshot().Until) + 1)
}

// state is that of a tool; closed while nothing is known.
func state(g *einoguard.Guard, name string) breaker.State {
	if c := g.Tools().Circuit("", name); c != nil {
		return c.State()
	}
	return breaker.Closed
}

func requireRefused(t testing.TB, text string) {
	t.Helper()
	require.Contains(t, text, "temporarily unavailable")
}
