package policies_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/policies"
)

// The document of overrides alone says what it says under its key.
func TestFormParse(t *testing.T) {
	doc := `{"plan_service":{"retry":{"max_attempts":5}},"x":{"retry":{"max_retries":3}},"y":[]}`
	alone := policies.FormOverrides.Parse([]byte(doc))
	within := policies.FormConfig.Parse([]byte(`{"retry_service_overrides":` + doc + `}`))
	assert.Equal(t, within.RetryServiceOverrides, alone.RetryServiceOverrides)
	for _, c := range []policies.Config{alone, within} {
		found, err := policies.Validate(c, nil)
		require.NoError(t, err)
		assert.Equal(t, []brief{{"x", "retry.max_retries", policies.KindUnknownKey}, {"y", "", policies.KindWrongType}}, briefs(found))
	}
}

// A79: whatever a document is, it is read, and what is wrong with it has a place.
func TestFormParseAnything(t *testing.T) {
	for _, doc := range []string{``, `[]`, `3`, `null`, `{"x":3`, strings.Repeat(" ", 10_001)} {
		found, err := policies.Validate(policies.FormOverrides.Parse([]byte(doc)), nil)
		require.NoError(t, err)
		assert.Equal(t, []brief{{"", "(document)", policies.KindDocument}}, briefs(found), doc)
		assert.Len(t, policies.FormOverrides.Places([]byte(doc), found), 1)
	}
}

// places are those of all findings of a document: "line:column key".
func places(t *testing.T, form policies.Form, doc string) []string {
	t.Helper()
	found, err := policies.Validate(form.Parse([]byte(doc)), nil)
	require.NoError(t, err)
	var all []string
	for i, p := range form.Places([]byte(doc), found) {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, found[i].Service, found[i].Key)))
	}
	return all
}

func TestPlaces(t *testing.T) {
	for _, test := range []struct {
		name, doc string
		form      policies.Form
		want      []string
	}{
		{"keys of a configuration", "{\"retry_max_attempts\": 0,\n\t\"retry_jitter\": 1, \"x\": 2, \"\": 3}", policies.FormConfig,
			[]string{"1:2  retry_max_attempts", "2:2  retry_jitter", "2:21  x", "2:29  \"\""}},
		{"an override under its key", "{\"retry_service_overrides\":\n{\"ünï\": {\"retry\": {\"max_attempts\": 0}}}}", policies.FormConfig,
			[]string{"2:20 ünï retry.max_attempts"}},
		{"an override in a string", `{ "retry_service_overrides": "{\"a\":{\"retry\":{\"max_attempts\":0}}}"}`, policies.FormConfig,
			[]string{"1:3 a retry.max_attempts"}},
		{"the same path in several overrides", "{\"a\":{\"retry\":{\"max_attempts\":0}},\n\"b\":{\"retry\":{\"max_attempts\":0}}}", policies.FormOverrides,
			[]string{"1:16 a retry.max_attempts", "2:15 b retry.max_attempts"}},
		{"keys that come again", "{\"a\":{\"retry\":{\"jitter\":true,\n\"jitter\":true}},\n \"b\":{},\n  \"b\":{}}", policies.FormOverrides,
			[]string{"2:1 a retry.jitter", "4:3 b"}},
		{"a setting that comes again", "{\"retry_jitter\":true,\n\"retry_jitter\":true}", policies.FormConfig, []string{"2:1  retry_jitter"}},
		{"by another spelling", "{\"a\":{\"circuit_breaker\":{\n\"cooldown\":1,\n\"cooldown_seconds\":1}}}", policies.FormOverrides,
			[]string{"3:1 a circuit_breaker.cooldown"}},
		{"one unknown key twice", "{\"a\":{\"x\":1,\n\"x\":1}}", policies.FormOverrides, []string{"1:7 a x", "2:1 a x"}},
		{"a conflict", "{\"a\":{\"retry\":{\"jitter\":true,\n\"max_delay\":1,\"base_delay\":2}}}", policies.FormOverrides,
			[]string{"2:15 a retry.base_delay, retry.max_delay"}},
		{"one of all services", "{\n\"retry_max_delay\":0.5,\"retry_base_delay\":2}", policies.FormConfig,
			[]string{"2:23  retry_base_delay, retry_max_delay"}},
		{"the same one of several", "{\"a\":{\"retry\":{\"max_delay\":1,\"base_delay\":2}},\n\"b\":{\"retry\":{\"max_delay\":1,\"base_delay\":2}}}", policies.FormOverrides,
			[]string{"1:30  retry.base_delay, retry.max_delay"}},
		{"a service without a name", "{\"a\":{},\n\"\":{}}", policies.FormOverrides, []string{"2:1  (document)"}},
		{"the same, within", "{\"retry_service_overrides\":{\"a\":{},\n\"\":{}}}", policies.FormConfig, []string{"2:1  retry_service_overrides"}},
		{"a section", "{\"a\":{\n\"retry\":[]}}", policies.FormOverrides, []string{"2:1 a retry"}},
		{"an override", "{\n\"a\":[]}", policies.FormOverrides, []string{"2:1 a"}},
		{"no JSON", "{\"a\":{},\n\n  oops}", policies.FormOverrides, []string{"3:3  (document)"}},
		{"an end that comes early", "{\"a\":{}\n", policies.FormConfig, []string{"2:1  (document)"}},
		{"no object", " []", policies.FormConfig, []string{"1:1  (document)"}},
		{"a secret in a name", "{\"a\":1,\n\"password=F4KE\":1}", policies.FormOverrides, []string{"1:2 a", "2:1 password=***"}},
		{"keys with a comma", "{\"x\":1,\n\"retry_jitter, x\":1}", policies.FormConfig, []string{"1:2  x", "2:1  retry_jitter, x", "1:1  (document)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, places(t, test.form, test.doc))
		})
	}
}

// Findings of another document have some place.
func TestPlacesOfOthers(t *testing.T) {
	found := []policies.Finding{{}, {Service: "a", Key: "b", Kind: policies.KindConflict}, {Key: "P_RETRY_JITTER", Kind: policies.KindDuplicate}}
	for _, doc := range []string{``, `{}`, `{"a":{}}`, `[`} {
		for _, p := range policies.FormOverrides.Places([]byte(doc), found) {
			assert.Positive(t, p.Line)
			assert.Positive(t, p.Column)
		}
	}
}

// Every field of a Patch is in the schema, and nothing else is.
func TestSchemaHasAllSettings(t *testing.T) {
	var patch policies.Patch
	fill(reflect.ValueOf(&patch).Elem())
	whole, err := json.Marshal(policies.Config{RetryServiceOverrides: map[string]policies.Patch{"x": patch}})
	require.NoError(t, err)
	var doc struct {
		Overrides map[string]map[string]any `json:"retry_service_overrides"`
	}
	require.NoError(t, json.Unmarshal(whole, &doc))
	want := keysOf(doc.Overrides["x"], func(v any) map[string]any { m, _ := v.(map[string]any); return m })
	want = append(want, "service_name", "circuit_breaker.cooldown_seconds")
	slices.Sort(want)

	var schema struct {
		Defs map[string]map[string]any `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(policies.FormOverrides.Schema(false), &schema))
	properties := func(v any) map[string]any {
		m, _ := v.(map[string]any)
		inner, _ := m["properties"].(map[string]any)
		return inner
	}
	assert.Equal(t, want, keysOf(properties(schema.Defs["override"]), properties))
	for _, form := range []policies.Form{policies.FormConfig, policies.FormOverrides} {
		assert.NotContains(t, string(form.Schema(false)), "null", "a kind of settings that says nothing of itself")
	}
}

// The schema takes the durations that Go reads, and none that is negative.
func TestDurationPattern(t *testing.T) {
	pattern := regexp.MustCompile(policies.DurationPattern)
	letter := rapid.SampledFrom([]string{"0", "1", "59", ".", "+", "-", "h", "m", "s", "ms", "ns", "us", "µs", "μs", " ", "d", ""})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(letter, 0, 8).Draw(t, "letters"), "")
		d, err := time.ParseDuration(text)
		switch matches := pattern.MatchString(text); {
		case matches:
			assert.NoError(t, err, text)
			assert.GreaterOrEqual(t, d, time.Duration(0), text)
		case err == nil:
			assert.True(t, strings.HasPrefix(text, "-"), text)
		}
	})
}

// fill points every pointer to a zero value.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
		} else {
			fill(f)
		}
	}
}

// keysOf lists the leaves' paths in order.
func keysOf(all map[string]any, within func(any) map[string]any) []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		deeper := within(all[key])
		if deeper == nil {
			keys = append(keys, key)
		}
		for _, inner := range keysOf(deeper, within) {
			keys = append(keys, key+"."+inner)
		}
	}
	slices.Sort(keys)
	return keys
}

// The eight settings for all services and the overrides are the configuration's.
func TestSchemaOfAConfiguration(t *testing.T) {
	var schema struct {
		Schema     string         `json:"$schema"`
		Properties map[string]any `json:"properties"`
		Additional *bool          `json:"additionalProperties"`
	}
	require.NoError(t, json.Unmarshal(policies.FormConfig.Schema(false), &schema))
	assert.Equal(t, "https://json-schema.org/draft/2020-12/schema", schema.Schema)
	assert.Len(t, schema.Properties, 9)
	assert.Contains(t, schema.Properties, "retry_service_overrides")
	assert.Equal(t, new(false), schema.Additional)
	schema.Additional = nil
	require.NoError(t, json.Unmarshal(policies.FormConfig.Schema(true), &schema))
	assert.Nil(t, schema.Additional)
}
