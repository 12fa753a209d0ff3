package main

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestContestants holds each contestant to what its row says: so many calls of the function, and no complaint of the
// loop, which checks what comes back.
func TestContestants(t *testing.T) {
	const n = 7
	for _, r := range rows() {
		for _, c := range r.contestants {
			t.Run(r.name+"/"+c.name, func(t *testing.T) {
				s := newService(r)
				if err := c.start(s)(n); err != nil {
					t.Fatal(err)
				}
				want := n * (r.failures + 1)
				if r.idle {
					want = 0
				}
				if s.calls != want {
					t.Errorf("the function was called %d times in %d calls, want %d", s.calls, n, want)
				}
				if s.left != r.failures && want > 0 {
					t.Errorf("%d failures are left, want %d: the last call did not end with a success", s.left, r.failures)
				}
			})
		}
	}
}

// TestContestantsShareNothing runs each as the measurement does with several processors; the race detector may look on.
func TestContestantsShareNothing(t *testing.T) {
	for _, r := range rows() {
		for _, c := range r.contestants {
			t.Run(r.name+"/"+c.name, func(t *testing.T) {
				loops := []loop{c.start(newService(r)), c.start(newService(r)), c.start(newService(r))}
				if _, err := together(loops, 20); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestLoopsComplain: a loop that finds something other than its row says must not pass in silence.
func TestLoopsComplain(t *testing.T) {
	for _, r := range rows() {
		if r.idle {
			continue
		}
		for _, c := range r.contestants {
			t.Run(r.name+"/"+c.name, func(t *testing.T) {
				s := newService(r)
				s.left = attempts // one more than can be made good
				if c.start(s)(1) == nil {
					t.Error("no complaint about a call that fails")
				}
			})
		}
	}
}

// TestRejectionsAreChecked: the rejection is told from another error.
func TestRejectionsAreChecked(t *testing.T) {
	for name, is := range map[string]func(error) bool{
		nameOurs: isOurRejection, nameFailsafe: isFailsafeRejection, nameGobreaker: isGobreakerRejection,
	} {
		if rejectedWith(errUnavailable, is) == nil {
			t.Errorf("%s: the function's error passes for a rejection", name)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[at]bool{}
	for _, r := range rows() {
		for _, c := range r.contestants {
			key := at{row: r.name, contestant: c.name}
			if seen[key] {
				t.Errorf("%v is there twice", key)
			}
			seen[key] = true
		}
	}
	for _, g := range goals() {
		entries := []entry{g.fast, g.slow}
		if g.beside != nil {
			entries = append(entries, g.beside[:]...)
		}
		for _, e := range entries {
			if !seen[at{row: e.row, contestant: e.contestant}] {
				t.Errorf("goal %q is about %v, which is not measured", g.name, e)
			}
		}
	}
}

func TestMeasure(t *testing.T) {
	chosen := choose(rows(), regexp.MustCompile("^(yardstick|"+rowHealthy+"/stoic$)"))
	if len(chosen) != 2 || len(chosen[0].contestants) != 1 || len(chosen[1].contestants) != 1 {
		t.Fatalf("chosen: %v", chosen)
	}
	all, err := measure(chosen, plan{procs: []int{1, 2}, rounds: 3, sample: 100 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 6 {
		t.Fatalf("%d results, want 6: %v", len(all), all)
	}
	for key, s := range all {
		if s.ns <= 0 {
			t.Errorf("%v took %v ns", key, s.ns)
		}
	}
	for _, procs := range []int{1, 2} {
		if s := all[at{rowAlloc, "64 bytes", procs}]; s.bytes < 64 || s.allocs < 1 {
			t.Errorf("allocations of 64 bytes were seen as %v bytes in %v", s.bytes, s.allocs)
		}
	}
	var text strings.Builder
	if err := printTable(&text, chosen, []int{1, 2}, all); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(text.String(), "64 bytes"); lines != 2 {
		t.Errorf("%d lines for the allocation, want one for each value of GOMAXPROCS:\n%s", lines, text.String())
	}
}

func TestMeasureHandsErrorsOn(t *testing.T) {
	broken := []row{{name: "broken", contestants: []contestant{
		{"one", func(*service) loop { return func(int) error { return errUnavailable } }},
	}}}
	_, err := measure(broken, plan{procs: []int{2}, rounds: 1, sample: 1})
	if err == nil || !strings.Contains(err.Error(), "broken, one: unavailable") {
		t.Errorf("got %v", err)
	}
}

func TestSummary(t *testing.T) {
	got := summary([]stats{
		{ns: 400, allocs: 1, bytes: 80}, {ns: 100, allocs: 1, bytes: 80}, {ns: 200, allocs: 1, bytes: 80},
		{ns: 300, allocs: 3, bytes: 99},
	})
	if want := (stats{ns: 250, spread: 200.0 / 250, allocs: 1, bytes: 80}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestGoals(t *testing.T) {
	all := func(fast, slow float64) results {
		return results{
			{"r", "fast", judgedAt}: {ns: fast}, {"r", "slow", judgedAt}: {ns: slow},
			{"r", "fast", 2}: {ns: 1}, {"r", "slow", 2}: {ns: 1.25}, // looked at by scaled only
		}
	}
	atLeast := goal{name: "g", fast: entry{"r", "fast", 0}, slow: entry{"r", "slow", 0}, factor: 2}
	scaled := atLeast
	scaled.beside = &[2]entry{{"r", "slow", 2}, {"r", "fast", 2}}
	moreThan := atLeast
	moreThan.strict = true
	for _, test := range []struct {
		goal goal
		all  results
		line string
		code int
	}{
		{atLeast, all(10, 25), "g\t2.50x\tat least 2x\tholds", 0},
		{atLeast, all(10, 20), "g\t2.00x\tat least 2x\tholds", 0},
		{atLeast, all(10, 19), "g\t1.90x\tat least 2x\tfalls short", 1},
		{moreThan, all(10, 21), "g\t2.10x\tmore than 2x\tholds", 0},
		{moreThan, all(10, 20), "g\t2.00x\tmore than 2x\tfalls short", 1},
		{scaled, all(10, 25), "g\t2.00x\tat least 2x\tholds", 0},
		{scaled, all(10, 24), "g\t1.92x\tat least 2x\tfalls short", 1},
		{scaled, results{}, "g\t-\tat least 2x\tnot measured", 0},
		{atLeast, results{}, "g\t-\tat least 2x\tnot measured", 0},
	} {
		verdicts := judge([]goal{test.goal}, test.all)
		if line := verdicts[0].line(); line != test.line {
			t.Errorf("line %q, want %q", line, test.line)
		}
		if code := exitCode(verdicts); code != test.code {
			t.Errorf("%s: exit code %d, want %d", test.line, code, test.code)
		}
	}
}

// TestOneShortfallIsEnough for the exit code, wherever in the list it is.
func TestOneShortfallIsEnough(t *testing.T) {
	holds, short := verdict{known: true, holds: true}, verdict{known: true}
	if exitCode([]verdict{holds, short, holds}) != 1 || exitCode([]verdict{holds, holds}) != 0 {
		t.Error("the exit code does not follow the verdicts")
	}
}

func TestRun(t *testing.T) {
	var text strings.Builder
	code, err := run([]string{"-cpu", "1", "-rounds", "1", "-sample", "10us", "-run", "^yardstick/"}, &text)
	if err != nil || code != 0 {
		t.Fatalf("code %d, %v", code, err)
	}
	if lines := strings.Count(text.String(), "not measured"); lines != len(goals()) {
		t.Errorf("%d goals are said not to be measured, want %d:\n%s", lines, len(goals()), text.String())
	}
	for _, args := range [][]string{
		{"-cpu", "0"}, {"-cpu", "1,x"}, {"-rounds", "0"}, {"-sample", "0s"}, {"-run", "("},
		{"-run", "nothing like it"}, {"x"},
	} {
		if _, err := run(args, &text); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// TestCrowds: what a guard holds is seen, and what each of them makes is used.
func TestCrowds(t *testing.T) {
	kept := crowd{name: "kilobytes", make: func() any { return new([1024]byte) }}
	if got := kept.gather(1000); got.bytes < 1024 || got.bytes > 1200 || got.goroutines != 0 {
		t.Errorf("a kilobyte each was seen as %+v", got)
	}
	for _, c := range crowds() {
		if got := c.gather(100); got.bytes < 100 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	var text strings.Builder
	if _, err := run([]string{"-run", "^" + rowCrowd}, &text); err != nil || !strings.Contains(text.String(), "goroutines") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}
