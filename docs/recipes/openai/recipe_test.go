package openai_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	recipe "github.com/seed42274fcc/stoic/docs/recipes/openai"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

var (
	both    = []string{"calc", "search"}
	errDown = errors.New("connect to db://root:hunter2@db: connection refused")
)

// The whole way of a tool: three failures, withheld, refused, a probe in vain, a probe, back.
func TestABrokenToolIsWithheldAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, toolguard.Options{MonitorAll: true})
		a.down = errDown
		for range 3 {
			a.turn(t, "search")
			assert.Equal(t, both, a.model.offered)
		}
		assert.Equal(t, 3, a.hits)

		a.turn(t, "search") // the model remembers it
		assert.Equal(t, []string{"calc"}, a.model.offered)
		assert.Equal(t, 3, a.hits, "the handler does not run")
		a.turn(t)
		require.Len(t, a.model.results, 4)
		assert.Equal(t, "The tool failed: connect to db://***@db: connection refused", a.model.results[0])
		assert.Contains(t, a.model.results[3], `Tool "search" is temporarily unavailable until `)
		assert.Contains(t, a.model.results[3], `Other tools: "calc".`)

		time.Sleep(time.Minute)
		a.turn(t) // offered, and not used: it is still to be had
		assert.Equal(t, both, a.model.offered)
		a.turn(t, "search", "search")
		assert.Equal(t, both, a.model.offered)
		assert.Equal(t, 4, a.hits, "one probe")
		a.turn(t)
		assert.Equal(t, []string{"calc"}, a.model.offered)

		time.Sleep(2 * time.Minute)
		a.down = nil
		a.turn(t, "search")
		assert.Equal(t, both, a.model.offered)
		for range 5 {
			a.turn(t, "search", "search")
			assert.Equal(t, both, a.model.offered)
		}
		assert.Equal(t, 5+10, a.hits)
		assert.Equal(t, tools(), a.params.Tools, "what is registered is not touched")
	})
}

// A tool that does not exist is the model's fault, and leaves nothing behind (A113).
func TestAnUnknownToolDoesNotCount(t *testing.T) {
	a := newAgent(t, toolguard.Options{MonitorAll: true})
	for range 10 {
		a.turn(t, "nonsense")
	}
	a.turn(t)
	assert.Contains(t, a.model.results, "The tool failed: no such tool")
	assert.Empty(t, a.guard.Tools())
}

// With a share that is below 1, the list is never empty: the API refuses an empty one (A115).
func TestAListIsNeverEmpty(t *testing.T) {
	a := newAgent(t, toolguard.Options{MonitorAll: true, MaxWithheldShare: 0.99})
	a.params.Tools, a.down = tools()[1:], errDown
	for range 5 {
		a.turn(t, "search")
		assert.Equal(t, []string{"search"}, a.model.offered)
	}
	assert.Equal(t, 3, a.hits)
}

// A completion without a choice is an error, not a panic.
func TestACompletionWithoutAChoice(t *testing.T) {
	a := newAgent(t, toolguard.Options{MonitorAll: true})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices": []}`))
	}))
	defer provider.Close()
	client := openai.NewClient(option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithBaseURL(provider.URL+"/v1/"))
	_, err := recipe.Turn(t.Context(), client, a.guard, &a.params, a.run)
	require.ErrorContains(t, err, "has not answered")
	assert.Len(t, a.params.Messages, 1)
}

// The first part over a connection.
func TestOverHTTP(t *testing.T) {
	a := newAgent(t, toolguard.Options{MonitorAll: true})
	provider := httptest.NewServer(a.model)
	defer provider.Close()
	a.client = openai.NewClient(option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithBaseURL(provider.URL+"/v1/"))
	a.down = errDown
	for range 4 {
		a.turn(t, "search")
	}
	assert.Equal(t, []string{"calc"}, a.model.offered)
	assert.Equal(t, 3, a.hits)
}

// agent is the application round the recipe.
type agent struct {
	client openai.Client
	guard  *toolguard.Guard
	params openai.ChatCompletionNewParams
	model  *model
	down   error // what is the matter with search
	hits   int   // of search
}

func newAgent(t *testing.T, options toolguard.Options) *agent {
	t.Helper()
	options.Logger = slog.New(slog.DiscardHandler)
	guard, err := toolguard.New(&options)
	require.NoError(t, err)
	m := &model{}
	return &agent{
		client: openai.NewClient(option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithHTTPClient(&http.Client{Transport: m})),
		guard:  guard,
		params: openai.ChatCompletionNewParams{
			Model:    "script",
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("find it")},
			Tools:    tools(),
		},
		model: m,
	}
}

func tools() (tools []openai.ChatCompletionToolUnionParam) {
	for _, name := range both {
		tools = append(tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: name}))
	}
	return tools
}

// turn lets the model call those tools, whether they are offered or not.
func (a *agent) turn(t *testing.T, calls ...string) {
	t.Helper()
	a.model.calls = calls
	message, err := recipe.Turn(t.Context(), a.client, a.guard, &a.params, a.run)
	require.NoError(t, err)
	assert.Len(t, message.ToolCalls, len(calls))
}

func (a *agent) run(_ context.Context, tool, arguments string) (string, error) {
	switch {
	case arguments != `{"text":"it"}`:
		return "", errors.New("other arguments")
	case tool == "calc":
		return "42", nil
	case tool == "search":
		a.hits++
		return "found", a.down
	}
	return "", errors.New("no such tool")
}

// model plays the provider: an HTTP server, and a client's transport where time is not to pass in a network.
type model struct {
	calls   []string // of which tools it makes, next time
	offered []string // what it was offered, last time
	results []string // all that it has read of tools
}

func (m *model) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	m.ServeHTTP(recorder, request)
	return recorder.Result(), nil
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Tools []struct {
			Function struct{ Name string }
		}
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.URL.Path != "/v1/chat/completions" {
		http.Error(w, "no chat completion", http.StatusBadRequest)
		return
	}
	m.offered, m.results = nil, nil
	for _, tool := range request.Tools {
		m.offered = append(m.offered, tool.Function.Name)
	}
	for _, message := range request.Messages {
		if message.Role == "tool" {
			m.results = append(m.results, message.Content)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(m.completion())
}

type object = map[string]any

func (m *model) completion() object {
	message, reason := object{"role": "assistant", "content": "done"}, "stop"
	if len(m.calls) > 0 {
		var calls []object
		for _, name := range m.calls {
			calls = append(calls, object{"id": rand.Text(), "type": "function", "function": object{"name": name, "arguments": `{"text":"it"}`}})
		}
		message, reason = object{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
	}
	return object{"id": "c", "object": "chat.completion", "choices": []object{{"index": 0, "finish_reason": reason, "message": message}}}
}
