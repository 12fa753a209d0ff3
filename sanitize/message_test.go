package sanitize_test

import (
	"strings"
	"testing"
	"unicode/utf8"

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

// R24, A85: redaction comes first. Wherever the cut falls, no part of the secret is
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

// What is no UTF-8, or turns the direction of a text, is in no name: one label of it and
// Prometheus gets none of the program's metrics; a terminal takes a lone 0x9b for an escape.
func TestMessageIsTextThatCanBeShown(t *testing.T) {
	for text, want := range map[string]string{
		"caf\xe9":                                 "caf\uFFFD",
		"a\xff\xfe\x9b31mred":                     "a\uFFFD31mred",
		"pay\u202etnem\u2066s\u200f":              "pay tnem s ",
		"password=hunter2 \xc3":                   "password=*** \uFFFD",
		"\u65e5\u672c \U0001f469\u200d\U0001f52c": "\u65e5\u672c \U0001f469\u200d\U0001f52c", // stays
	} {
		assert.Equal(t, want, sanitize.Message(text), "%q", text)
	}
	long := sanitize.Message(strings.Repeat("\xff\u00fc", 20000))
	assert.True(t, utf8.ValidString(long))
	assert.Equal(t, 203, utf8.RuneCountInString(long))
}
