package mcpguard

import (
	"encoding/json"
	"errors"

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
	resolved, err := resolve(tool.InputSchema, values)
	if err != nil {
		return false
	}
	if err := resolved.ApplyDefaults(&values); err != nil {
		return false
	}
	return resolved.Validate(&values) != nil
}

var errTooMuch = errors.New("it would take too long")

// resolve copies the schema: on the server it is the tool's own, on the client a map.
func resolve(schema any, values map[string]any) (*jsonschema.Resolved, error) {
	var plain any
	own := &jsonschema.Schema{}
	if err := recode(schema, &plain); err != nil {
		return nil, err
	}
	if !schemacost.Affordable(plain, values) {
		return nil, errTooMuch
	}
	if err := recode(plain, own); err != nil {
		return nil, err
	}
	var understood any // keywords are found in whatever case they are written
	if err := recode(own, &understood); err != nil {
		return nil, err
	}
	if !schemacost.Affordable(understood, values) {
		return nil, errTooMuch
	}
	return own.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
}

func recode(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, to)
}
