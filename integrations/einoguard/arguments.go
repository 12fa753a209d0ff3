package einoguard

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// misfit reports whether arguments do not fit the schema of their tool. Eino reports them
// as an ordinary error of the tool, told apart by its text only. So the schema is asked.
// What cannot be checked fits.
func misfit(info *toolInfo, arguments string) bool {
	if info == nil || info.ParamsOneOf == nil {
		return false
	}
	declared, err := info.ToJSONSchema()
	if err != nil || declared == nil {
		return false
	}
	resolved, err := resolve(declared)
	if err != nil {
		return false
	}
	var values map[string]any
	if err := json.Unmarshal([]byte(arguments), &values); err != nil || values == nil {
		return true // not even an object
	}
	return resolved.Validate(values) != nil
}

// resolve copies the schema, which is the tool's own, into one that can check.
func resolve(schema any) (*jsonschema.Resolved, error) {
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	own := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, own); err != nil {
		return nil, err
	}
	return own.Resolve(nil)
}
