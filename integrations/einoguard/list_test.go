package einoguard_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/integrations/einoguard"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// wrapped asks a model through the guard's own WrapModel, with options of the test's.
func wrapped(t *testing.T, g *einoguard.Guard, options ...model.Option) *model.Options {
	t.Helper()
	m := g.Middleware()
	ctx, _, err := m.BeforeAgent(t.Context(), &adk.ChatModelAgentContext{})
	require.NoError(t, err)
	inner := turns(0)
	guarded, err := m.WrapModel(ctx, inner, &adk.ModelContext{})
	require.NoError(t, err)
	_, err = guarded.Generate(ctx, []*schema.Message{schema.UserMessage("do it")}, options...)
	require.NoError(t, err)
	return inner.requests[0].options
}

func named(infos []*schema.ToolInfo) []string {
	return asked{options: &model.Options{Tools: infos}}.offers()
}

// The list that a request gets, under each mode and choice: search and mail are withheld.
func TestLists(t *testing.T) {
	forced, allowed, forbidden := schema.ToolChoiceForced, schema.ToolChoiceAllowed, schema.ToolChoiceForbidden
	tools := []*schema.ToolInfo{info("calc"), info("search"), info("exit"), info("mail"), info("fetch")}
	all := named(tools)
	for name, one := range map[string]struct {
		mode    toolguard.Mode
		options []model.Option
		tools   []string
		choice  *schema.ToolChoice
		names   []string
	}{
		"withhold": {toolguard.Withhold, nil, []string{"calc", "exit", "fetch"}, nil, nil},
		"mask":     {toolguard.Mask, nil, all, &allowed, []string{"calc", "exit", "fetch"}},
		"guard":    {toolguard.GuardOnly, nil, all, nil, nil},

		"withhold, one forced":  {toolguard.Withhold, []model.Option{model.WithToolChoice(forced, "search")}, []string{"calc", "search", "exit", "fetch"}, &forced, []string{"search"}},
		"withhold, some forced": {toolguard.Withhold, []model.Option{model.WithToolChoice(forced, "search", "calc")}, []string{"calc", "exit", "fetch"}, &forced, []string{"calc"}},
		"withhold, all forced":  {toolguard.Withhold, []model.Option{model.WithToolChoice(forced, "search", "mail")}, all, &forced, []string{"search", "mail"}},
		"withhold, any forced":  {toolguard.Withhold, []model.Option{model.WithToolChoice(forced)}, []string{"calc", "exit", "fetch"}, &forced, nil},
		"withhold, allowed":     {toolguard.Withhold, []model.Option{model.WithToolChoice(allowed, "search")}, []string{"calc", "exit", "fetch"}, &forbidden, nil},
		"withhold, forbidden":   {toolguard.Withhold, []model.Option{model.WithToolChoice(forbidden)}, []string{"calc", "exit", "fetch"}, &forbidden, nil},

		"mask, one forced":  {toolguard.Mask, []model.Option{model.WithToolChoice(forced, "search")}, all, &forced, []string{"search"}},
		"mask, some forced": {toolguard.Mask, []model.Option{model.WithToolChoice(forced, "search", "calc")}, all, &forced, []string{"calc"}},
		"mask, all forced":  {toolguard.Mask, []model.Option{model.WithToolChoice(forced, "search", "mail")}, all, &forced, []string{"search", "mail"}},
		"mask, allowed":     {toolguard.Mask, []model.Option{model.WithToolChoice(allowed, "search")}, all, &forbidden, nil},
		"mask, forbidden":   {toolguard.Mask, []model.Option{model.WithToolChoice(forbidden)}, all, &forbidden, nil},
	} {
		t.Run(name, func(t *testing.T) {
			options := watchAll()
			options.Mode = one.mode
			g := newGuard(t, options)
			open(t, g, "search")
			open(t, g, "mail")
			got := wrapped(t, g, append([]model.Option{model.WithTools(tools)}, one.options...)...)
			assert.Equal(t, one.tools, named(got.Tools))
			assert.Equal(t, one.choice, got.ToolChoice)
			assert.Equal(t, one.names, got.AllowedToolNames)
			assert.Equal(t, all, named(tools), "the input has changed")
		})
	}
}

// A list is a new one with the same elements, or the same one where nothing is left out:
// the list of tools to be searched for likewise.
func TestListsAreShared(t *testing.T) {
	g := newGuard(t, watchAll())
	tools, deferred := []*schema.ToolInfo{info("calc"), info("search")}, []*schema.ToolInfo{info("mail"), info("fetch")}
	got := wrapped(t, g, model.WithTools(tools), model.WithDeferredTools(deferred))
	assert.Same(t, &tools[0], &got.Tools[0])
	assert.Same(t, &deferred[0], &got.DeferredTools[0])
	open(t, g, "mail")
	got = wrapped(t, g, model.WithTools(tools), model.WithDeferredTools(deferred))
	assert.Same(t, &tools[0], &got.Tools[0])
	assert.NotSame(t, &deferred[0], &got.DeferredTools[0])
	require.Len(t, got.DeferredTools, 1)
	assert.Same(t, deferred[1], got.DeferredTools[0])
}

// A tool that a request insists on, as is done for structured output, is neither withheld
// nor refused, and its calls say nothing: alone in the list it needs no name.
func TestStructuredOutputIsNeverWithheld(t *testing.T) {
	g, answer := newGuard(t, watchAll()), newBackend("answer", works)
	open(t, g, "answer")
	for _, choice := range []model.Option{model.WithToolChoice(schema.ToolChoiceForced), model.WithToolChoice(schema.ToolChoiceForced, "answer")} {
		m := turns(1, "answer")
		o := run(t, g, configured(m, invokable{answer}), adk.WithChatModelOptions([]model.Option{choice}))
		require.NoError(t, o.err)
		assert.Equal(t, [][]string{{"answer"}, {"answer"}}, m.offered())
		assert.Equal(t, []string{"42"}, o.results)
	}
	assert.Zero(t, g.Tools().Tools()[0].Refused)
}

// quits is an exit of the application's own.
type quits struct{ *backend }

func (q quits) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	return q.run(ctx, arguments)
}

// What eino supplies for exit and hand-over is never withheld nor refused, by whatever
// name the exit goes, and also when a session has spent all its failures.
func TestFrameworksToolsAreNeverWithheld(t *testing.T) {
	for _, exit := range []tool.BaseTool{adk.ExitTool{}, quits{newBackend("quit", fails)}} {
		options := watchAll()
		options.MaxFailuresPerSession, options.Session = 3, func(context.Context) string { return "1" }
		g := newGuard(t, options)
		described, err := exit.Info(t.Context())
		require.NoError(t, err)
		for range 5 {
			m := turns(4, "search", described.Name)
			config := configured(m, invokable{newBackend("search", fails)})
			config.Exit = exit
			o := run(t, g, config)
			require.NoError(t, o.err)
			for _, list := range m.offered() {
				assert.Contains(t, list, described.Name)
			}
			for _, text := range o.results {
				assert.NotContains(t, text, `Tool "`+described.Name)
			}
		}
		assert.Equal(t, breaker.Closed, state(g, described.Name))
		assert.Equal(t, breaker.Open, state(g, "search"))
	}
	g := newGuard(t, watchAll())
	assert.False(t, g.Tools().Watches(adk.TransferToAgentToolName))
	assert.True(t, g.Tools().Watches("search"))
}

// An alias is its tool.
func TestAliases(t *testing.T) {
	g, b := newGuard(t, watchAll()), newBackend("search", fails)
	m := turns(5, "find")
	config := configured(m, invokable{b})
	config.ToolsConfig.ToolAliases = map[string]compose.ToolAliasConfig{"search": {NameAliases: []string{"find"}}}
	o := run(t, g, config)
	require.NoError(t, o.err)
	assert.EqualValues(t, 3, b.hits.Load())
	assert.Equal(t, breaker.Open, state(g, "search"))
	requireRefused(t, o.results[4])
	assert.Contains(t, o.results[4], `"find"`)
}

// A tool that another middleware keeps from the model is guarded all the same.
func TestUnlistedToolsAreGuarded(t *testing.T) {
	g, b := newGuard(t, watchAll()), newBackend("search", fails)
	config := configured(turns(5, "search"), invokable{b})
	config.Handlers = append(config.Handlers, &spy{wrapModel: func([]*schema.ToolInfo) []model.Option {
		return []model.Option{model.WithTools(nil)}
	}})
	o := run(t, g, config)
	require.NoError(t, o.err)
	assert.EqualValues(t, 3, b.hits.Load())
	requireRefused(t, o.results[4])
}

// An unknown tool makes no state, in whatever number (A113).
func TestUnknownTools(t *testing.T) {
	g := newGuard(t, watchAll())
	config := configured(turns(50, "nonsense"), invokable{newBackend("search", works)})
	config.ToolsConfig.UnknownToolsHandler = func(context.Context, string, string) (string, error) { return "", errDown }
	run(t, g, config)
	config = configured(turns(50, "nonsense"), invokable{newBackend("search", works)})
	config.ToolsConfig.UnknownToolsHandler = func(context.Context, string, string) (string, error) { return "no such tool", nil }
	require.NoError(t, run(t, g, config).err)
	assert.Empty(t, g.Tools().Tools())
}

// A guard that watches nothing is not there.
func TestNothingWatched(t *testing.T) {
	g := newGuard(t, toolguard.Options{})
	inner := turns(0)
	m := g.Middleware()
	ctx, _, err := m.BeforeAgent(t.Context(), nil)
	require.NoError(t, err)
	same, err := m.WrapModel(ctx, inner, nil)
	require.NoError(t, err)
	assert.Same(t, inner, same)
	_, err = einoguard.New(&toolguard.Options{Mode: 9})
	require.ErrorContains(t, err, "Mode")
	_, err = einoguard.New(nil)
	require.NoError(t, err)
}

// In a graph of one's own the turn is the application's.
func TestToolsNode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, b := newGuard(t, watchAll()), newBackend("search", works)
		node, err := compose.NewToolNode(t.Context(), &compose.ToolsNodeConfig{
			Tools: []tool.BaseTool{invokable{b}}, ToolCallMiddlewares: []compose.ToolMiddleware{g.ToolMiddleware(b.info)},
		})
		require.NoError(t, err)
		open(t, g, "search")
		turn := g.Tools().Turn(t.Context(), []string{"search"})
		answers, err := node.Invoke(turn.Context(t.Context()), calls("search"))
		require.NoError(t, err)
		requireRefused(t, answers[0].Content)
		turn.Close()
		time.Sleep(time.Minute)
		answers, err = node.Invoke(t.Context(), calls("search"))
		require.NoError(t, err)
		assert.Equal(t, "42", answers[0].Content)
		assert.Equal(t, breaker.Closed, state(g, "search"))
	})
}
