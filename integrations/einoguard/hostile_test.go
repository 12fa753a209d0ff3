package einoguard_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// A tool's schema may come from a server that is anybody's: one that refers to itself
// would end the process, by a stack without end.
func TestSchemaWithoutEnd(t *testing.T) {
	declared := &jsonschema.Schema{}
	require.NoError(t, json.Unmarshal([]byte(`{"type":"object","$ref":"#"}`), declared))
	g := newGuard(t, watchAll())
	endpoint := g.ToolMiddleware(&schema.ToolInfo{Name: "search", ParamsOneOf: schema.NewParamsOneOfByJSONSchema(declared)}).
		Invokable(func(context.Context, *compose.ToolInput) (*compose.ToolOutput, error) { return nil, errDown })
	for range 3 {
		_, err := endpoint(t.Context(), &compose.ToolInput{Name: "search", Arguments: goodArguments})
		require.Error(t, err)
	}
	assert.Equal(t, breaker.Open, state(g, "search"), "what cannot be checked fits")
}

// A configuration that is copied from a protected one is protected again. Two guards of
// one agent would keep each other's probe from the model for ever, and count twice.
func TestProtectedTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, b := newGuard(t, watchAll()), newBackend("search", fails)
		protected := func() *adk.ChatModelAgentConfig {
			config := configured(persistent("search"), invokable{b})
			g.Protect(config)
			return config // run protects it again
		}
		run(t, g, protected())
		assert.EqualValues(t, 3, b.hits.Load())
		b.set(works)
		time.Sleep(time.Minute)
		run(t, g, protected())
		assert.Equal(t, breaker.Closed, state(g, "search"))
	})
}

// A tool without a stream has not done its work: eino panics on it.
func TestStreamThatIsNone(t *testing.T) {
	g := newGuard(t, watchAll())
	endpoint := g.ToolMiddleware().
		Streamable(func(context.Context, *compose.ToolInput) (*compose.StreamToolOutput, error) {
			return &compose.StreamToolOutput{}, nil
		})
	for range 3 {
		output, err := endpoint(t.Context(), &compose.ToolInput{Name: "search", Arguments: goodArguments})
		require.NoError(t, err)
		require.Nil(t, output.Result)
	}
	assert.Equal(t, breaker.Open, state(g, "search"))
}
