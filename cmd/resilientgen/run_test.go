package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/gen"
	"github.com/seed42274fcc/stoic/internal/testmodule"
)

const source = `package plans

import "context"

//go:generate go tool resilientgen

//resilient:service plan_service
type PlanService interface {
	//resilient:idempotent
	//resilient:timeout 2s attempt=500ms
	GetPlan(ctx context.Context, id string) (string, error)
	ApplyPlan(ctx context.Context, id string) error
	Count() int
}
`

// module makes a module with that file and goes there.
func module(t *testing.T, plans string) {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, testmodule.Write(".", "example.com/plans"))
	put(t, "plans.go", plans)
}

func put(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
}

func invoke(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err, testmodule.Environment())
	return code, out.String(), err.String()
}

func TestGenerateAndCheck(t *testing.T) {
	module(t, source)
	code, out, err := invoke("-check")
	assert.Equal(t, exitRefused, code, "nothing is generated yet")
	assert.Contains(t, out, "--- /dev/null\n+++ b/plans_resilient.go\n@@ -0,0 +1,")
	assert.Contains(t, err, "run go generate")

	code, out, err = invoke("-n")
	assert.Equal(t, exitDone, code)
	assert.Equal(t, "plans_resilient.go\n", out)
	assert.NoFileExists(t, "plans_resilient.go")
	assert.Empty(t, err)

	code, out, err = invoke()
	assert.Equal(t, exitDone, code, err)
	assert.Empty(t, out+err)
	first, statErr := os.Stat("plans_resilient.go")
	require.NoError(t, statErr)

	code, out, err = invoke()
	assert.Equal(t, exitDone, code)
	assert.Empty(t, out+err)
	second, statErr := os.Stat("plans_resilient.go")
	require.NoError(t, statErr)
	assert.Equal(t, first.ModTime(), second.ModTime(), "what has not changed is not written")

	for _, args := range [][]string{{"-check"}, {"-check", "./..."}, {"-check", "-source", "."}, {"-n"}} {
		code, out, err = invoke(args...)
		assert.Equal(t, exitDone, code, args)
		assert.Empty(t, out+err, args)
	}
	left, globErr := filepath.Glob(".*")
	require.NoError(t, globErr)
	assert.Empty(t, left, "no temporary file is left")
}

// TestDrift (A94): a method more, or a directive, is drift; how lines end is not.
func TestDrift(t *testing.T) {
	module(t, source)
	code, _, err := invoke()
	require.Equal(t, exitDone, code, err)
	made, readErr := os.ReadFile("plans_resilient.go")
	require.NoError(t, readErr)
	put(t, "plans_resilient.go", strings.ReplaceAll(string(made), "\n", "\r\n"))
	code, out, _ := invoke("-check")
	assert.Equal(t, exitDone, code, out)

	put(t, "plans.go", strings.Replace(source, "\tCount() int\n", "\tCount() int\n\tMore() error\n", 1))
	code, out, _ = invoke("-check")
	assert.Equal(t, exitRefused, code)
	assert.Contains(t, out, "+func (r *resilientPlanService) More() error {\n")
	assert.Contains(t, out, "--- a/plans_resilient.go\n+++ b/plans_resilient.go\n")

	put(t, "plans.go", strings.Replace(source, "\t//resilient:idempotent\n", "", 1))
	code, out, _ = invoke("-check")
	assert.Equal(t, exitRefused, code)
	assert.Contains(t, out, `+	GetPlan:   resilient.NonIdempotent("get_plan")`)
}

// TestOrphan: an output whose source asks for nothing any more.
func TestOrphan(t *testing.T) {
	module(t, source)
	code, _, err := invoke()
	require.Equal(t, exitDone, code, err)
	put(t, "plans.go", strings.Replace(source, "//resilient:service plan_service\n", "", 1))
	code, out, _ := invoke("-check")
	assert.Equal(t, exitRefused, code)
	assert.Contains(t, out, "+++ /dev/null")
	code, _, err = invoke()
	assert.Equal(t, exitDone, code, err)
	assert.NoFileExists(t, "plans_resilient.go")
}

func TestRefused(t *testing.T) {
	module(t, strings.Replace(source, "\tCount() int", "\t//resilient:idempotant\n\tCount() int", 1))
	code, out, err := invoke()
	assert.Equal(t, exitRefused, code)
	assert.Empty(t, out)
	assert.Equal(t, "plans.go:13:2: //resilient:idempotant is not a directive: did you mean idempotent?; the verbs are service, from, error, inherit, idempotent, timeout, op, stream, skip\n", err)
	assert.NoFileExists(t, "plans_resilient.go")
}

// TestAllOrNothing: where one output cannot be written, none is.
func TestAllOrNothing(t *testing.T) {
	module(t, source)
	put(t, "other.go", "package plans\n\n//resilient:service s\ntype Other interface{ Do() error }\n")
	require.NoError(t, os.Mkdir("plans_resilient.go", 0o777))
	code, _, err := invoke()
	assert.Equal(t, exitRefused, code)
	assert.Contains(t, err, "plans_resilient.go: there is a folder of that name")
	found, globErr := filepath.Glob(".*resilient*")
	require.NoError(t, globErr)
	assert.Empty(t, found, "nothing is left behind")
	assert.NoFileExists(t, "other_resilient.go")
}

func TestStrict(t *testing.T) {
	module(t, source)
	code, _, err := invoke("-strict")
	assert.Equal(t, exitRefused, code)
	assert.Contains(t, err, "plans.go:13:2: cannot guard PlanService.Count: it returns no error")
}

func TestList(t *testing.T) {
	module(t, source)
	code, out, err := invoke("-list")
	assert.Equal(t, exitDone, code)
	assert.Empty(t, err)
	assert.Equal(t, ``+
		"SERVICE       METHOD                 OP          KIND       IDEMPOTENT  TIMEOUT             WHY\n"+
		"plan_service  PlanService.ApplyPlan  apply_plan  guarded    no          -                   \n"+
		"plan_service  PlanService.Count      -           forwarded  -           -                   it returns no error, so a failure cannot be seen\n"+
		"plan_service  PlanService.GetPlan    get_plan    guarded    yes         2s (attempt 500ms)  \n", out)

	code, out, err = invoke("-list", "-json")
	assert.Equal(t, exitDone, code)
	assert.Empty(t, err)
	var services []gen.Service
	require.NoError(t, json.Unmarshal([]byte(out), &services))
	require.Len(t, services, 1)
	assert.Equal(t, "example.com/plans", services[0].Package)
	assert.Equal(t, "plans.go:8:6", services[0].Position)
	assert.Equal(t, "plans_resilient.go", services[0].Output)
	assert.Equal(t, gen.Method{Name: "GetPlan", Op: "get_plan", Kind: "guarded", Idempotent: true, Total: "2s", Attempt: "500ms"}, services[0].Methods[2])
	assert.NoFileExists(t, "plans_resilient.go")
}

func TestOut(t *testing.T) {
	module(t, source)
	code, _, err := invoke("-out", "wrap/plans.go")
	require.Equal(t, exitDone, code, err)
	text, readErr := os.ReadFile("wrap/plans.go")
	require.NoError(t, readErr)
	assert.Contains(t, string(text), "package wrap\n")
	assert.Contains(t, string(text), "next plans.PlanService, guards resilient.Guards) plans.PlanService")
}

// TestOutOfModules: a file that belongs to no module has no package to be in.
func TestOutOfModules(t *testing.T) {
	module(t, source)
	out := filepath.Join(t.TempDir(), "plans.go")
	code, _, err := invoke("-out", out)
	assert.Equal(t, exitRefused, code)
	assert.Contains(t, err, "plans.go:8:6: cannot write "+out+": its folder is in no module; choose a folder of a module")
	assert.NoFileExists(t, out)
}

func TestNothingToDo(t *testing.T) {
	module(t, "package plans\n")
	code, out, err := invoke("-list", "-json")
	assert.Equal(t, exitDone, code)
	assert.Equal(t, "[]\n", out)
	assert.Empty(t, err)
	code, _, err = invoke()
	assert.Equal(t, exitDone, code)
	assert.Contains(t, err, "no interface with //resilient:service")
}

func TestNoSuchPackage(t *testing.T) {
	module(t, source)
	code, _, err := invoke("./nowhere")
	assert.Equal(t, exitRefused, code)
	assert.Contains(t, err, "nowhere")
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"-unknown"}, {"-json"}, {"-check", "-list"}, {"-check", "-n"}, {"-list", "-n"}, {"-out", "x"}, {"-out", "x.go", "./..."},
	} {
		code, out, err := invoke(args...)
		assert.Equal(t, exitUsage, code, args)
		assert.Empty(t, out)
		assert.Contains(t, err, "usage: resilientgen", args)
	}
	code, _, err := invoke("-help")
	assert.Equal(t, exitDone, code)
	assert.Contains(t, err, "-strict")
}

// TestUnhurried: a limit that somebody has set for the go command's memory is kept.
func TestUnhurried(t *testing.T) {
	assert.Equal(t, []string{"A=b", "GOGC=400", "GOMEMLIMIT=1073741824"}, unhurried([]string{"A=b"}))
	assert.Equal(t, []string{"GOMEMLIMIT=1MiB", "GOGC=400"}, unhurried([]string{"GOMEMLIMIT=1MiB"}))
}

// TestTestFile: go generate in a test file wraps what the test file declares.
func TestTestFile(t *testing.T) {
	module(t, "package plans\n")
	put(t, "plans_test.go", source)
	var out, err bytes.Buffer
	code := run(nil, &out, &err, testmodule.Environment("GOFILE=plans_test.go", "GOPACKAGE=plans"))
	assert.Equal(t, exitDone, code, err.String())
	assert.FileExists(t, "plans_resilient_test.go")
}

// TestGoGenerate is the way of the documentation: a tool of the module, called by go
// generate.
func TestGoGenerate(t *testing.T) {
	module(t, source)
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	put(t, "go.mod", string(mod)+"\ntool github.com/seed42274fcc/stoic/cmd/resilientgen\n")
	generate := exec.Command("go", "generate", "./...")
	generate.Env = testmodule.Environment()
	out, err := generate.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Empty(t, string(out))
	assert.FileExists(t, "plans_resilient.go")
}

// TestInstalled: a binary that go generate finds in the PATH wraps the package of the file, too.
func TestInstalled(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	module(t, "package plans\n")
	require.NoError(t, os.Mkdir("sub", 0o777))
	put(t, "sub/plans.go", strings.Replace(source, "go tool resilientgen", "resilientgen", 1))
	generate := exec.Command("go", "generate", "./...")
	generate.Env = testmodule.Environment("PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"))
	out, err = generate.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Empty(t, string(out))
	assert.FileExists(t, "sub/plans_resilient.go")
}
