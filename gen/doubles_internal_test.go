package gen

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"", "special", true},
		{"special", "!special", false},
		{"linux", "windows", false},
		{"linux", "linux && amd64", true},
		{"linux && arm64", "amd64", false},
		{"linux", "android", true},
		{"a || b", "!a", true},
		{"a || b", "!a && !b", false},
	} {
		assert.Equal(t, test.want, overlap(test.a, test.b), "%s, %s", test.a, test.b)
	}
}
