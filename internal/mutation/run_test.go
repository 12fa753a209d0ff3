//go:build mutation

package mutation_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/mutation"
)

// mutated are the files whose every line has to be held by the tests of its own package: the circuit's rules, and the
// delays.
var mutated = []string{
	"resilient/breaker/machine.go",
	"resilient/breaker/settings.go",
	"resilient/breaker/share.go",
	"resilient/breaker/counter.go",
	"resilient/breaker/window.go",
	"resilient/backoff.go",
	"resilient/cap.go",
}

const (
	root = "../.."
	// limit is for the tests of a package, which take seconds of a processor; a mutant may loop for ever.
	limit = 30 * time.Second
	// patience is for one that only waits.
	patience = 90 * time.Second
)

// verdict is what has become of a mutant.
type verdict string

const (
	killed   verdict = "killed"    // a test has failed
	hung     verdict = "timed out" // likewise
	invalid  verdict = "invalid"   // it does not compile
	survived verdict = "survived"
	same     verdict = "equivalent"
)

// TestEachChangeBreaksATest makes one mutant at a time and runs the tests of its package. No file is changed: the
// compiler is shown another in its place. STOIC_MUTANTS is a regular expression for some of them.
func TestEachChangeBreaksATest(t *testing.T) {
	some, err := regexp.Compile(os.Getenv("STOIC_MUTANTS"))
	require.NoError(t, err)
	equivalent := readEquivalent(t)
	total := map[verdict]int{}
	for _, file := range mutated {
		source, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		all, err := mutation.Mutants(source)
		require.NoError(t, err)
		require.NotEmpty(t, all)
		started, counts := time.Now(), map[verdict]int{}
		judge(t, file, source, all, some, func(m mutation.Mutant, v verdict, output string) {
			name := file + " " + m.Name
			reason, listed := equivalent[name]
			delete(equivalent, name)
			if v == survived && listed {
				v = same
			}
			counts[v]++
			total[v]++
			switch {
			case v == same:
				t.Logf("%s %s\n\t%s", v, name, reason)
			case v == survived:
				t.Errorf("no test notices line %d of %s", m.Line, name)
			case listed:
				t.Errorf("is listed as equivalent, but %s: %s\n%s", v, name, output)
			case v == hung:
				t.Logf("%s %s", v, name)
			}
		})
		t.Logf("%s: %d mutants in %v: %v", file, len(all), time.Since(started).Round(time.Second), counts)
	}
	t.Logf("all: %v", total)
	if some.String() == "" {
		assert.Empty(t, equivalent, "listed as equivalent, but there is no such mutant")
	}
}

// judge runs the mutants of a file, two at a time, and tells of them one by one.
func judge(t *testing.T, file string, source []byte, mutants []mutation.Mutant, some *regexp.Regexp, tell func(mutation.Mutant, verdict, string)) {
	t.Helper()
	loaded, err := mutation.Load(filepath.Join(root, filepath.Dir(file)))
	require.NoError(t, err)
	require.True(t, loaded.Compiles(filepath.Base(file), source), "the file itself")
	var tried []mutation.Mutant
	for _, m := range mutants {
		switch {
		case !some.MatchString(file + " " + m.Name):
			continue
		case loaded.Compiles(filepath.Base(file), m.Source):
			tried = append(tried, m)
		default:
			tell(m, invalid, "")
		}
	}
	if len(tried) == 0 {
		return
	}
	all, numbers := mutation.Combine(source, tried)
	combined := compile(t, file, all)
	v, output := run(combined, file, 0)
	require.Equal(t, survived, v, "the tests of the file as it is\n%s", output)

	type job struct {
		m      mutation.Mutant
		binary string
		number int
	}
	work := make(chan job)
	var telling sync.Mutex
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for j := range work {
				v, output := run(j.binary, file, j.number)
				telling.Lock()
				tell(j.m, v, output)
				telling.Unlock()
			}
		})
	}
	for i, m := range tried {
		if j := (job{m, combined, i + 1}); numbers[j.number] {
			work <- j
		} else {
			work <- job{m, compile(t, file, m.Source), 0}
		}
	}
	close(work)
	workers.Wait()
}

// chooser is a file beside the others that reads which mutant is wanted.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var %s, _ = strconv.Atoi(os.Getenv("STOIC_MUTANT"))
`

// compile makes the tests of a file's package, with another text in the file's place.
func compile(t *testing.T, file string, source []byte) (binary string) {
	t.Helper()
	folder := t.TempDir()
	original, err := filepath.Abs(filepath.Join(root, file))
	require.NoError(t, err)
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {
		original: write("mutants.go", string(source)),
		filepath.Join(filepath.Dir(original), "zz_mutant.go"): write("chooser.go",
			fmt.Sprintf(chooser, filepath.Base(filepath.Dir(file)), mutation.Choice)),
	}})
	require.NoError(t, err)
	binary = filepath.Join(folder, "tests")
	command := exec.Command("go", "test", "-c", "-vet=off", "-overlay", write("overlay.json", string(replace)),
		"-o", binary, "./"+filepath.Dir(file))
	command.Dir = root
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return binary
}

// slow are tests that take longer than all others of their package, which most mutants do not survive.
const slow = "^(TestMachineExhaustively|TestMemoryStoreKeepsTheRules|TestTransitionsArriveInOrder)$"

// run runs the tests of a file's package with the mutant of that number; 0 is none.
func run(binary, file string, number int) (verdict, string) {
	if v, output := runSome(binary, file, number, "-test.skip="+slow); v != survived {
		return v, output
	}
	return runSome(binary, file, number, "-test.run="+slow)
}

func runSome(binary, file string, number int, which string) (verdict, string) {
	// The limit is one of the processor's time: on a busy machine it says more than the clock.
	limited := fmt.Sprintf(`ulimit -t %d && exec "$@"`, limit/time.Second)
	command := exec.Command("bash", "-c", limited, "tests", binary, "-test.failfast", "-test.short",
		"-test.timeout="+patience.String(), which)
	command.Dir = filepath.Join(root, filepath.Dir(file))
	command.Env = append(os.Environ(), "STOIC_MUTANT="+strconv.Itoa(number))
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return survived, ""
	case errors.As(err, &exit) && !exit.Exited(), bytes.Contains(output, []byte("SIGXCPU")),
		bytes.Contains(output, []byte("panic: test timed out")):
		return hung, string(output)
	default:
		return killed, string(output)
	}
}

// readEquivalent reads which mutants no test can notice, since they do the same, and why: by their names.
func readEquivalent(t *testing.T) map[string]string {
	list, err := os.Open("testdata/equivalent.txt")
	require.NoError(t, err)
	defer func() { _ = list.Close() }()
	equivalent := map[string]string{}
	reason, fresh := "", false
	lines := bufio.NewScanner(list)
	for n := 1; lines.Scan(); n++ {
		text, comment := strings.CutPrefix(lines.Text(), "#")
		text = strings.TrimSpace(text)
		switch {
		case comment && fresh:
			reason += " " + text
		case comment:
			reason, fresh = text, true
		case text == "":
			reason, fresh = "", false
		default:
			require.NotEmpty(t, reason, "line "+strconv.Itoa(n)+" of the list has no reason above it")
			equivalent[text], fresh = reason, false
		}
	}
	require.NoError(t, lines.Err())
	return equivalent
}
