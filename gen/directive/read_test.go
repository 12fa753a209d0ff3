package directive_test

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/gen/directive"
)

func read(t require.TestingT, source string) (*directive.File, *token.FileSet) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return directive.Read(file), fset
}

func TestRead(t *testing.T) {
	file, _ := read(t, `package p

//go:generate go tool resilientgen
//
//resilient:service plan_service
//resilient:idempotent Get, List rewind
//resilient:timeout 2s attempt=500ms Get
//resilient:skip Ping,Pong
type Plans interface {
	//resilient:inherit
	other.Getter

	// Do does.
	//
	//resilient:idempotent rewind ctx=parent error=2
	//resilient:timeout 1m
	//resilient:op do_it
	Do(parent context.Context) error

	//resilient:stream
	Watch() error
}

type (
	//resilient:service b
	//resilient:error Err new=failed
	B other.B
)

//resilient:service c
//resilient:from github.com/x/y/s3.Client GetObject,PutObject
type C interface{}
`)
	require.Empty(t, file.Problems)
	require.Len(t, file.Types, 3)
	plans := file.Types[0]
	assert.Equal(t, "Plans", plans.Spec.Name.Name)
	assert.Equal(t, "plan_service", directive.Find(plans.Directives, directive.Service).Name)
	idempotent := directive.Find(plans.Directives, directive.Idempotent)
	assert.Equal(t, []string{"Get", "List"}, idempotent.Methods)
	assert.True(t, idempotent.Rewind)
	timeout := directive.Find(plans.Directives, directive.Timeout)
	assert.Equal(t, 2*time.Second, timeout.Total)
	assert.Equal(t, 500*time.Millisecond, timeout.Attempt)
	assert.Equal(t, []string{"Get"}, timeout.Methods)
	assert.Equal(t, []string{"Ping", "Pong"}, directive.Find(plans.Directives, directive.Skip).Methods)

	require.Len(t, plans.Lines, 3)
	assert.NotNil(t, directive.Find(plans.Lines[0].Directives, directive.Inherit))
	do := plans.Lines[1].Directives
	assert.Equal(t, "parent", directive.Find(do, directive.Idempotent).Context)
	assert.Equal(t, 2, directive.Find(do, directive.Idempotent).ErrorResult)
	assert.Equal(t, time.Minute, directive.Find(do, directive.Timeout).Total)
	assert.Equal(t, "do_it", directive.Find(do, directive.Op).Name)

	assert.Equal(t, "failed", directive.Find(file.Types[1].Directives, directive.Error).New)
	from := directive.Find(file.Types[2].Directives, directive.From)
	assert.Equal(t, "github.com/x/y/s3.Client", from.Name)
	assert.Equal(t, []string{"GetObject", "PutObject"}, from.Methods)
}

// problems are sources with one problem each, at the line and column of the mark.
var problems = map[string]struct{ source, says, fix string }{
	"space":              {"type A interface {\n\t§// resilient:idempotent\n\tGet() error\n}", "space after //", "//resilient:idempotent"},
	"capital in tool":    {"§//Resilient:service a\ntype A interface{}", "without capitals", "//resilient:service a"},
	"capital in verb":    {"§//resilient:Service a\ntype A interface{}", "without capitals", "//resilient:service a"},
	"verb misspelt":      {"type A interface {\n\t§//resilient:idempotant\n\tGet() error\n}", "did you mean idempotent", "//resilient:idempotent"},
	"both misspelt":      {"type A interface {\n\t§//resilience:idempotant\n\tGet() error\n}", "the tool is resilient", "//resilient:idempotent"},
	"space and typo":     {"type A interface {\n\t§// resilient:idempotnet rewind\n\tGet() error\n}", "the verb is idempotent", "//resilient:idempotent rewind"},
	"no colon":           {"type A interface {\n\t§//resilient idempotent\n\tGet() error\n}", "a single colon", "//resilient:idempotent"},
	"space at colon":     {"type A interface {\n\t§// resilient: idempotent\n\tGet() error\n}", "a single colon", "//resilient:idempotent"},
	"plus":               {"§//+resilient:service a\ntype A interface{}", "nothing may stand", "//resilient:service a"},
	"block comment":      {"§/*resilient:service a*/\ntype A interface{}", "// comment", "//resilient:service a"},
	"unknown verb":       {"type A interface {\n\t§//resilient:retry 3\n\tGet() error\n}", "there is no such verb", ""},
	"unknown, capital":   {"§//Resilient:retry\ntype A interface{}", "there is no such verb", ""},
	"detached":           {"type A interface {\n\t§//resilient:idempotent\n\n\tGet() error\n}", "no declaration follows", ""},
	"at the end":         {"type A interface {\n\tGet() error\n\t§//resilient:idempotent\n}", "no declaration follows", ""},
	"trailing":           {"type A interface {\n\tGet() error §//resilient:idempotent\n}", "trails", ""},
	"trailing type":      {"type A interface{} §//resilient:service a", "trails", ""},
	"group":              {"§//resilient:service a\ntype (\n\tA interface{}\n\tB interface{}\n)", "on a group", ""},
	"function":           {"§//resilient:idempotent\nfunc F() {}", "on a function", ""},
	"inside function":    {"func F() {\n\t§//resilient:service a\n\ttype A interface{}\n}", "inside of a function", ""},
	"variable":           {"§//resilient:service a\nvar a int", "declaration of var", ""},
	"struct":             {"§//resilient:service a\ntype A struct{}", "A is a struct", ""},
	"struct field":       {"type A struct {\n\t§//resilient:idempotent\n\tF func()\n}", "on a field", ""},
	"wrong place":        {"type A interface {\n\t§//resilient:service a\n\tGet() error\n}", "stands on a method", ""},
	"verb of an embed":   {"type A interface {\n\t§//resilient:inherit\n\tGet() error\n}", "stands on a method", ""},
	"on an embed":        {"type A interface {\n\t§//resilient:idempotent\n\tB\n}", "stands on a line that embeds", ""},
	"no name":            {"§//resilient:service\ntype A interface{}", "lacks its first argument", ""},
	"two names":          {"§//resilient:service a b\ntype A interface{}", "one argument too many", ""},
	"no list":            {"§//resilient:idempotent\ntype A interface{}", "needs the names of methods", ""},
	"list on method":     {"type A interface {\n\t§//resilient:idempotent Get\n\tGet() error\n}", `does not take "Get"`, ""},
	"no duration":        {"type A interface {\n\t§//resilient:timeout\n\tGet() error\n}", "lacks how long", ""},
	"bad duration":       {"type A interface {\n\t§//resilient:timeout 2\n\tGet() error\n}", "not a duration", ""},
	"negative":           {"type A interface {\n\t§//resilient:timeout -2s\n\tGet() error\n}", "no time at all", ""},
	"too long":           {"type A interface {\n\t§//resilient:timeout 10m\n\tGet() error\n}", "5m0s", ""},
	"attempt longer":     {"type A interface {\n\t§//resilient:timeout 1s attempt=2s\n\tGet() error\n}", "longer than the whole", ""},
	"error zero":         {"type A interface {\n\t§//resilient:op error=0\n\tGet() error\n}", "1 is the first", ""},
	"empty op":           {"type A interface {\n\t§//resilient:op\n\tGet() error\n}", "says nothing", ""},
	"twice":              {"type A interface {\n\t//resilient:op a\n\t§//resilient:op b\n\tGet() error\n}", "twice", ""},
	"skip and more":      {"type A interface {\n\t//resilient:skip\n\t§//resilient:idempotent\n\tGet() error\n}", "contradicts", ""},
	"two colons":         {"type A interface {\n\t§//resilient::idempotent\n\tGet() error\n}", "a single colon", "//resilient:idempotent"},
	"third slash":        {"type A interface {\n\t§///resilient:idempotent\n\tGet() error\n}", "nothing may stand", "//resilient:idempotent"},
	"exclamation":        {"type A interface {\n\t§//!resilient:idempotent rewind\n\tGet() error\n}", "nothing may stand", "//resilient:idempotent rewind"},
	"hash":               {"type A interface {\n\t§//#resilient:idempotent\n\tGet() error\n}", "nothing may stand", "//resilient:idempotent"},
	"at, no colon":       {"type A interface {\n\t§//@resilient idempotent\n\tGet() error\n}", "nothing may stand", "//resilient:idempotent"},
	"underscore":         {"type A interface {\n\t§//resilient_idempotent\n\tGet() error\n}", "a single colon", "//resilient:idempotent"},
	"dot":                {"type A interface {\n\t§//resilient.idempotent\n\tGet() error\n}", "a single colon", "//resilient:idempotent"},
	"slash":              {"type A interface {\n\t§//resilient/idempotent\n\tGet() error\n}", "a single colon", "//resilient:idempotent"},
	"generator":          {"type A interface {\n\t§//resilientgen:idempotent\n\tGet() error\n}", "the tool is resilient", "//resilient:idempotent"},
	"no verb":            {"type A interface {\n\t§//resilient:\n\tGet() error\n}", "it lacks its verb", ""},
	"nothing at all":     {"type A interface {\n\t§//resilient\n\tGet() error\n}", "it lacks its verb", ""},
	"space, unknown":     {"type A interface {\n\t§// resilient:retry\n\tGet() error\n}", "there is no such verb", ""},
	"space, unknown 2":   {"type A interface {\n\t§// resilient:readonly\n\tGet() error\n}", "there is no such verb", ""},
	"space, arguments":   {"type A interface {\n\t§// resilient: timeout 2s attempt=1s\n\tGet() error\n}", "a single colon", "//resilient:timeout 2s attempt=1s"},
	"block of lines":     {"type A interface {\n\t§/*\n\t * resilient:idempotent\n\t */\n\tGet() error\n}", "// comment", "//resilient:idempotent"},
	"semicolon":          {"type A interface {\n\t§//resilient;idempotent\n\tGet() error\n}", "a single colon", "//resilient:idempotent"},
	"wide colon":         {"type A interface {\n\t§//resilient：idempotent\n\tGet() error\n}", "a single colon", "//resilient:idempotent"},
	"accent":             {"type A interface {\n\t§//resilient:ídempotent\n\tGet() error\n}", "the verb is idempotent", "//resilient:idempotent"},
	"unseen":             {"type A interface {\n\t§//\u200bresilient:idempotent\n\tGet() error\n}", "cannot be seen", "//resilient:idempotent"},
	"unseen within":      {"type A interface {\n\t§//resilient:idem\u00adpotent\n\tGet() error\n}", "cannot be seen", "//resilient:idempotent"},
	"space that is none": {"type A interface {\n\t§//resilient:timeout\u00a02s\n\tGet() error\n}", "spaces that are none", "//resilient:timeout 2s"},
	"attempt twice":      {"type A interface {\n\t§//resilient:timeout 2s attempt=1s attempt=500ms\n\tGet() error\n}", "attempt= stands here twice", ""},
	"ctx twice":          {"type A interface {\n\t§//resilient:op ctx=a ctx=b\n\tGet() error\n}", "ctx= stands here twice", ""},
	"rewind twice":       {"type A interface {\n\t§//resilient:idempotent rewind rewind\n\tGet() error\n}", "rewind stands here twice", ""},
	"stream and more":    {"type A interface {\n\t§//resilient:timeout 2s\n\t//resilient:stream\n\tGet() error\n}", "contradicts", ""},
	"below a function":   {"func F() {}\n\n§//resilient:service a\n\ntype A interface{}", "no declaration follows", ""},
	"without a body":     {"func F()\n\n§//resilient:service a\n\ntype A interface{}", "inside of a function, or no declaration follows", ""},
	"no-break space":     {"type A interface {\n\t§//\u00a0resilient:idempotent rewind\n\tGet() error\n}", "spaces that are none", "//resilient:idempotent rewind"},
	"go before it":       {"type A interface {\n\t§//go:resilient:idempotent\n\tGet() error\n}", "nothing may stand", "//resilient:idempotent"},
	"go, no colon":       {"type A interface {\n\t§//go:resilient idempotent\n\tGet() error\n}", "nothing may stand", "//resilient:idempotent"},
	"dot and capital":    {"type A interface {\n\t§//Resilient.idempotent\n\tGet() error\n}", "a single colon", "//resilient:idempotent"},
}

func TestProblems(t *testing.T) {
	for name, test := range problems {
		t.Run(name, func(t *testing.T) {
			source := "package p\n\n" + test.source + "\n"
			offset := strings.Index(source, "§")
			require.Positive(t, offset)
			file, fset := read(t, strings.Replace(source, "§", "", 1))
			require.Len(t, file.Problems, 1)
			problem := file.Problems[0]
			assert.Contains(t, problem.Error(), test.says)
			assert.Equal(t, offset, fset.Position(problem.Pos).Offset, "%v", problem)
			assert.Equal(t, test.fix, problem.Replacement)
			assert.NotEmpty(t, problem.What)
			assert.NotEmpty(t, problem.Why)
			assert.NotEmpty(t, problem.Fix)
		})
	}
}

// TestReplacements puts each replacement in place: then nothing is wrong.
func TestReplacements(t *testing.T) {
	for name, test := range problems {
		if test.fix == "" {
			continue
		}
		source := "package p\n\n" + strings.Replace(test.source, "§", "", 1) + "\n"
		file, fset := read(t, source)
		p := file.Problems[0]
		from, to := fset.Position(p.Pos).Offset, fset.Position(p.End).Offset
		file, _ = read(t, source[:from]+p.Replacement+source[to:])
		assert.Empty(t, file.Problems, name)
		assert.Len(t, file.Types, 1, name)
	}
}

// TestProse: what merely begins with the word is left alone.
func TestProse(t *testing.T) {
	for _, comment := range []string{
		"// resilient makes calls that fail well.",
		"// resilient: what generated wrappers refer to",
		"// resilient: services are named in one place",
		"// resilient: see the docs for more",
		"// resilient: skip what cannot be guarded",
		"// resilient:see the docs for more",
		"// resilient: idempotent methods are retried",
		"// # Resilient streams",
		"// resilient",
		"// resilient:",
		"//resilient.skip(op)",
		"// //resilient:idempotent",
		"//resilientgen:fingerprint Svc 1234",
		"/*\nresilient:idempotent goes above a method,\nand that is all.\n*/",
		"// See github.com/seed42274fcc/stoic/resilient/op for more.",
		"// resilient.Idempotent describes an op",
		"//resilient.Idempotent(\"get\")",
		"// Resilient stream handling is hard.",
		"// The directive //resilient:idempotent goes above.",
		"//	//resilient:service plan_service",
		"//go:generate go tool resilientgen",
		"//go:linkname resilient skip",
		"//Resilient.Idempotent(\"get\")",
		"//nolint:errcheck",
		"// silent: skip",
		"// resilient; idempotent methods are retried",
		"// résilient \u2014 service",
		"//lint:ignore SA1019 because",
	} {
		file, _ := read(t, "package p\n\n"+comment+"\ntype A interface{}\n")
		assert.Empty(t, file.Problems, comment)
		assert.Empty(t, file.Types, comment)
	}
}

// TestCarriageReturns (H57): a file with CRLF reads the same.
func TestCarriageReturns(t *testing.T) {
	file, _ := read(t, strings.ReplaceAll("package p\n\n//resilient:service a\ntype A interface {\n\t//resilient:op b\n\tB() error\n}\n", "\n", "\r\n"))
	require.Empty(t, file.Problems)
	require.Len(t, file.Types, 1)
	assert.Equal(t, "a", file.Types[0].Directives[0].Name)
	assert.Equal(t, "b", file.Types[0].Lines[0].Directives[0].Name)
}

// TestForms: each usage that a message shows is itself well formed.
func TestForms(t *testing.T) {
	for _, form := range directive.Forms() {
		assert.NotEmpty(t, form.Does)
		assert.NotEmpty(t, form.Places.String())
	}
}

// TestNeverPanics: whatever stands in a comment is a directive, a problem or prose.
func TestNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"//", "/", " ", "resilient", ":", "idempotent", "timeout", "2s", "ctx=", "error=1", "new=", ",", "Get", "service", "=", "+", "op"}),
			rapid.StringMatching(`[ -~]{0,5}`),
		)).Draw(t, "words")
		text := strings.NewReplacer("\n", "", "\r", "").Replace(strings.Join(words, ""))
		file, fset := read(t, "package p\n\n//"+text+"\ntype A interface {\n\t//"+text+"\n\tGet() error //"+text+"\n}\n")
		for _, p := range file.Problems {
			require.GreaterOrEqual(t, p.End, p.Pos)
			require.Positive(t, fset.Position(p.Pos).Line)
		}
	})
}
