package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// member is one key of a JSON object, in the order of the text, with its value
// unread.
type member struct {
	key   string
	value json.RawMessage
}

// members reads the keys of a JSON object one by one, because decoding into a map
// silently keeps the last of two equal keys. The text must be valid JSON (see
// syntaxFault), which also bounds its depth; nothing here recurses.
func members(raw json.RawMessage) []member {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil { // the brace
		return nil
	}
	var all []member
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return all
		}
		m := member{}
		m.key, _ = token.(string)
		if err := decoder.Decode(&m.value); err != nil {
			return all
		}
		all = append(all, m)
	}
	return all
}

// repeated returns the keys that stand there more than once.
func repeated(all []member) map[string]bool {
	seen, twice := map[string]bool{}, map[string]bool{}
	for _, m := range all {
		if seen[m.key] {
			twice[m.key] = true
		}
		seen[m.key] = true
	}
	return twice
}

// syntaxFault says why text is no JSON document, without quoting it; nil if it is
// one.
func syntaxFault(data []byte) *fault {
	var whole json.RawMessage
	err := json.Unmarshal(data, &whole)
	if err == nil {
		return nil
	}
	where := ""
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		where = fmt.Sprintf(" (byte %d of %d)", syntax.Offset, len(data))
	}
	return &fault{KindDocument, "is no valid JSON" + where}
}

// scalar reads a JSON value for a setting (see value.go).
func scalar(raw json.RawMessage) any {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '{':
		return composite("an object")
	case '[':
		return composite("an array")
	case '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return composite("a broken string")
		}
		return s
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	default:
		return json.Number(raw)
	}
}
