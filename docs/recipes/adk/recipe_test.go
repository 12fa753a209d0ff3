package adk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/exitlooptool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	recipe "github.com/seed42274fcc/stoic/docs/recipes/adk"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

var (
	both    = []string{"calc", "search"}
	calc    = []string{"calc"}
	errDown = errors.New("connection refused, password=hunter2")
)

// The whole way of a tool: three failures, withheld, refused, a probe in vain, a probe, back.
func TestABrokenToolIsWithheldAndComesBack(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.search = raises(errDown)
		a.ask(t, round{"search"}, round{"search"}, round{"search"}, round{"search"}) // the fourth from memory
		assert.Equal(t, [][]string{both, both, both, calc, calc}, a.offered)
		assert.EqualValues(t, 3, a.hits.Load(), "the function does not run")
		require.Len(t, a.results, 4)
		assert.Equal(t, map[string]any{"error": "connection refused, password=***"}, a.results[0])
		require.Len(t, a.results[3], 1, "no error")
		assert.Contains(t, a.results[3]["output"], `Tool "search" is temporarily unavailable until `)
		assert.Contains(t, a.results[3]["output"], "calc")

		time.Sleep(time.Minute)
		a.ask(t, round{"calc"}) // offered, and not used: it is still to be had
		assert.Equal(t, [][]string{both, both}, a.offered)
		a.ask(t, round{"search"})
		assert.Equal(t, [][]string{both, calc}, a.offered)
		assert.EqualValues(t, 4, a.hits.Load())

		time.Sleep(2 * time.Minute)
		a.search = func(agent.Context) (string, error) { time.Sleep(time.Second); return "found", nil }
		a.ask(t, round{"search", "search"})
		assert.Equal(t, [][]string{both, both}, a.offered)
		assert.EqualValues(t, 5, a.hits.Load(), "one probe (A109)")
		assert.Contains(t, a.last(2), map[string]any{"result": "found"})
		a.ask(t, round{"search", "search"})
		assert.Equal(t, []map[string]any{{"result": "found"}, {"result": "found"}}, a.last(2))
	})
}

// Tools that a toolset returns for each run are guarded as well.
func TestAToolset(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.toolset, a.search = true, raises(errDown)
		a.ask(t, round{"search"}, round{"search"})
		a.ask(t, round{"search"}, round{"search"})
		assert.Equal(t, [][]string{both, calc, calc}, a.offered)
		assert.EqualValues(t, 3, a.hits.Load())
		assert.Contains(t, a.last(1)[0]["output"], "temporarily unavailable")
	})
}

// A tool that is withheld in one round is back in a later one of the same run (A106).
func TestAToolComesBackWithinOneRun(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.trip(t)
		a.search = works
		a.calc = func(agent.Context) (string, error) { time.Sleep(time.Minute); return "42", nil }
		a.limits(t, toolguard.Limits{Timeout: time.Hour})
		a.ask(t, round{"calc"}, round{"search"})
		assert.Equal(t, [][]string{calc, both, both}, a.offered)
		assert.Equal(t, []map[string]any{{"result": "found"}}, a.last(1))
	})
}

// A tool that hangs has its own time, its context says so, and has what ADK gives to tools.
func TestAToolThatHangsCounts(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.search = func(ctx agent.Context) (string, error) {
			deadline, _ := ctx.Deadline()
			assert.Equal(t, 30*time.Second, time.Until(deadline))
			assert.Equal(t, "user", ctx.UserID())
			assert.NoError(t, ctx.State().Set("seen", true))
			ctx.Actions().SkipSummarization = false
			<-ctx.Done()
			return "", ctx.Err()
		}
		for range 3 {
			a.ask(t, round{"search"})
		}
		a.ask(t)
		assert.Equal(t, [][]string{calc}, a.offered)
		assert.Equal(t, true, a.state(t, "seen"), "what a tool does to the state is kept")
	})
}

// Arguments that make no sense do not count, and do not run the tool.
func TestWrongArgumentsDoNotCount(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.args = map[string]any{"text": 1.5}
		for range 50 {
			a.ask(t, round{"search"})
			assert.Contains(t, a.last(1)[0]["error"], "text")
		}
		assert.Empty(t, a.guard.Tools())
		assert.Zero(t, a.hits.Load())
	})
}

// A call that waits for somebody, and one that somebody has refused, say nothing about the tool (R27); one that was
// confirmed is guarded, although no model has asked for it just now.
func TestConfirmations(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.confirm, a.search = true, raises(errDown)
		for range 50 {
			a.ask(t, round{"search"})
			a.answer(t, false)
		}
		assert.Empty(t, a.guard.Tools())
		assert.Zero(t, a.hits.Load())
		for range 3 {
			a.ask(t, round{"search"})
			a.answer(t, true)
		}
		assert.EqualValues(t, 3, a.hits.Load())
		assert.Equal(t, [][]string{calc}, a.offered)

		a.ask(t, round{"search"}) // nobody is asked for what cannot be had
		assert.Empty(t, a.pending)
		assert.Contains(t, a.last(1)[0]["output"], "temporarily unavailable")
	})
}

// Where a model is asked twice with one request, or a tool is protected, too, its calls are guarded once.
func TestOneGuardIsEnough(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.protect, a.twice, a.search = true, true, raises(errDown)
		a.ask(t, round{"calc"}, round{"search"}, round{"calc"}, round{"search"}, round{"calc"}, round{"search"}, round{"calc"})
		assert.Equal(t, [][]string{both, both, both, both, both, both, calc, calc}, a.offered)
		time.Sleep(time.Minute)
		a.search = works
		a.ask(t, round{"calc"}, round{"search"}, round{"calc"})
		assert.Equal(t, []map[string]any{{"result": "found"}}, a.last(1))
	})
}

// Without a limit of time, or unwatched, a tool without a turn has its context as it was.
func TestConfirmedWithoutTimeout(t *testing.T) {
	for name, options := range map[string]*toolguard.Options{
		"no timeout":  {MonitorAll: true, Limits: toolguard.Limits{Timeout: toolguard.NoTimeout}},
		"not watched": {},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, options, func(t *testing.T, a *app) {
				a.confirm = true
				a.search = func(ctx agent.Context) (string, error) {
					return "found", ctx.State().Set("seen", true)
				}
				a.ask(t, round{"search"})
				a.answer(t, true)
				assert.Equal(t, []map[string]any{{"result": "found"}}, a.last(1))
				assert.Equal(t, true, a.state(t, "seen"))
			})
		})
	}
}

// A hand-over works, and what the agent has not used is there for the one that it hands over to.
func TestTheOtherAgentMayProbe(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.trip(t)
		time.Sleep(time.Minute)
		a.search, a.handOver = works, true
		a.ask(t, round{"transfer_to_agent"}, round{"search"})
		handing := append(slices.Clone(both), "transfer_to_agent")
		assert.Equal(t, [][]string{handing, both, both}, a.offered)
		assert.Equal(t, []map[string]any{{"result": "found"}}, a.last(1))
		assert.EqualValues(t, 4, a.hits.Load())
	})
}

// What ADK supplies stays, also for a session that has had enough.
func TestWhatTheFrameworkSuppliesStays(t *testing.T) {
	options := watched()
	options.MaxFailuresPerSession = 2
	// region session
	options.Session = func(ctx context.Context) string {
		if own, ok := ctx.(agent.ReadonlyContext); ok {
			return own.SessionID()
		}
		return ""
	}
	// endregion
	bubble(t, options, func(t *testing.T, a *app) {
		a.search, a.structured = raises(errDown), true
		a.ask(t, round{"search"}, round{"search"}, round{"set_model_response"})
		before := []string{"calc", "exit_loop", "search", "set_model_response"}
		assert.Equal(t, [][]string{before, before, {"exit_loop", "set_model_response"}}, a.offered)
		assert.Equal(t, `{"text":"it"}`, a.final)

		a.ask(t, round{"exit_loop"})
		assert.True(t, a.escalated)
	})
}

// An agent that gives up closes its turn all the same.
func TestARunThatIsLeft(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.trip(t)
		time.Sleep(time.Minute)
		a.rounds, a.offered = []round{{"calc"}}, nil
		for _, err := range a.run(t, genai.NewContentFromText("find it", "user")) {
			require.NoError(t, err)
			break
		}
		assert.Equal(t, [][]string{both}, a.offered)
		a.ask(t)
		assert.Equal(t, [][]string{both}, a.offered)
	})
}

// What is handed out as a task has its answer from the agent that does it, which may probe, too.
func TestATaskOfAnotherAgent(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.trip(t)
		time.Sleep(time.Minute)
		a.search, a.task = works, true
		a.ask(t, round{"other"}, round{"search"}, round{"finish_task"})
		main, other := []string{"calc", "other", "search"}, []string{"calc", "finish_task", "search"}
		assert.Equal(t, [][]string{main, other, other, main}, a.offered)
		assert.EqualValues(t, 4, a.hits.Load())
		assert.Equal(t, "done", a.final)
		assert.Equal(t, []map[string]any{{"result": "found"}}, a.answers["other"], "once")
	})
}

// ADK helps its own models less, and still knows them.
func TestTheModelIsKnown(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.structured, a.backend = true, genai.BackendVertexAI
		a.ask(t)
		assert.Equal(t, [][]string{{"calc", "exit_loop", "search"}}, a.offered)
	})
}

// The request that comes in is what goes out the next time, too.
func TestTheRequestStaysAsItIs(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		a.trip(t)
		search := a.tools(t)[0]
		declared := search.(interface {
			Declaration() *genai.FunctionDeclaration
		}).Declaration()
		config := &genai.GenerateContentConfig{Tools: []*genai.Tool{nil, {FunctionDeclarations: []*genai.FunctionDeclaration{declared}}}}
		request := &model.LLMRequest{Config: config, Tools: map[string]any{"search": search}}
		for range 2 { // as when a model is asked again
			for _, err := range recipe.Model(a, a.guard).GenerateContent(t.Context(), request, false) {
				require.NoError(t, err)
			}
			assert.Empty(t, a.offered[len(a.offered)-1])
			require.Same(t, config, request.Config)
			require.Len(t, config.Tools, 2)
			assert.Equal(t, []*genai.FunctionDeclaration{declared}, config.Tools[1].FunctionDeclarations)
		}
		time.Sleep(time.Minute)
		for range 2 { // each turn gives back what the one before has not used
			for _, err := range recipe.Model(a, a.guard).GenerateContent(t.Context(), request, false) {
				require.NoError(t, err)
			}
			assert.Equal(t, []string{"search"}, a.offered[len(a.offered)-1])
		}
	})
}

// Nothing that an agent is made of changes in a hundred conversations at once, with trips and recoveries (A104).
func TestToolsStayAsTheyAre(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *app) {
		var down atomic.Bool
		a.search = func(agent.Context) (string, error) {
			time.Sleep(time.Second)
			if down.Load() {
				return "", errDown
			}
			return "found", nil
		}
		registered := a.tools(t)
		before := described(registered)
		searching, err := llmagent.New(llmagent.Config{Name: "main", Model: recipe.Model(stateless{}, a.guard), Tools: registered})
		require.NoError(t, err)
		r, err := runner.New(runner.Config{AppName: "app", Agent: searching, SessionService: a.sessions, AutoCreateSession: true})
		require.NoError(t, err)
		all := func() {
			var wait sync.WaitGroup
			for i := range 100 {
				wait.Go(func() {
					for _, err := range r.Run(t.Context(), "user", fmt.Sprint(i), genai.NewContentFromText("find it", "user"), agent.RunConfig{}) {
						assert.NoError(t, err)
					}
				})
			}
			wait.Wait()
		}
		for range 5 {
			down.Store(true)
			all()
			require.Len(t, a.guard.Tools(), 1)
			assert.Equal(t, breaker.Open, a.guard.Tools()[0].State)
			down.Store(false)
			time.Sleep(10 * time.Minute)
			all()
			assert.Equal(t, breaker.Closed, a.guard.Tools()[0].State)
		}
		assert.Equal(t, before, described(registered))
	})
}

func described(tools []tool.Tool) (all []string) {
	for _, t := range tools {
		declared, err := json.Marshal(t.(interface {
			Declaration() *genai.FunctionDeclaration
		}).Declaration())
		all = append(all, fmt.Sprintf("%T %s %v", t, declared, err))
	}
	return all
}

// again is a model that takes only the second answer.
type again struct{ model.LLM }

func (m again) GenerateContent(ctx context.Context, request *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for _, err := range m.LLM.GenerateContent(ctx, request, stream) {
			if err != nil {
				yield(nil, err)
				return
			}
		}
		m.LLM.GenerateContent(ctx, request, stream)(yield)
	}
}

// stateless is a model that searches once for each message.
type stateless struct{}

func (stateless) Name() string { return "stateless" }

func (stateless) GenerateContent(_ context.Context, request *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		said := genai.NewContentFromFunctionCall("search", map[string]any{"text": "it"}, "model")
		if last := request.Contents[len(request.Contents)-1]; last.Parts[0].FunctionResponse != nil {
			said = genai.NewContentFromText("done", "model")
		}
		yield(&model.LLMResponse{Content: said}, nil)
	}
}

// What of this version decides how the recipe is, without a guard.

func TestFactAToolThatIsNotOfferedIsRun(t *testing.T) {
	bubble(t, &toolguard.Options{}, func(t *testing.T, a *app) {
		a.before = func(_ agent.Context, request *model.LLMRequest) (*model.LLMResponse, error) {
			for _, t := range request.Config.Tools {
				t.FunctionDeclarations = without(t.FunctionDeclarations, "search")
			}
			return nil, nil
		}
		a.ask(t, round{"search"})
		assert.Equal(t, [][]string{calc, calc}, a.offered)
		assert.EqualValues(t, 1, a.hits.Load())
	})
}

// A list is made anew for each request: what was taken out of the one before is back.
func TestFactARequestIsNotThatOfTheNextRound(t *testing.T) {
	bubble(t, &toolguard.Options{}, func(t *testing.T, a *app) {
		first := true
		a.before = func(_ agent.Context, request *model.LLMRequest) (*model.LLMResponse, error) {
			if first {
				request.Config.Tools[0].FunctionDeclarations = without(request.Config.Tools[0].FunctionDeclarations, "search")
				first = false
			}
			return nil, nil
		}
		a.ask(t, round{"calc"})
		assert.Equal(t, [][]string{calc, both}, a.offered)
	})
}

// The calls that a model asks for are made before its iterator goes on, which is when the turn is closed.
func TestFactCallsAreMadeInsideOfYield(t *testing.T) {
	bubble(t, &toolguard.Options{}, func(t *testing.T, a *app) {
		var hits []int64
		a.after = func() { hits = append(hits, a.hits.Load()) }
		a.ask(t, round{"search"}, round{"search"})
		assert.Equal(t, []int64{1, 2, 2}, hits)
	})
}

// The context of a tool call refuses what would give it another one.
func TestFactAToolContextHasNoWithAgentContext(t *testing.T) {
	bubble(t, &toolguard.Options{}, func(t *testing.T, a *app) {
		a.bare = true
		a.search = func(ctx agent.Context) (string, error) {
			assert.Nil(t, ctx.WithAgentContext(ctx))
			own, cancel := ctx.WithAgentCancel()
			defer cancel()
			assert.NotNil(t, own.WithAgentContext(t.Context()))
			return "found", nil
		}
		a.ask(t, round{"search"})
		assert.EqualValues(t, 1, a.hits.Load())
	})
}

func without(declarations []*genai.FunctionDeclaration, name string) []*genai.FunctionDeclaration {
	return slices.DeleteFunc(slices.Clone(declarations), func(d *genai.FunctionDeclaration) bool { return d.Name == name })
}

// app is the application round the recipe. It is also its model, which is a script.
type app struct {
	guard        *toolguard.Guard
	sessions     session.Service
	search, calc func(agent.Context) (string, error)
	hits         atomic.Int64   // of search
	args         map[string]any // of each call

	confirm    bool // search is to be confirmed
	protect    bool // search is protected also without a turn
	twice      bool // the model is asked twice, and its second answer is the one
	toolset    bool // the tools come in a set
	handOver   bool // there is another agent, with the same tools
	task       bool // there is another agent, for tasks
	structured bool // the answer has a form, and there is exit_loop
	backend    genai.Backend
	bare       bool // no guard at all
	before     llmagent.BeforeModelCallback
	after      func() // each answer

	rounds    []round               // what the model calls, until it answers
	offered   [][]string            // what it was offered, in each round
	results   []map[string]any      // what it has read of tools, in the last round
	pending   []*genai.FunctionCall // what waits to be confirmed
	final     string                // the last text
	escalated bool
	answers   map[string][]map[string]any // of tools, as the application sees them
}

// round has the tools that the model calls at once, whether they are offered or not.
type round []string

type query struct {
	Text string `json:"text"`
}

func works(agent.Context) (string, error) { return "found", nil }

func raises(err error) func(agent.Context) (string, error) {
	return func(agent.Context) (string, error) { return "", err }
}

func watched() *toolguard.Options {
	return &toolguard.Options{
		// region options
		MonitorAll: true,
		Exclude:    []string{"transfer_to_agent", "set_model_response", "finish_task", "task_completed", "exit_loop"},
		// endregion
	}
}

func bubble(t *testing.T, options *toolguard.Options, test func(*testing.T, *app)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if options == nil {
			options = watched()
		}
		options.Logger = slog.New(slog.DiscardHandler)
		guard, err := toolguard.New(options)
		require.NoError(t, err)
		test(t, &app{guard: guard, sessions: session.InMemoryService(), search: works, calc: works, args: map[string]any{"text": "it"}})
	})
}

func (a *app) limits(t *testing.T, limits toolguard.Limits) {
	t.Helper()
	require.NoError(t, a.guard.SetLimits(limits, nil))
}

func (a *app) trip(t *testing.T) {
	t.Helper()
	a.search = raises(errDown)
	a.ask(t, round{"search"}, round{"search"}, round{"search"})
	a.offered = nil
}

// ask has a user ask something.
func (a *app) ask(t *testing.T, rounds ...round) {
	t.Helper()
	a.rounds, a.offered, a.pending, a.answers = rounds, nil, nil, map[string][]map[string]any{}
	for event, err := range a.run(t, genai.NewContentFromText("find it", "user")) {
		a.see(t, event, err)
	}
}

// answer has the user confirm what is pending, or refuse it.
func (a *app) answer(t *testing.T, yes bool) {
	t.Helper()
	require.Len(t, a.pending, 1)
	call := a.pending[0]
	a.rounds, a.offered, a.pending, a.answers = nil, nil, nil, map[string][]map[string]any{}
	response := &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{"confirmed": yes}}
	for event, err := range a.run(t, &genai.Content{Role: "user", Parts: []*genai.Part{{FunctionResponse: response}}}) {
		a.see(t, event, err)
	}
}

func (a *app) see(t *testing.T, event *session.Event, err error) {
	t.Helper()
	require.NoError(t, err)
	a.escalated = a.escalated || event.Actions.Escalate
	if event.Content == nil {
		return
	}
	for _, part := range event.Content.Parts {
		switch {
		case part.FunctionCall != nil && part.FunctionCall.Name == "adk_request_confirmation":
			a.pending = append(a.pending, part.FunctionCall)
		case part.FunctionResponse != nil:
			name := part.FunctionResponse.Name
			a.answers[name] = append(a.answers[name], part.FunctionResponse.Response)
		case part.Text != "":
			a.final = part.Text
		}
	}
}

// run is an application that is made for one message, since everything else is in the session.
func (a *app) run(t *testing.T, message *genai.Content) iter.Seq2[*session.Event, error] {
	t.Helper()
	var llm model.LLM = a
	if !a.bare {
		llm = recipe.Model(a, a.guard)
	}
	if a.twice {
		llm = again{llm}
	}
	config := llmagent.Config{Name: "main", Model: llm, Tools: a.tools(t)}
	if a.toolset {
		config.Tools, config.Toolsets = nil, []tool.Toolset{toolset(config.Tools)}
	}
	if a.before != nil {
		config.BeforeModelCallbacks = []llmagent.BeforeModelCallback{a.before}
	}
	if a.structured {
		config.OutputSchema = &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"text": {Type: genai.TypeString}}}
	}
	if a.handOver || a.task {
		second := llmagent.Config{Name: "other", Model: llm, Tools: a.tools(t), DisallowTransferToParent: true}
		if a.task {
			second.Mode = llmagent.ModeTask
		}
		other, err := llmagent.New(second)
		require.NoError(t, err)
		config.SubAgents = []agent.Agent{other}
	}
	main, err := llmagent.New(config)
	require.NoError(t, err)
	r, err := runner.New(runner.Config{AppName: "app", Agent: main, SessionService: a.sessions, AutoCreateSession: true})
	require.NoError(t, err)
	return r.Run(t.Context(), "user", "session", message, agent.RunConfig{})
}

func (a *app) tools(t *testing.T) []tool.Tool {
	t.Helper()
	find, err := functiontool.New(functiontool.Config{Name: "search", Description: "searches", RequireConfirmation: a.confirm},
		func(ctx agent.Context, _ query) (string, error) {
			a.hits.Add(1)
			return a.search(ctx)
		})
	require.NoError(t, err)
	calculate, err := functiontool.New(functiontool.Config{Name: "calc", Description: "calculates"},
		func(ctx agent.Context, _ query) (string, error) { return a.calc(ctx) })
	require.NoError(t, err)
	if a.confirm || a.protect {
		find = recipe.Protect(a.guard, find)
	}
	tools := []tool.Tool{find, calculate}
	if a.structured {
		exit, err := exitlooptool.New()
		require.NoError(t, err)
		tools = append(tools, exit)
	}
	return tools
}

type toolset []tool.Tool

func (toolset) Name() string                                       { return "set" }
func (s toolset) Tools(agent.ReadonlyContext) ([]tool.Tool, error) { return s, nil }

// last is what the model would read of the last n calls.
func (a *app) last(n int) []map[string]any { return a.results[max(0, len(a.results)-n):] }

func (a *app) state(t *testing.T, key string) any {
	t.Helper()
	stored, err := a.sessions.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "user", SessionID: "session"})
	require.NoError(t, err)
	value, err := stored.Session.State().Get(key)
	require.NoError(t, err)
	return value
}

// Name and GetGoogleLLMVariant decide whether ADK helps with the answer's form.
func (a *app) Name() string { return "gemini-2.5-flash" }

func (a *app) GetGoogleLLMVariant() genai.Backend { return a.backend }

func (a *app) GenerateContent(_ context.Context, request *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if a.after != nil {
			defer a.after()
		}
		yield(&model.LLMResponse{Content: a.say(request)}, nil)
	}
}

func (a *app) say(request *model.LLMRequest) *genai.Content {
	var names []string
	for _, t := range request.Config.Tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	a.offered, a.results = append(a.offered, names), nil
	for _, content := range request.Contents {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil {
				a.results = append(a.results, part.FunctionResponse.Response)
			}
		}
	}
	if len(a.rounds) == 0 {
		return genai.NewContentFromText("done", "model")
	}
	said := &genai.Content{Role: "model"}
	for _, name := range a.rounds[0] {
		args := maps.Clone(a.args)
		switch name {
		case "transfer_to_agent":
			args = map[string]any{"agent_name": "other"}
		case "exit_loop":
			args = nil
		case "other":
			args = map[string]any{"request": "find it"}
		case "finish_task":
			args = map[string]any{"result": "found"}
		}
		said.Parts = append(said.Parts, genai.NewPartFromFunctionCall(name, args))
	}
	a.rounds = a.rounds[1:]
	return said
}
