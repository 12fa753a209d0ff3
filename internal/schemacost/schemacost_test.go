package schemacost_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/schemacost"
)

func decoded(t testing.TB, text string) (value any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &value))
	return value
}

// doubling has n parts, each of which refers to the next one twice.
func doubling(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf(`"p%d":{"allOf":[{"$ref":"#/$defs/p%d"},{"$ref":"#/$defs/p%d"}]}`, i, i+1, i+1))
	}
	return fmt.Sprintf(`{"$defs":{%s,"p%d":{}},"$ref":"#/$defs/p0"}`, strings.Join(parts, ","), n)
}

func TestAffordable(t *testing.T) {
	for schema, want := range map[string]bool{
		`{}`:   true,
		`true`: true,
		`null`: true,
		`{"type":"object","properties":{"a":{"type":"string"},"$ref":{"type":"string"},"$id":{}}}`:      true,
		`{"$id":"https://x/y","$defs":{"a":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/a"}}}`: true,
		`{"$defs":{"a/b~c":{}},"properties":{"a":{"$ref":"#/$defs/a~1b~0c"}}}`:                          true,
		`{"allOf":[{},{"$ref":"#/allOf/0"}]}`:                                                           true,
		doubling(5):                                                                                     true,

		`{"$ref":"#"}`:             false,
		`{"$ref":""}`:              false,
		`{"allOf":[{"$ref":"#"}]}`: false,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"}`: false,
		`{"properties":{"more":{"$ref":"#"}}}`:                                                     false,
		`{"$anchor":"a","$ref":"#a"}`:                                                              false,
		`{"$dynamicAnchor":"a","$dynamicRef":"#a"}`:                                                false,
		`{"properties":{"a":{"$id":"x"}}}`:                                                         false,
		`{"$ref":"https://x/y"}`:                                                                   false,
		`{"$ref":"#/nowhere"}`:                                                                     false,
		`{"allOf":[{"$ref":"#/allOf/1"}]}`:                                                         false,
		`{"allOf":[{"$ref":"#/allOf/-1"}]}`:                                                        false,
		`{"$defs":{"a":{}},"$ref":"#/%24defs/a"}`:                                                  false,
		doubling(64): false,
		strings.Repeat(`{"not":`, 1000) + `{}` + strings.Repeat(`}`, 1000): false,
	} {
		assert.Equal(t, want, schemacost.Affordable(decoded(t, schema), map[string]any{"a": []any{"b"}}), schema)
	}
}

// What a schema costs, it costs for each part of the value.
func TestAffordableForAValue(t *testing.T) {
	schema := decoded(t, doubling(8))
	assert.True(t, schemacost.Affordable(schema, make([]any, 100)))
	assert.False(t, schemacost.Affordable(schema, make([]any, 100_000)))
	assert.False(t, schemacost.Affordable(schema, make([]any, 2_000_000)))
}

func TestCopy(t *testing.T) {
	type checker struct {
		Type string `json:"type,omitempty"`
		Ref  string `json:"$ref,omitempty"`
	}
	var own checker
	require.NoError(t, schemacost.Copy(map[string]any{"type": "object", "$comment": "x"}, &own, nil))
	assert.Equal(t, checker{Type: "object"}, own)

	for name, schema := range map[string]any{
		"without end":             map[string]any{"$ref": "#"},
		"only as it is read":      map[string]any{"$REF": "#"}, // encoding/json takes any case
		"in the owner's own form": &checker{Ref: "#"},
	} {
		assert.ErrorIs(t, schemacost.Copy(schema, new(checker), nil), schemacost.ErrTooMuch, name)
	}
	assert.Error(t, schemacost.Copy(func() {}, new(checker), nil), "no JSON")
	assert.Error(t, schemacost.Copy(map[string]any{"type": 1}, new(checker), nil), "not the checker's")
}
