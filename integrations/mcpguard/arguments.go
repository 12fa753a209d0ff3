package mcpguard

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed42274fcc/stoic/internal/schemacost"
)

// misfit reports whether arguments do not fit the schema of their tool. The SDK answers
// such a call with an ordinary error of the tool, told apart by its text only. So the
// schema is asked again. What cannot be checked fits; so does what would take too long: a
// client has the schema from a server that may be anybody's.
func misfit(tool *mcp.Tool, arguments any) (yes bool) {
	defer func() {
		if recover() != nil { // of a type that cannot be marshalled, or of the checker
			yes = false
		}
	}()
	if tool == nil || tool.InputSchema == nil {
		return false
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return false
	}
	values := map[string]any{}
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &values); err != nil {
			return true // not even an object
		}
	}
	var schema jsonschema.Schema
	if err := schemacost.Copy(tool.InputSchema, &schema, values); err != nil {
		return false
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return false
	}
	if err := resolved.ApplyDefaults(&values); err != nil {
		return false
	}
	return resolved.Validate(&values) != nil
}
