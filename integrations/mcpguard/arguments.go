package mcpguard

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// misfit reports whether arguments do not fit the schema of their tool. The SDK answers
// such a call with an ordinary error of the tool, told apart by its text only. So the
// schema is asked again. What cannot be checked fits.
func misfit(tool *mcp.Tool, arguments any) bool {
	if tool == nil || tool.InputSchema == nil {
		return false
	}
	resolved, err := resolve(tool.InputSchema)
	if err != nil {
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
	if err := resolved.ApplyDefaults(&values); err != nil {
		return false
	}
	return resolved.Validate(&values) != nil
}

// resolve copies the schema: on the server it is the tool's own, on the client a map.
func resolve(schema any) (*jsonschema.Resolved, error) {
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	own := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, own); err != nil {
		return nil, err
	}
	return own.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
}
