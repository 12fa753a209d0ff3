package mutation_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/mutation"
)

const sample = `package sample

import "time"

const wait = 2 * time.Second

func f(a, b int, on bool) (n int, ok bool) {
	if a < b && !on {
		n = max(a, b)
	}
	n++
	defer func() { println(a + b) }()
	return n, true
}
`

func TestMutants(t *testing.T) {
	mutants, err := mutation.Mutants([]byte(sample))
	require.NoError(t, err)
	var names []string
	for _, m := range mutants {
		names = append(names, m.Name)
		assert.NotEqual(t, sample, string(m.Source), m.Name)
		_, err := parser.ParseFile(token.NewFileSet(), "", m.Source, parser.SkipObjectResolution)
		assert.NoError(t, err, m.Name)
	}
	assert.ElementsMatch(t, []string{
		"const: const wait = 2 * time.Second => const wait = 2 / time.Second",
		"const: const wait = 2 * time.Second => const wait = 3 * time.Second",
		"const: const wait = 2 * time.Second => const wait = 1 * time.Second",
		"f: if a < b && !on { =>", // the whole statement
		"f: if a < b && !on { => if a <= b && !on {",
		"f: if a < b && !on { => if a >= b && !on {",
		"f: if a < b && !on { => if a < b || !on {",
		"f: if a < b && !on { => if a < b && on {",
		"f: n = max(a, b) =>",
		"f: n = max(a, b) => n = min(a, b)",
		"f: n++ =>",
		"f: n++ => n--",
		"f: defer func() { println(a + b) }() =>",
		"f: defer func() { println(a + b) }() => defer func() {  }()",
		"f: defer func() { println(a + b) }() => defer func() { println(a - b) }()",
		"f: return n, true => return *new(int), true",
		"f: return n, true => return n, false",
	}, names)
}

func TestMutantsOfTheSameLineHaveNamesOfTheirOwn(t *testing.T) {
	mutants, err := mutation.Mutants([]byte("package sample\n\nfunc f() {\n\tg()\n\tg()\n}\n"))
	require.NoError(t, err)
	require.Len(t, mutants, 2)
	assert.Equal(t, "f: g() =>", mutants[0].Name)
	assert.Equal(t, "f: g() => #2", mutants[1].Name)
	assert.Equal(t, []int{4, 5}, []int{mutants[0].Line, mutants[1].Line})
}

// Mutants of functions are compiled together, and each is there to be chosen; what is outside of functions stays.
func TestCombine(t *testing.T) {
	mutants, err := mutation.Mutants([]byte(sample))
	require.NoError(t, err)
	combined, numbers := mutation.Combine([]byte(sample), mutants)
	text := string(combined)
	_, err = parser.ParseFile(token.NewFileSet(), "", combined, parser.SkipObjectResolution)
	require.NoError(t, err, text)
	for i, m := range mutants {
		number := i + 1
		call := fmt.Sprintf("case %d: return f_mutant%d(a, b, on);", number, number)
		if strings.HasPrefix(m.Name, "const:") {
			assert.NotContains(t, numbers, number)
			assert.NotContains(t, text, call)
			continue
		}
		assert.Contains(t, numbers, number)
		assert.Contains(t, text, call)
	}
	assert.Contains(t, text, "const wait = 2 * time.Second")
	assert.Equal(t, 1, strings.Count(text, "n--"), "each change is in its own copy only")
}

func TestCompiles(t *testing.T) {
	p, err := mutation.Load(".")
	require.NoError(t, err)
	source, err := os.ReadFile("compiles.go")
	require.NoError(t, err)
	assert.True(t, p.Compiles("compiles.go", source))
	for _, broken := range []string{"\nno Go", "\nvar _ int = true", "\nfunc f() { x := 1 }", "\nfunc Load() {}"} {
		assert.False(t, p.Compiles("compiles.go", append(slices.Clone(source), broken...)), broken)
	}
}

func TestMutantsOfNoGo(t *testing.T) {
	_, err := mutation.Mutants([]byte("no Go"))
	assert.Error(t, err)
}
