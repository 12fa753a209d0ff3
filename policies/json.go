package policies

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ParseJSON reads a Config from a JSON object with the keys of the package
// comment. The overrides under retry_service_overrides are an object, or a string
// that holds one. It accepts any input: what cannot be used is left out, and
// reported by [Load] and [Validate].
func ParseJSON(data []byte) Config {
	var c Config
	if bad := syntaxFault(data); bad != nil {
		c.warn(documentKey, bad.kind, "the document "+bad.text+documentSkipped)
		return c
	}
	if scalar(data) != composite("an object") {
		c.warn(documentKey, KindDocument, "the document is no JSON object"+documentSkipped)
		return c
	}
	all := members(data)
	twice := repeated(all)
	var patch Patch
	unknown := 0
	for _, m := range all {
		f := fieldOf(m.key)
		if f == nil && m.key != keyOverrides {
			unknown++
			c.warnOfUnknown(m, unknown)
			continue
		}
		if again, ok := twice[m.key]; ok {
			if again {
				c.warn(m.key, KindDuplicate, "is set more than once; it is skipped")
				twice[m.key] = false
			}
			continue
		}
		v := scalar(m.value)
		switch {
		case v == nil:
			c.warn(m.key, KindEmpty, "is null, which is the same as absent")
		case f != nil:
			if bad := f.read(v, &patch); bad != nil {
				c.warn(m.key, bad.kind, bad.text+"; it is skipped")
			}
		default:
			doc, isString := v.(string)
			if !isString {
				doc = string(m.value)
			}
			overrides, found := parseOverrides(doc, m.key)
			c.RetryServiceOverrides = overrides
			c.findings = append(c.findings, found...)
		}
	}
	c.setPatch(patch)
	c.warnOfStranger(all, unknown)
	return c
}

// warnOfStranger reports a document that has nothing but unknown keys: a Reload must not
// take it for an empty one.
func (c *Config) warnOfStranger(all []member, unknown int) {
	if unknown > 0 && unknown == len(all) {
		c.warn(documentKey, KindDocument, "the document has no setting that is known"+overridesHint(all[0])+documentSkipped)
	}
}

// warnOfUnknown reports the n-th unknown key of a document.
func (c *Config) warnOfUnknown(m member, n int) {
	switch {
	case n <= maxUnknown:
		hint := didYouMean(meantConfig(m.key))
		if hint == "" {
			hint = overridesHint(m)
		}
		c.warn(m.key, KindUnknownKey, "there is no such setting"+hint+"; it is ignored")
	case n == maxUnknown+1:
		c.warn(documentKey, KindUnknownKey, "there are more keys that are no settings; they are ignored")
	}
}

// overridesHint is for what may be the document of overrides alone.
func overridesHint(m member) string {
	if scalar(m.value) != composite("an object") {
		return ""
	}
	return fmt.Sprintf(" (the overrides of services stand under %q)", keyOverrides)
}

// maxUnknown is how many unknown keys of a document are listed: one that is not meant
// for us at all is to fill no log.
const maxUnknown = 100

// documentKey stands for the place of what concerns a whole Config's document.
const documentKey = "(document)"

func (c *Config) warn(key string, kind Kind, text string) {
	if key == "" {
		key = `""` // a finding names a place
	}
	c.findings = append(c.findings, newFinding("", key, kind, text))
}

// meantConfig guesses what an unknown key of a Config should have been, or "".
func meantConfig(key string) string {
	key = strings.ReplaceAll(strings.ToLower(key), "-", "_")
	for prefix, section := range map[string]string{"retry_": sectionRetry, "circuit_breaker_": sectionCircuit, "cb_": sectionCircuit} {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			if f := fieldAt(section, meant(section, rest)); f != nil && f.config != "" {
				return f.config
			}
		}
	}
	keys := []string{keyOverrides}
	for i := range fields {
		if c := fields[i].config; c != "" {
			keys = append(keys, c)
		}
	}
	for _, section := range []string{sectionRetry, sectionCircuit} { // the key of an override
		if f := fieldAt(section, meant(section, key)); f != nil && f.config != "" && !slices.Contains(keys, key) {
			return f.config
		}
	}
	return nearest(key, keys)
}

var (
	_ json.Marshaler   = Config{}
	_ json.Unmarshaler = (*Config)(nil)
)
