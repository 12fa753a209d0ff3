package sanitize_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/sanitize"
)

// R24: the limit is in characters, and the dots come on top.
func TestMessageIsCut(t *testing.T) {
	for _, char := range []string{"x", "é", "密", "😀"} {
		assert.Equal(t, strings.Repeat(char, 200), sanitize.Message(strings.Repeat(char, 200)))
		assert.Equal(t, strings.Repeat(char, 200)+"...", sanitize.Message(strings.Repeat(char, 201)))
	}
	assert.Empty(t, sanitize.Message(""))
}

// R24: redaction comes first. Wherever the cut falls, no part of the secret is
// left, nor is there a cut where the redacted text is short enough.
func TestMessageIsRedactedBeforeItIsCut(t *testing.T) {
	const value = "F4KEsecretF4KEsecretF4KEsecret"
	for before := range 220 {
		for _, form := range []string{"password=" + value, "api_key: " + value, `{"token": "` + value + `"}`, "x://u:" + value + "@h"} {
			got := sanitize.Message(strings.Repeat("x", before) + " " + form + " end")
			assert.NotContains(t, got, "F4")
			assert.NotContains(t, got, "u:")
		}
	}
	assert.Equal(t, "password=***", sanitize.Message("password="+strings.Repeat("x1", 1000)))
}

func TestMessageIsOneLine(t *testing.T) {
	tests := []struct{ text, want string }{
		{"a\r\n\tb", "a b"},
		{"a \n b\n", "a   b "},
		{"a\x00b\u0085c\u2028d", "a b c d"},
		{"\x1b[31mred", " [31mred"},
		{"Authorization: Bearer F4KE\r\nHost: h", "Authorization: *** Host: h"},
		{"password=F4KE1\ntoken=F4KE2", "password=*** token=***"},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, sanitize.Message(test.text))
		assert.Equal(t, test.want, sanitize.Message(sanitize.Message(test.text)))
	}
}
