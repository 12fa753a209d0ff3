package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/policies"
)

// documents are the files of a folder. What begins with config- is a whole configuration.
func documents(t *testing.T, folder string) (files []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func isConfig(file string) bool { return strings.HasPrefix(filepath.Base(file), "config-") }

// Every fault of every bad document is found, each with its place, as the file beside it
// has them. A77, A78, A79.
func TestBadDocuments(t *testing.T) {
	for _, file := range documents(t, "bad") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			args := []string{"validate", "-"}
			if isConfig(file) {
				args = append(args, "--config")
			}
			got := process{stdin: string(text)}.run(t, args...)
			assert.Equal(t, exitFound, got.code)
			assert.Empty(t, got.err)
			beside := strings.TrimSuffix(file, ".json") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(beside, []byte(got.out), 0o644))
			}
			want, err := os.ReadFile(beside)
			require.NoError(t, err)
			assert.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got.out)
		})
	}
}

// A file of whoever proposes a change can have any name: it makes no line of its own.
func TestDocumentsOddNames(t *testing.T) {
	dir := t.TempDir()
	const name = "a\n::error::\x1b[31m"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"x": {"password=F4KE": 1}}`), 0o600); err != nil {
		t.Skipf("NOT RUN: no such names here: %v", err)
	}
	for _, args := range [][]string{{"validate", name}, {"redact", "-check", name}} {
		got := process{dir: dir}.run(t, args...)
		assert.Equal(t, exitFound, got.code, got.err)
		assert.Equal(t, 1, strings.Count(got.out, "\n"), "%q", got.out)
		assert.NotContains(t, got.out, "\x1b")
	}
}

func TestGoodDocuments(t *testing.T) {
	for _, file := range documents(t, "good") {
		args := []string{"validate", file}
		if isConfig(file) {
			args = append(args, "--config")
		}
		assert.Equal(t, result{}, process{}.run(t, args...), file)
	}
}

// checker compiles what the command writes.
func checker(t *testing.T, form policies.Form, lenient bool) *jsonschema.Schema {
	t.Helper()
	args := []string{"schema"}
	if form == policies.FormConfig {
		args = append(args, "--config")
	}
	if lenient {
		args = append(args, "--lenient")
	}
	got := process{}.run(t, args...)
	require.Zero(t, got.code, got.err)
	return compile(t, got.out)
}

func compile(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mem:///schema.json", doc))
	compiled, err := c.Compile("mem:///schema.json")
	require.NoError(t, err)
	require.Equal(t, 2020, compiled.DraftVersion)
	return compiled
}

// verdict is whether the schema accepts a document; what is no JSON it does not.
func verdict(s *jsonschema.Schema, document []byte) bool {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	return err == nil && s.Validate(doc) == nil
}

// beyond lists the documents whose faults no schema can see, and why.
var beyond = map[string]string{
	"conflicts.json":       "settings that are allowed alone and not together",
	"config-conflict.json": "settings that are allowed alone and not together",
	"twice.json":           "keys that stand there twice",
	"config-twice.json":    "keys that stand there twice",
	"long-durations.json":  "durations in strings that are out of range",
	"config-string.json":   "the content of a document in a string",
	"too-long.json":        "too long a document; a strict schema refuses its unknown key",
}

// The schema accepts and refuses the same documents as validate, strictly and leniently,
// but for those that are beyond it.
func TestSchemaAgrees(t *testing.T) {
	for _, lenient := range []bool{false, true} {
		schemas := map[policies.Form]*jsonschema.Schema{}
		for _, form := range []policies.Form{policies.FormConfig, policies.FormOverrides} {
			schemas[form] = checker(t, form, lenient)
		}
		for _, file := range slices.Concat(documents(t, "good"), documents(t, "bad")) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			form := formOf(isConfig(file))
			got, want := verdict(schemas[form], text), acceptable(t, form, text, lenient)
			if why := beyond[filepath.Base(file)]; why != "" && strings.Contains(file, "bad") {
				assert.False(t, want, "%s: a fault", file)
				if filepath.Base(file) != "too-long.json" || lenient {
					assert.True(t, got, "%s (lenient: %v): not beyond the schema any more: %s", file, lenient, why)
				}
				continue
			}
			assert.Equal(t, want, got, "%s (lenient: %v)", file, lenient)
		}
	}
}

// findings are those of a document whose budgets there are.
func findings(t require.TestingT, form policies.Form, document []byte) []policies.Finding {
	c, options := form.Parse(document), &policies.Options{}
	var err error
	options.Budgets, err = budgets(nil, c)
	require.NoError(t, err)
	found, err := policies.Validate(c, options)
	require.NoError(t, err)
	return found
}

// acceptable is what validate exits with 0 for.
func acceptable(t require.TestingT, form policies.Form, document []byte, lenient bool) bool {
	found := findings(t, form, document)
	return !slices.ContainsFunc(found, func(f policies.Finding) bool { return !lenient || f.Skipped() })
}

// The same for documents that chance has made, of all keys there are.
func TestSchemaAgreesOnAnything(t *testing.T) {
	strict, lenient := compile(t, string(policies.FormOverrides.Schema(false))), compile(t, string(policies.FormOverrides.Schema(true)))
	sections := allKeys(t)
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]string{
			"null", "true", "false", "0", "1", "-1", "1.0", "1.5", "0.5", "50", "100", "101", "300", "301", "3600", "3601", "86400", "86401",
			"1000000", "1000001", "1e3", "1e300", "1e-9", "[]", "{}", `""`, `"1s"`, `"1m0.5s"`, `"1"`, `"s"`, `"-1s"`, `"1ss"`, `" 1s"`,
			`"local"`, `"shared"`, `"off"`, `"observe"`, `"enforce"`, `"0.5"`, `"fixed"`, `"jitter"`, `"none"`, `"exponential"`, `"Fixed"`, `"x"`,
		})
		object := func(keys []string, of func(key string) string) string {
			var parts []string
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 3, rapid.ID).Draw(t, "keys") {
				name, _ := json.Marshal(key)
				parts = append(parts, string(name)+":"+of(key))
			}
			return "{" + strings.Join(parts, ",") + "}"
		}
		override := func(string) string {
			return object(sections[""], func(key string) string {
				if keys := sections[key]; key != "" && keys != nil && rapid.IntRange(0, 5).Draw(t, "odd") > 0 {
					return object(keys, func(string) string { return value.Draw(t, "value") })
				}
				return value.Draw(t, "value")
			})
		}
		doc := []byte(object([]string{"a", "plan_service", ""}, override))
		found := findings(t, policies.FormOverrides, doc)
		if slices.ContainsFunc(found, func(f policies.Finding) bool {
			return f.Kind == policies.KindConflict || strings.HasSuffix(f.Key, "service_name")
		}) {
			t.Skip("beyond the schema")
		}
		for schema, forgiving := range map[*jsonschema.Schema]bool{strict: false, lenient: true} {
			assert.Equal(t, acceptable(t, policies.FormOverrides, doc, forgiving), verdict(schema, doc), "%s (lenient: %v): %v", doc, forgiving, found)
		}
	})
}

// allKeys are those of an override, by section, and one that is unknown.
func allKeys(t *testing.T) map[string][]string {
	t.Helper()
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var schema struct {
		Defs map[string]object `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(policies.FormOverrides.Schema(false), &schema))
	keys := map[string][]string{"": {"unknown"}}
	for key, raw := range schema.Defs["override"].Properties {
		keys[""] = append(keys[""], key)
		var section object
		require.NoError(t, json.Unmarshal(raw, &section))
		for inner := range section.Properties {
			keys[key] = append(keys[key], inner)
		}
		if keys[key] != nil {
			keys[key] = append(keys[key], "unknown")
		}
	}
	for _, all := range keys {
		slices.Sort(all)
	}
	require.Len(t, keys, 3)
	return keys
}
