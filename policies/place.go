package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/seed42274fcc/stoic/sanitize"
)

// Place is where something stands in a text. It is a plain value; the zero one is
// nowhere.
type Place struct {
	// Line counts from 1.
	Line int
	// Column counts characters, and from 1.
	Column int
}

// Places says where in a document the findings are that [Validate] has for it: the place
// of the key, or for what concerns the document as a whole its begin, or where it stops
// being JSON. A key that is set several times is found where it comes again, what several
// services have in common at the first of them, and what is in a string where its key is.
// There is one place for each finding, in their order. It accepts any document and any
// findings.
func (f Form) Places(document []byte, findings []Finding) []Place {
	ix := index{document: document, keys: map[at][]int{}, first: map[string]int{}, told: map[Finding]int{}}
	if fault := brokenAt(document); fault >= 0 {
		ix.begin = fault
	} else {
		ix.read(f)
	}
	places := make([]Place, len(findings))
	for i, found := range findings {
		places[i] = placeOf(document, ix.find(found))
	}
	return places
}

// at names a key as findings do, with secrets taken out: "" for the service is the
// Config itself, "" for the path the service's override as a whole.
type at struct{ service, path string }

// index knows where the keys of a document begin, in bytes.
type index struct {
	document []byte
	begin    int // what concerns the whole document is here
	keys     map[at][]int
	first    map[string]int  // of a path, in whatever override
	told     map[Finding]int // how often
}

func (ix *index) add(service, path string, offset int) {
	key := at{sanitize.Message(service), sanitize.Message(path)}
	ix.keys[key] = append(ix.keys[key], offset)
	if _, ok := ix.first[key.path]; !ok {
		ix.first[key.path] = offset
	}
}

// read goes over a document that is valid JSON.
func (ix *index) read(f Form) {
	if f == FormOverrides {
		ix.readOverrides(ix.document, 0)
		return
	}
	for _, m := range placed(ix.document, 0) {
		if m.key == "" {
			m.key = `""` // as findings have it
		}
		ix.add("", m.key, m.offset)
		if m.key == keyOverrides { // one that is a string has its findings at its key
			ix.readOverrides(m.value, m.begin)
		}
	}
}

func (ix *index) readOverrides(raw []byte, begin int) {
	for _, service := range placed(raw, begin) {
		ix.add(service.key, "", service.offset)
		for _, m := range placed(service.value, service.begin) {
			ix.add(service.key, pathOf("", m.key), m.offset)
			if m.key != sectionRetry && m.key != sectionCircuit {
				continue
			}
			for _, deeper := range placed(m.value, m.begin) {
				ix.add(service.key, pathOf(m.key, deeper.key), deeper.offset)
			}
		}
	}
}

// pathOf is the path that findings have for a key of an override.
func pathOf(section, key string) string {
	if f := fieldAt(section, key); f != nil {
		return f.path()
	}
	if section == "" {
		return key
	}
	return section + "." + key
}

// find returns the offset of a finding.
func (ix *index) find(f Finding) int {
	nth := ix.told[f]
	ix.told[f]++
	if f.Kind == KindDuplicate {
		nth = 1
	}
	nameless := f.Kind == KindIgnored && f.Service == "" && (f.Key == documentKey || f.Key == keyOverrides)
	keys := []string{f.Key}
	if f.Kind == KindConflict {
		keys = strings.Split(f.Key, ", ")
	}
	if nameless {
		keys = []string{""}
	}
	for _, key := range append(keys, "") { // "" is the whole override
		if offsets := ix.keys[at{f.Service, key}]; len(offsets) > 0 && (key != "" || f.Service != "" || nameless) {
			return offsets[min(nth, len(offsets)-1)]
		}
	}
	for _, key := range append(keys, keyOverrides) { // one mistake of several services, and overrides in a string
		if offset, ok := ix.first[key]; ok && key != "" && f.Key != documentKey {
			return offset
		}
	}
	return ix.begin
}

// placedMember is a member with its offset in the document, and that of its value.
type placedMember struct {
	member
	offset, begin int
}

// placed reads the keys of a JSON object that begins somewhere in the document; of any
// other value there are none.
func placed(raw []byte, begin int) []placedMember {
	if scalar(raw) != composite("an object") {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return nil
	}
	next := func() int {
		from := int(decoder.InputOffset())
		return begin + from + len(raw[from:]) - len(bytes.TrimLeft(raw[from:], " \t\r\n,:"))
	}
	var all []placedMember
	for decoder.More() {
		m := placedMember{offset: next()}
		token, err := decoder.Token()
		if err != nil {
			return all
		}
		m.key, _ = token.(string)
		m.begin = next()
		if err := decoder.Decode(&m.value); err != nil {
			return all
		}
		all = append(all, m)
	}
	return all
}

// brokenAt is where a text stops being JSON; -1 if it does not.
func brokenAt(document []byte) int {
	var whole json.RawMessage
	err := json.Unmarshal(document, &whole)
	if err == nil {
		return -1
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset := int(syntax.Offset)
		if offset > 0 && offset <= len(document) && !strings.HasPrefix(syntax.Error(), "unexpected end") {
			offset-- // it counts the byte that is wrong
		}
		return min(offset, len(document))
	}
	return 0
}

func placeOf(document []byte, offset int) Place {
	before := document[:min(max(offset, 0), len(document))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return Place{Line: bytes.Count(before, []byte{'\n'}) + 1, Column: utf8.RuneCount(before[line:]) + 1}
}
