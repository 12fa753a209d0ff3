package sanitize_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/sanitize"
)

// A text with secrets costs two allocations at most, however many there are. (Names in JSON that are written in escapes
// are the one exception.)
// Not parallel: the counts are of the whole process.
func TestWhatASecretCosts(t *testing.T) {
	buffer := make([]byte, 0, 64<<10)
	for _, row := range rows(t, "corpus.tsv") {
		if row[0] == "X005" {
			continue
		}
		text := row[2]
		assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { _ = sanitize.String(text) }), 2.0, "String: %s", row[0])
		assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { _ = sanitize.Message(text) }), 2.0, "Message: %s", row[0])
		in := []byte(text)
		assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { _ = sanitize.AppendBytes(buffer, in) }), 2.0, "AppendBytes: %s", row[0])
	}
}

// Bytes that are no UTF-8 hide nothing beside them. (Those in the middle of a secret are in the corpus.)
func TestInvalidBytesHideNoSecret(t *testing.T) {
	for _, row := range rows(t, "corpus.tsv") {
		if row[0][0] != 'P' {
			continue
		}
		for _, secret := range strings.Split(row[3], "||") {
			for _, bad := range []string{"\xff", "\xc3", "\xe2\x82", "\x80"} {
				for _, text := range []string{bad + " " + row[2], row[2] + " " + bad, bad + bad + " " + row[2] + " " + bad} {
					assert.NotContains(t, sanitize.String(text), secret, "%s: %q", row[0], text)
				}
			}
		}
	}
}
