package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// To write the files of expected findings anew:
//
//	go test . -run Bad -update
var update = flag.Bool("update", false, "write the expected findings in testdata/bad anew")

var binary string // the command, for those tests that run it as a process

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "resilientctl")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "resilientctl")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// result is what a process has left.
type result struct {
	code     int
	out, err string
}

// process is the command as it is started.
type process struct {
	env   []string // beside what every program needs
	stdin string
	dir   string
}

func (p process) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append([]string{"USER=kim"}, p.env...)
	for _, name := range []string{"PATH", "HOME", "SystemRoot", "TMPDIR", "TEMP"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Dir = p.dir
	cmd.Stdin = strings.NewReader(p.stdin)
	return cmd
}

// run runs the command to its end.
func (p process) run(t *testing.T, args ...string) result {
	t.Helper()
	cmd := p.command(t.Context(), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		require.NoError(t, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// Each command line as a process: its exit code, and what it has to say. Those of
// circuits are in circuits_test.go.
func TestCommandLines(t *testing.T) {
	const env = "APP_RETRY_MAX_ATTEMPTS=4"
	const overrides = `{"search":{"retry":{"max_attempts":6},"total_timeout":60,"attempt_timeout":5}}`
	for _, test := range []struct {
		line     string
		env      string
		stdin    string
		code     int
		out, err string // "" is nothing
	}{
		{line: "", code: 2, err: "Usage:"},
		{line: "explian", code: 2, err: `no command "explian" (did you mean "explain"?)`},
		{line: "--help", out: "Usage:"},
		{line: "help circuits", out: "force-open"},
		{line: "--jason", code: 2, err: "unknown flag: --jason"},

		{line: "explain plan_service", code: 2, err: "say where the policies are"},
		{line: "explain plan_service --prefix APP", env: env, out: "APP_RETRY_MAX_ATTEMPTS"},
		{line: "explain plan_service", env: "RESILIENCE_PREFIX=APP", out: "default of the service"},
		{line: "explain --prefix app", code: 2, err: "a prefix of environment variables is"},
		{line: "explain --prefix APP", env: "APP_RETRY_MAX_ATTEMPTS=0", out: "vector_store_service", err: "APP_RETRY_MAX_ATTEMPTS: is 0"},
		{line: "explain search --file -", stdin: overrides, out: "override of the service"},
		{line: "explain --config --file - --json plan_service", stdin: `{"retry_max_attempts":7}`, out: `"value": "7"`},
		{line: "explain --config plan_service", env: env, code: 2, err: "--config says what --file is"},
		{line: "explain --file - --prefix APP", code: 2, err: "none of the others can be"},
		{line: "explain --file no/such/file", code: 2, err: "no/such/file"},
		// A75, A77: false is no absent value; a strategy that there is not is told at once.
		{line: "explain a --file - --json", stdin: `{"a":{"retry":{"jitter":false}}}`, out: `"value": "false",
          "origin": "override of the service"`},
		{line: "explain a --file -", stdin: `{"a":{"retry":{"backoff_strategy":"expo"}}}`, out: "fallback", err: `(did you mean "exponential"?)`},
		{line: "explain --chain plan_service,search --file -", stdin: overrides, out: "search"},
		{line: "explain --chain plan_service,search --file - --json", stdin: overrides, out: `"calls_unguarded": 18`},
		{line: "explain plan_service --prefix APP --replicas -1", code: 2, err: "Options.Replicas"},

		{line: "plot search --file -", stdin: overrides, out: "begins at 5s … 30s, ends by 35s"},
		{line: "plot search --file - --json", stdin: overrides, out: `"latest_start": 30`},
		{line: "plot search --file - --svg -", stdin: overrides, out: "<svg xmlns"},
		{line: "plot --prefix APP", code: 2, err: "accepts 1 arg(s), received 0; use: resilientctl plot SERVICE"},

		{line: "validate -", stdin: overrides},
		{line: "validate - --json", stdin: overrides, out: "[]"},
		{line: "validate -", stdin: `{"search":{"retry":{"max_retries":3}}}`, code: 1, out: `-:1:21: search: retry.max_retries: there is no such setting (did you mean "max_attempts"?)`},
		{line: "validate --lenient -", stdin: `{"search":{"retry":{"max_retries":3}}}`, out: "-:1:21: search: retry.max_retries"},
		{line: "validate --lenient -", stdin: `{"search":{"retry":{"jitter":3}}}`, code: 1, out: "retry.jitter: is a number"},
		{line: "validate --config -", stdin: `{"retry_jitter":3}`, code: 1, out: "-:1:2: retry_jitter: is a number"},
		{line: "validate --json -", stdin: `{"x":3}`, code: 1, out: `"column": 2`},
		{line: "validate -", stdin: `{"x":{"retry":{"budget":"all"}}}`},
		{line: "validate --budgets some -", stdin: `{"x":{"retry":{"budget":"all"}}}`, code: 1, out: `-:1:16: x: retry.budget: names no budget`},
		{line: "explain x --file -", stdin: `{"x":{"retry":{"budget":"all"}}}`, out: "all "},
		{line: "validate", code: 2, err: "requires at least 1 arg(s), only received 0; use: resilientctl validate FILE…"},
		{line: "validate no/such/file", code: 2, err: "no/such/file"},

		{line: "schema", out: `"$schema": "https://json-schema.org/draft/2020-12/schema"`},
		{line: "schema --config", out: `"retry_service_overrides"`},
		{line: "schema x", code: 2, err: "unknown command"},

		{line: "redact -stats -", stdin: "password=F4KE\n", out: "password=***", err: "1 changed"},
		{line: "redact --check", stdin: "password=F4KE\n", code: 1, out: "-:1: password=***"},

		{line: "completion bash", out: "bash completion"},
		{line: "completion fish", out: "complete -c resilientctl"},
		{line: "__complete explain --file - plan", stdin: overrides, out: "plan_service", err: "Completion ended"},
		{line: "__complete plot --prefix APP s", env: `APP_RETRY_SERVICE_OVERRIDES={"shop":{}}`, out: "shop", err: "Completion ended"},
	} {
		t.Run(test.line, func(t *testing.T) {
			p := process{stdin: test.stdin}
			if test.env != "" {
				p.env = append(p.env, test.env)
			}
			got := p.run(t, strings.Fields(test.line)...)
			assert.Equal(t, test.code, got.code, got)
			for want, text := range map[*string]string{&test.out: got.out, &test.err: got.err} {
				if *want == "" {
					assert.Empty(t, text)
				} else {
					assert.Contains(t, text, *want)
				}
			}
		})
	}
}

// A picture goes to a file, and holds a service's name as text.
func TestPlotFile(t *testing.T) {
	dir := t.TempDir()
	got := process{dir: dir, stdin: `{"<b>&":{"retry":{"max_attempts":2}}}`}.run(t, "plot", "<b>&", "--file", "-", "--svg", "plot.svg")
	require.Equal(t, result{}, got)
	text, err := os.ReadFile(filepath.Join(dir, "plot.svg"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "&lt;b&gt;&amp;")
	assert.NotContains(t, string(text), "<b>")
}
