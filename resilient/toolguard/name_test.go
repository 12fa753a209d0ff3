package toolguard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
	"github.com/seed42274fcc/stoic/sanitize"
)

func TestCircuitName(t *testing.T) {
	for _, test := range [][3]string{
		{"", "search", "toolguard/-/t:search"},
		{"", "mcp.files-read_1", "toolguard/-/t:mcp.files-read_1"},
		{"tenant-1", "search", "toolguard/2ceb1f74baa72f9a5a1c0b4f2a0b2f6e/t:search"},
		{"", "", "toolguard/-/h:e3b0c44298fc1c149afbf4c8996fb924"},
	} {
		got := toolguard.CircuitName(test[0], test[1])
		if test[0] != "" {
			assert.NotContains(t, got, test[0], "a key may be a secret")
			assert.Len(t, got, len(test[2]))
			continue
		}
		assert.Equal(t, test[2], got)
	}
	assert.Equal(t, toolguard.CircuitName("k", "search"), toolguard.CircuitName("k", "search"))
}

// Pairs are kept apart whatever characters they have, fit what a circuit's name may be,
// and show no secret.
func TestCircuitNamesAreApart(t *testing.T) {
	part := rapid.OneOf(
		rapid.String(), rapid.StringMatching(`[-a/:th.#]{0,6}`), rapid.StringMatching(`[a-z]{60,70}`),
		rapid.SampledFrom([]string{
			"", "-", "t:x", "h:x", "password=hunter2", "api_key: sesame", "postgres://u:p@h/d", "a/b", "a\nb", "\xff\xfe", "\xff",
			strings.Repeat("ä", 64), strings.Repeat("long", 1000), "Authorization: Bearer sesame",
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		a := [2]string{part.Draw(t, "key"), part.Draw(t, "tool")}
		b := [2]string{part.Draw(t, "other key"), part.Draw(t, "other tool")}
		first, second := toolguard.CircuitName(a[0], a[1]), toolguard.CircuitName(b[0], b[1])
		assert.Equal(t, a == b, first == second, "%q %q", first, second)
		assert.Equal(t, first, sanitize.Message(first))
		assert.LessOrEqual(t, len(first), 150)
		for _, secret := range []string{"hunter2", "sesame", "u:p"} { // no hash has them by chance
			if strings.Contains(a[1], secret) && sanitize.Message(a[1]) != a[1] {
				assert.NotContains(t, first, secret)
			}
		}
		c, err := breaker.New(first, breaker.DefaultSettings(), nil)
		require.NoError(t, err)
		assert.Equal(t, first, c.Name())
	})
}
