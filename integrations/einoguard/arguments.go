package einoguard

import (
	"encoding/json"
	"errors"

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
	resolved, err := resolve(declared, values)
	if err != nil {
		return false
	}
	return resolved.Validate(values) != nil
}

var errTooMuch = errors.New("it would take too long")

// resolve copies the schema, which is the tool's own, into one that can check.
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
	return own.Resolve(nil)
}

func recode(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, to)
}
