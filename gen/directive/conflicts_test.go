package directive_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestListsContradict: what lists on an interface say of a method, and what stands at
// the method, must fit together; both places are reported.
func TestListsContradict(t *testing.T) {
	for name, test := range map[string]struct{ lists, line, want string }{
		"two timeouts":      {"//resilient:timeout 2s Do\n//resilient:timeout 3s Get,Do", "", "a method has one timeout"},
		"timeout at method": {"//resilient:timeout 2s Do", "//resilient:timeout 3s", "a method has one timeout"},
		"skip, idempotent":  {"//resilient:skip Do\n//resilient:idempotent Do", "", "has nothing else to say"},
		"idempotent, skip":  {"//resilient:idempotent Do\n//resilient:skip Do", "", "has nothing else to say"},
		"skip at method":    {"//resilient:idempotent Do", "//resilient:skip", "has nothing else to say"},
		"skip in list":      {"//resilient:skip Do", "//resilient:op go", "has nothing else to say"},
		"stream, timeout":   {"//resilient:stream Do\n//resilient:timeout 2s Do", "", "neither repeated nor cut"},
		"timeout, stream":   {"//resilient:timeout 2s Do\n//resilient:stream Do", "", "neither repeated nor cut"},
		"stream at method":  {"//resilient:idempotent Do", "//resilient:stream", "neither repeated nor cut"},
		"two contexts":      {"//resilient:idempotent Do ctx=a", "//resilient:op ctx=b", "one context"},
		"two errors":        {"//resilient:idempotent Do error=1\n//resilient:idempotent Do error=2", "", "one error"},

		"other methods": {"//resilient:timeout 2s Do\n//resilient:timeout 3s Get\n//resilient:skip Other", "", ""},
		"one each":      {"//resilient:timeout 2s Do,Do\n//resilient:idempotent Do", "//resilient:op go", ""},
		"the same":      {"//resilient:skip Do", "//resilient:skip", ""},
	} {
		file, _ := read(t, "package p\n\n"+test.lists+"\ntype A interface {\n\t"+test.line+"\n\tDo() error\n}\n")
		if test.want == "" {
			assert.Empty(t, file.Problems, name)
			continue
		}
		require.Len(t, file.Problems, 2, name)
		for _, p := range file.Problems {
			assert.Contains(t, p.What, "about Do", name)
			assert.Contains(t, p.Why, test.want, name)
		}
		assert.NotEqual(t, file.Problems[0].Pos, file.Problems[1].Pos, name)
	}
}
