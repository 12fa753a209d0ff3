package einoguard

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed42274fcc/stoic/internal/schemacost"
)

// misfit reports whether arguments do not fit the schema of their tool. Eino reports them
// as an ordinary error of the tool, told apart by its text only. So the schema is asked.
// What cannot be checked fits; so does what would take too long: the schema may come from
// a server that is anybody's.
func misfit(info *toolInfo, arguments string) (yes bool) {
	defer func() {
		if recover() != nil { // of the schema's own methods, or of the checker
			yes = false
		}
	}()
	if info == nil || info.ParamsOneOf == nil {
		return false
	}
	declared, err := info.ToJSONSchema()
	if err != nil || declared == nil {
		return false
	}
	var values map[string]any
	if err := json.Unmarshal([]byte(arguments), &values); err != nil || values == nil {
		return true // not even an object
	}
	var schema jsonschema.Schema
	if err := schemacost.Copy(declared, &schema, values); err != nil {
		return false
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return false
	}
	return resolved.Validate(values) != nil
}
