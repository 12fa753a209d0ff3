package anthropic_test

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

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	recipe "github.com/seed42274fcc/stoic/docs/recipes/anthropic"
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
		assert.Equal(t, result{"connect to db://***@db: connection refused", true}, a.model.results[0])
		assert.Contains(t, a.model.results[3].text, `Tool "search" is temporarily unavailable until `)
		assert.Contains(t, a.model.results[3].text, `Other tools: "calc".`)
		assert.False(t, a.model.results[3].isError, "a model that gets an error tries again (A117)")

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
	assert.Contains(t, a.model.results, result{"no such tool", true})
	assert.Empty(t, a.guard.Tools())
}

// With a share that is below 1, the list is never empty: the API refuses a conversation with calls and no tools (A115).
func TestAListIsNeverEmpty(t *testing.T) {
	a := newAgent(t, toolguard.Options{MonitorAll: true, MaxWithheldShare: 0.99})
	a.params.Tools, a.down = tools()[1:], errDown
	for range 5 {
		a.turn(t, "search")
		assert.Equal(t, []string{"search"}, a.model.offered)
	}
	assert.Equal(t, 3, a.hits)
}

// A call that was cut off has half an input: it is not run.
func TestACallThatIsCutOff(t *testing.T) {
	a := newAgent(t, toolguard.Options{MonitorAll: true})
	a.model.calls, a.model.cutOff = []string{"search"}, true
	message, err := recipe.Turn(t.Context(), a.client, a.guard, &a.params, a.run)
	require.NoError(t, err)
	assert.Equal(t, anthropic.StopReasonMaxTokens, message.StopReason)
	assert.Zero(t, a.hits)
}

// The first part over a connection.
func TestOverHTTP(t *testing.T) {
	a := newAgent(t, toolguard.Options{MonitorAll: true})
	provider := httptest.NewServer(a.model)
	defer provider.Close()
	a.client = anthropic.NewClient(option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithBaseURL(provider.URL))
	a.down = errDown
	for range 4 {
		a.turn(t, "search")
	}
	assert.Equal(t, []string{"calc"}, a.model.offered)
	assert.Equal(t, 3, a.hits)
}

// agent is the application round the recipe.
type agent struct {
	client anthropic.Client
	guard  *toolguard.Guard
	params anthropic.MessageNewParams
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
		client: anthropic.NewClient(option.WithAPIKey("none"), option.WithMaxRetries(0), option.WithHTTPClient(&http.Client{Transport: m})),
		guard:  guard,
		params: anthropic.MessageNewParams{
			Model:     "script",
			MaxTokens: 1024,
			Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("find it"))},
			Tools:     tools(),
		},
		model: m,
	}
}

func tools() (tools []anthropic.ToolUnionParam) {
	for _, name := range both {
		tools = append(tools, anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{}, name))
	}
	return tools
}

// turn lets the model call those tools, whether they are offered or not.
func (a *agent) turn(t *testing.T, calls ...string) {
	t.Helper()
	a.model.calls = calls
	message, err := recipe.Turn(t.Context(), a.client, a.guard, &a.params, a.run)
	require.NoError(t, err)
	assert.Equal(t, len(calls) > 0, message.StopReason == anthropic.StopReasonToolUse)
}

func (a *agent) run(_ context.Context, tool string, input json.RawMessage) (string, error) {
	switch {
	case string(input) != `{"text":"it"}`:
		return "", errors.New("other input")
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
	cutOff  bool     // whether it has no tokens left then
	offered []string // what it was offered, last time
	results []result // all that it has read of tools
}

type result struct {
	text    string
	isError bool
}

func (m *model) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	m.ServeHTTP(recorder, request)
	return recorder.Result(), nil
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Tools    []struct{ Name string }
		Messages []struct {
			Content []struct {
				Type    string
				IsError bool `json:"is_error"`
				Content []struct{ Text string }
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.URL.Path != "/v1/messages" {
		http.Error(w, "no message", http.StatusBadRequest)
		return
	}
	m.offered, m.results = nil, nil
	for _, tool := range request.Tools {
		m.offered = append(m.offered, tool.Name)
	}
	for _, message := range request.Messages {
		for _, block := range message.Content {
			if block.Type == "tool_result" {
				m.results = append(m.results, result{block.Content[0].Text, block.IsError})
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(m.message())
}

type object = map[string]any

func (m *model) message() object {
	content, reason := []object{{"type": "text", "text": "done"}}, "end_turn"
	for _, name := range m.calls {
		content, reason = append(content, object{"type": "tool_use", "id": rand.Text(), "name": name, "input": object{"text": "it"}}), "tool_use"
	}
	if m.cutOff {
		reason = "max_tokens"
	}
	return object{"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": reason}
}
