package policies_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
)

// A number in a finding is one that its author recognises.
func TestNumbersAreShownPlainly(t *testing.T) {
	for written, shown := range map[string]string{
		`"circuit_breaker":{"failure_threshold":1000001}`:      "is 1000001, want 1 … 1000000",
		`"circuit_breaker":{"failure_threshold":25000000}`:     "is 25000000, want",
		`"circuit_breaker":{"failure_threshold":-1e6}`:         "is -1000000, want",
		`"circuit_breaker":{"failure_threshold":2.5}`:          "is 2.5, want a whole number",
		`"circuit_breaker":{"failure_threshold":1e300}`:        "is 1e+300, want",
		`"circuit_breaker":{"failure_threshold":0.0000001}`:    "is 0.0000001, want",
		`"circuit_breaker":{"recovery_multiplier":1234567.5}`:  "is 1234567.5, want 1 … 100",
		`"circuit_breaker":{"recovery_timeout":9223372037}`:    "is 9223372037 seconds, which no duration holds",
		`"circuit_breaker":{"recovery_timeout":1e400}`:         "is +Inf seconds, which no duration holds",
		`"circuit_breaker":{"failure_threshold":123456789012}`: "is 123456789012, want",
	} {
		found, err := policies.Validate(policies.FormOverrides.Parse([]byte(`{"x":{`+written+`}}`)), nil)
		require.NoError(t, err)
		require.Len(t, found, 1, written)
		assert.Contains(t, found[0].Message, shown)
	}
}
