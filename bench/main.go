// Command bench measures guarded calls side by side: this library's, failsafe-go's, and the usual composition by hand
// of a context's timeout, retry-go and gobreaker; and an agent's turns beside look-ups in a map. It prints a table of
// medians and ratios, and ends with one line for each goal; it exits with 1 when one falls short.
//
// The flags choose what is measured; without them it is everything, in about a minute:
//
//	go run . [-cpu 1,2] [-rounds 401] [-sample 2ms] [-run regexp] [-cpuprofile file]
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		code = 2
	}
	os.Exit(code)
}

// run does it all and returns the exit code.
func run(args []string, w io.Writer) (code int, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	cpu := flags.String("cpu", "1,2", "values of GOMAXPROCS; the goals are judged at "+strconv.Itoa(judgedAt))
	rounds := flags.Int("rounds", 401, "samples of each contestant")
	sample := flags.Duration("sample", 2*time.Millisecond, "length of one sample, about")
	only := flags.String("run", "", "measure only what this regexp finds in `row/contestant`")
	profile := flags.String("cpuprofile", "", "write a CPU profile to this `file`")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0, nil
		}
		return 0, err
	}
	if flags.NArg() > 0 {
		return 0, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	p := plan{rounds: *rounds, sample: *sample}
	if p.procs, err = parseProcs(*cpu); err != nil {
		return 0, err
	}
	if p.rounds < 1 || p.sample <= 0 {
		return 0, errors.New("-rounds and -sample must be more than 0")
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return 0, err
	}
	chosen := choose(rows(), pattern)
	if len(chosen) == 0 && !finds(pattern, crowds()) {
		return 0, fmt.Errorf("-run %q finds nothing", *only)
	}
	all, err := profiled(*profile, func() (results, error) { return measure(chosen, p) })
	if err != nil {
		return 0, err
	}
	return report(w, chosen, p, all, pattern)
}

// report prints the tables and the goals.
func report(w io.Writer, chosen []row, p plan, all results, pattern *regexp.Regexp) (code int, err error) {
	if _, err := fmt.Fprintf(w, "%s %s/%s, %d cores\n"+
		"medians of %d samples of %v; cpu: GOMAXPROCS; spread: half of the middle half; x first: times the first's ns/op\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), p.rounds, p.sample); err != nil {
		return 0, err
	}
	if err := printTable(w, chosen, p.procs, all); err != nil {
		return 0, err
	}
	if err := printCrowds(w, pattern); err != nil {
		return 0, err
	}
	verdicts := judge(goals(), all)
	if err := printGoals(w, verdicts); err != nil {
		return 0, err
	}
	return exitCode(verdicts), nil
}

func parseProcs(list string) ([]int, error) {
	var procs []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-cpu %q: want numbers from 1, with commas between", list)
		}
		procs = append(procs, n)
	}
	return procs, nil
}

// choose keeps the contestants that the pattern finds, and the rows that have some left.
func choose(rows []row, pattern *regexp.Regexp) []row {
	var chosen []row
	for _, r := range rows {
		all := r.contestants
		r.contestants = nil
		for _, c := range all {
			if pattern.MatchString(r.name + "/" + c.name) {
				r.contestants = append(r.contestants, c)
			}
		}
		if len(r.contestants) > 0 {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

// finds reports whether the pattern finds one of the crowds.
func finds(pattern *regexp.Regexp, all []crowd) bool {
	return slices.ContainsFunc(all, func(c crowd) bool { return pattern.MatchString(rowCrowd + "/" + c.name) })
}

// profiled calls do, with a CPU profile if there is a file for it.
func profiled(file string, do func() (results, error)) (all results, err error) {
	if file == "" {
		return do()
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer func() {
		pprof.StopCPUProfile()
		err = errors.Join(err, f.Close())
	}()
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return do()
}
