package policies

import "encoding/json"

// Schema is the JSON Schema (2020-12) of a document, made from the settings that there
// are. It refuses the documents that [Validate] has findings for; a lenient one those for
// which it has one that is [Finding.Skipped], so that it accepts unknown keys and nulls.
// Beyond what such a schema can say, and accepted by it, are
//
//   - settings that are allowed alone and not together ([KindConflict])
//   - Go duration strings that are out of range; numbers are compared as they are
//     written, before they are rounded to a nanosecond
//   - keys that stand there twice, but for the two spellings of one
//   - a document of overrides that is too long, or that is a string and holds none
//   - a service_name that differs from the service's own key
//   - a budget that Options.Budgets does not have
//
// The text is the caller's own, indented, and ends with a newline.
func (f Form) Schema(lenient bool) []byte {
	s := schema{lenient: lenient}
	whole := s.overrides()
	title := "Overrides of resilience policies, by service"
	if f != FormOverrides {
		whole = s.config()
		title = "Resilience policies"
	}
	whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	whole["title"] = title
	whole["$defs"] = map[string]any{"override": s.override()}
	text, err := json.MarshalIndent(whole, "", "  ")
	if err != nil { // there is nothing in it that cannot be written
		return nil
	}
	return append(text, '\n')
}

// durationPattern is what time.ParseDuration reads: a negative one only if it is 0, which
// is all that any setting allows.
const durationPattern = `^([+]?(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+|-((0+([.]0*)?|[.]0+)(ns|us|µs|μs|ms|s|m|h))+|[+-]?0)$`

// schema makes one.
type schema struct{ lenient bool }

// config describes a whole configuration.
func (s schema) config() map[string]any {
	properties := map[string]any{
		keyOverrides: s.orNull(map[string]any{"anyOf": []any{
			s.overrides(),
			map[string]any{
				"type": "string", "minLength": 2, "maxLength": maxOverrides,
				"contentMediaType": "application/json", "contentSchema": s.overrides(),
			},
		}}),
	}
	for i := range fields {
		if f := &fields[i]; f.config != "" {
			properties[f.config] = s.orNull(f.describe())
		}
	}
	return s.object(properties)
}

// overrides describes the document of overrides.
func (s schema) overrides() map[string]any {
	all := map[string]any{"type": "object", "additionalProperties": map[string]any{"$ref": "#/$defs/override"}}
	if s.lenient {
		all["properties"] = map[string]any{"": true} // an override for nobody is ignored, whatever it is
	} else {
		all["propertyNames"] = map[string]any{"minLength": 1}
	}
	return all
}

// override describes the override of one service.
func (s schema) override() map[string]any {
	own := map[string]any{"service_name": map[string]any{"type": "string"}}
	if s.lenient {
		own["service_name"] = true
	}
	sections := map[string]map[string]any{"": own}
	spellings := map[string][]any{}
	for i := range fields {
		f := &fields[i]
		if sections[f.section] == nil {
			sections[f.section] = map[string]any{}
		}
		sections[f.section][f.key] = s.orNull(f.describe())
		for _, alias := range f.aliases {
			sections[f.section][alias] = s.orNull(f.describe())
			spellings[f.section] = append(spellings[f.section], map[string]any{"required": []string{f.key, alias}})
		}
	}
	object := func(section string) map[string]any {
		o := s.object(sections[section])
		if both := spellings[section]; both != nil {
			o["not"] = map[string]any{"anyOf": both}
		}
		return o
	}
	for section := range sections {
		if section != "" {
			own[section] = s.orNull(object(section))
		}
	}
	return s.orNull(object(""))
}

// object has these properties; others only if the schema is lenient.
func (s schema) object(properties map[string]any) map[string]any {
	o := map[string]any{"type": "object", "properties": properties}
	if !s.lenient {
		o["additionalProperties"] = false
	}
	return o
}

// orNull lets null stand for what is absent, which a program says a word about.
func (s schema) orNull(one map[string]any) map[string]any {
	if !s.lenient {
		return one
	}
	return map[string]any{"anyOf": []any{one, map[string]any{"type": "null"}}}
}
