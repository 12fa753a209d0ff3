//go:build mutation

package mutation_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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
	// limit is for the tests of a package, which take seconds; a mutant may loop for ever.
	limit = 60 * time.Second
)

// verdict is what has become of a mutant.
type verdict string

const (
	killed   verdict = "killed"    // a test has failed
	hung     verdict = "timed out" // likewise
	invalid  verdict = "invalid"   // it does not compile
	survived verdict = "survived"
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
		var chosen []mutation.Mutant
		for _, m := range all {
			if some.MatchString(file + " " + m.Name) {
				chosen = append(chosen, m)
			}
		}
		judge(t, file, chosen, func(m mutation.Mutant, v verdict, output string) {
			counts[v]++
			total[v]++
			name := file + " " + m.Name
			reason, listed := equivalent[name]
			delete(equivalent, name)
			switch {
			case v == survived && listed:
				counts["equivalent"]++
				total["equivalent"]++
				t.Logf("equivalent %s\n\t%s", name, reason)
			case v == survived:
				t.Errorf("no test notices line %d of %s", m.Line, name)
			case listed:
				t.Errorf("is listed as equivalent, but %s: %s\n%s", v, name, output)
			case v == hung:
				t.Logf("%s %s", v, name)
			}
		})
		t.Logf("%s: %d mutants in %v: %v", file, len(chosen), time.Since(started).Round(time.Second), counts)
	}
	t.Logf("all: %v", total)
	if os.Getenv("STOIC_MUTANTS") == "" {
		assert.Empty(t, equivalent, "listed as equivalent, but there is no such mutant")
	}
}

// judge runs the mutants of a file, two at a time, and tells of them one by one.
func judge(t *testing.T, file string, mutants []mutation.Mutant, tell func(mutation.Mutant, verdict, string)) {
	work := make(chan mutation.Mutant)
	var telling sync.Mutex
	var workers sync.WaitGroup
	for range 2 {
		folder := t.TempDir()
		workers.Go(func() {
			for m := range work {
				v, output, err := try(folder, file, m)
				telling.Lock()
				if err != nil {
					t.Errorf("%s %s: %v", file, m.Name, err)
				} else {
					tell(m, v, output)
				}
				telling.Unlock()
			}
		})
	}
	for _, m := range mutants {
		work <- m
	}
	close(work)
	workers.Wait()
}

// try runs the tests of a file's package with a mutant in its place.
func try(folder, file string, m mutation.Mutant) (verdict, string, error) {
	original, err := filepath.Abs(filepath.Join(root, file))
	if err != nil {
		return "", "", err
	}
	mutant, overlay := filepath.Join(folder, "mutant.go"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutant}})
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(mutant, m.Source, 0o600); err != nil {
		return "", "", err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*limit) // compiling included, on a busy machine
	defer cancel()
	command := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-failfast", "-short",
		"-timeout", limit.String(), "./"+filepath.Dir(file))
	command.Dir = root
	output, err := command.CombinedOutput()
	switch {
	case err == nil:
		return survived, "", nil
	case bytes.Contains(output, []byte("[build failed]")):
		return invalid, string(output), nil
	case bytes.Contains(output, []byte("panic: test timed out")), ctx.Err() != nil:
		return hung, string(output), nil
	case bytes.Contains(output, []byte("FAIL")):
		return killed, string(output), nil
	default:
		return "", "", fmt.Errorf("%w: %s", err, output)
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
