package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each letter of a timeline, and what is the same in a row.
func TestTimeline(t *testing.T) {
	one := func(probing bool, r ...result) round {
		tools := make([]string, len(r))
		for i := range r {
			tools[i] = r[i].tool
		}
		return round{probing: probing, move: move{calls: tools}, results: r}
	}
	bad, good := result{tool: search, failed: true}, result{tool: search, text: found}
	refused, noted := result{tool: search, text: "Tool …"}, result{tool: notes, text: found}
	all := task{rounds: []round{
		one(false, bad), one(true, bad), one(true, bad, refused), one(false, good), one(true, good), one(false, refused), one(true, noted), {},
	}}
	assert.Equal(t, "xXXsPrn.", all.letters())
	short := task{rounds: all.rounds[6:]}
	assert.Equal(t, "n. ×2  xXXsPrn.  n.", timeline([]task{short, short, all, short}))
	assert.Empty(t, timeline(nil))
	assert.Equal(t, figures{rounds: 8, wasted: 4, timeline: "xXXsPrn."}, phase{tasks: []task{all}}.figures())
}

// What differs is counted and shown.
func TestWrite(t *testing.T) {
	done := task{replica: "A", rounds: []round{
		{offered: []string{notes, search}, probing: true, move: move{calls: []string{search}}, results: []result{{tool: search, text: "down", failed: true}}},
		{offered: []string{notes}, move: move{answer: "so it is"}},
	}, answer: "so it is"}
	outages := map[breakers][]phase{local: {{name: "outage", tasks: []task{done}, hits: 1}}}
	right := row{"outage", local, figures{2, 1, 1, 1, "X."}}
	wrong := right
	wrong.wasted = 2
	var out bytes.Buffer
	assert.Zero(t, writeTable(&out, []row{right}, outages))
	assert.NotContains(t, out.String(), "DIFFERS")
	assert.Equal(t, 2, writeTable(&out, []row{wrong, right, {phase: "outage", who: shared, figures: figures{rounds: 1}}}, outages))
	assert.Equal(t, 2, strings.Count(out.String(), "DIFFERS"))

	reports := []report{{variant{name: "one", expected: "1"}, "1"}, {variant{name: "two", expected: "2"}, "3"}}
	out.Reset()
	assert.Equal(t, 1, writeReports(&out, reports))
	assert.Contains(t, out.String(), "DIFFERS from 2")

	out.Reset()
	seen := performance{outages: outages, reports: reports}
	assert.Equal(t, len(expected)+1, seen.write(&out, true))
	assert.Contains(t, out.String(), "task  1 on A, round  1: [notes search] search fails: down; (that was the probe)\n")
	assert.Contains(t, out.String(), "task  1 on A, round  2: [notes] answers \"so it is\"\n")
}

// The program as its users start it: built, in a process, with either Redis; and what it says in the README.
func TestProgram(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "agent")
	built, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	start := func(args ...string) (stdout, stderr string, code int) {
		var out, errs bytes.Buffer
		program := exec.CommandContext(t.Context(), binary, args...)
		program.Stdout, program.Stderr = &out, &errs
		if err := program.Run(); program.ProcessState == nil {
			require.NoError(t, err)
		}
		return out.String(), errs.String(), program.ProcessState.ExitCode()
	}
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		out, errs, code := start()
		require.Zero(t, code, out)
		assert.Empty(t, errs)
		assert.Equal(t, len(expected)+len(variants), strings.Count(out, "ok\n"))
		readme, err := os.ReadFile("../../README.md")
		require.NoError(t, err)
		_, block, ok := strings.Cut(string(readme), "```text\nPHASE ")
		require.True(t, ok, "the README shows the table's head")
		block, _, _ = strings.Cut(block, "```")
		printed := lines(out)
		for _, line := range lines("PHASE " + block) {
			assert.Contains(t, printed, line, "the README shows what is not printed")
		}
	})
	t.Run("redis-server, each round", func(t *testing.T) {
		t.Parallel()
		out, errs, code := start("-v", "-redis", startRedis(t))
		require.Zero(t, code, out)
		assert.Empty(t, errs)
		rounds, _, _ := strings.Cut(out, "\nPHASE ")
		want := 0
		for _, r := range expected {
			want += r.rounds
		}
		assert.Len(t, lines(rounds), want)
		assert.Contains(t, rounds, "[notes search] search fails: the library answers 503 Service Unavailable; (that was the probe)")
	})
	t.Run("no Redis", func(t *testing.T) {
		t.Parallel()
		out, errs, code := start("-redis", "redis://ann:hunter2@"+freeAddress(t))
		assert.Equal(t, 1, code)
		assert.Contains(t, errs, errLost.Error())
		assert.Contains(t, out, "DIFFERS")
		assert.NotContains(t, out+errs, "hunter2")
	})
	t.Run("wrong flag", func(t *testing.T) {
		t.Parallel()
		_, _, code := start("-x")
		assert.Equal(t, 2, code)
	})
}

// lines are those that are not empty, without what stands at their ends.
func lines(text string) []string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " ")
	}
	return slices.DeleteFunc(all, func(line string) bool { return line == "" })
}

// Servers, sessions, stores and guards end with their world.
func TestNothingIsLeft(t *testing.T) {
	url := startEmbedded(t)
	before := runtime.NumGoroutine()
	for _, who := range []breakers{noBreaker, local, shared} {
		w, err := newWorld(t.Context(), who, 0, url)
		require.NoError(t, err)
		_, err = w.work(t.Context(), persistent, 1)
		require.NoError(t, err)
		require.NoError(t, w.close())
	}
	for began := time.Now(); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) { // the end of a connection comes a moment later
		if time.Since(began) > 10*time.Second {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
