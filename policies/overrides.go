package policies

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// maxOverrides is how many characters the document of overrides may have.
const maxOverrides = 10_000

const (
	overrideSkipped = "; the override of the service is skipped"
	documentSkipped = "; it is skipped whole"
)

// parseOverrides reads the document of overrides. where is the variable or key that
// holds it. It accepts any text.
func parseOverrides(doc, where string) (map[string]Patch, []Finding) {
	whole := func(text string) (map[string]Patch, []Finding) {
		return nil, []Finding{newFinding("", where, KindDocument, text+documentSkipped)}
	}
	if n := utf8.RuneCountInString(doc); n > maxOverrides {
		return whole(fmt.Sprintf("has %d characters, at most %d are read", n, maxOverrides))
	}
	if bad := syntaxFault([]byte(doc)); bad != nil {
		return whole(bad.text)
	}
	if scalar(json.RawMessage(doc)) != composite("an object") {
		return whole("is no JSON object")
	}
	all := members(json.RawMessage(doc))
	twice := repeated(all)
	patches := map[string]Patch{}
	var found []Finding
	for _, m := range all {
		if m.key == "" {
			found = append(found, newFinding("", where, KindIgnored, "an override for a service without a name is ignored"))
			continue
		}
		if again, ok := twice[m.key]; ok {
			if again { // once, and not for each
				found = append(found, newFinding(m.key, "", KindDuplicate, "there are several overrides of the service; all are skipped"))
				twice[m.key] = false
			}
			continue
		}
		o := override{service: m.key}
		o.read(m.value)
		found = append(found, o.found...)
		if !o.skip {
			patches[m.key] = o.patch
		}
	}
	return patches, found
}

// override is one service's, while it is read.
type override struct {
	service string
	patch   Patch
	found   []Finding
	skip    bool
}

func (o *override) warn(key string, kind Kind, text string) {
	o.found = append(o.found, newFinding(o.service, key, kind, text))
}

// refuse reports what makes the whole override unusable. Reading goes on, so that
// all of its faults are reported at once.
func (o *override) refuse(key string, bad *fault) {
	o.skip = true
	o.warn(key, bad.kind, bad.text+overrideSkipped)
}

func (o *override) read(raw json.RawMessage) {
	switch v := scalar(raw); {
	case v == nil:
		o.skip = true
		o.warn("", KindEmpty, "the override is null, which is the same as none")
	case v != composite("an object"):
		o.refuse("", wrongType(v, "an object"))
	default:
		o.readSection("", members(raw))
	}
}

// readSection reads the keys of one section; "" is the override itself, which also
// holds the sections.
func (o *override) readSection(section string, all []member) {
	seen := map[string]bool{} // by the field's own path: an alias is the same key
	for _, m := range all {
		path := m.key
		if section != "" {
			path = section + "." + m.key
		}
		f := fieldAt(section, m.key)
		isSection := section == "" && (m.key == sectionRetry || m.key == sectionCircuit)
		if f != nil {
			path = f.path()
		}
		switch {
		case section == "" && m.key == "service_name":
			// Documents written by other programs repeat the name here. It changes
			// nothing; worth a word only if somebody expects that it does.
			if name, _ := scalar(m.value).(string); name != o.service {
				o.warn(path, KindIgnored, "service_name differs from the override's own key; it is ignored")
			}
		case f == nil && !isSection:
			o.warn(path, KindUnknownKey, "there is no such setting"+didYouMean(meant(section, m.key))+"; it is ignored")
		case seen[path]:
			o.refuse(path, &fault{KindDuplicate, "is set more than once"})
		default:
			seen[path] = true
			o.readMember(path, f, m)
		}
	}
}

func (o *override) readMember(path string, f *field, m member) {
	v := scalar(m.value)
	switch {
	case v == nil:
		o.warn(path, KindEmpty, "is null, which is the same as absent")
	case f != nil:
		if bad := f.read(v, &o.patch); bad != nil {
			o.refuse(path, bad)
		}
	case v != composite("an object"):
		o.refuse(path, wrongType(v, "an object"))
	default:
		o.readSection(m.key, members(m.value))
	}
}
