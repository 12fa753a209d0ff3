// Command sanitize measures the sanitizer beside what people use: regular expressions of the usual kind, and the rules
// of gitleaks, and beside a bare loop over a table, which stops at the bytes that can matter and does nothing with them.
// They take turns. It prints a table of medians and one line for each goal, and exits with 1 when one falls short. A sum
// over the table, which does not even stop, is in the table too; no goal is about it.
//
//	go run . [-rounds 101] [-sample 4ms]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/rs/zerolog"
)

func main() {
	rounds := flag.Int("rounds", 101, "samples of each contestant")
	sample := flag.Duration("sample", 4*time.Millisecond, "length of one sample, about")
	flag.Parse()
	zerolog.SetGlobalLevel(zerolog.Disabled) // gitleaks' own words
	code, err := run(os.Stdout, *rounds, *sample)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sanitize:", err)
		code = 2
	}
	os.Exit(code)
}

func run(w io.Writer, rounds int, sample time.Duration) (code int, err error) {
	if rounds < 1 || sample <= 0 {
		return 0, fmt.Errorf("-rounds %d -sample %v: want more than 0", rounds, sample)
	}
	all, err := contestants()
	if err != nil {
		return 0, err
	}
	if err := right(all); err != nil {
		return 0, err
	}
	// One processor: a collector beside us would be in the figures of those who allocate.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	measure(all, rounds, sample)

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	lines := []string{
		fmt.Sprintf("%s %s/%s, medians of %d samples of %v\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, rounds, sample),
		"contestant\tlines\tMB/s\tallocs per line\t\n",
	}
	for _, c := range all {
		lines = append(lines, fmt.Sprintf("%s\t%s\t%.1f\t%.2f\t\n", c.name, c.kind, c.speed, c.allocs))
	}
	failed := false
	lines = append(lines, "\n")
	for _, g := range goals() {
		text, holds := g.judge(all)
		failed = failed || !holds
		lines = append(lines, text+"\n")
	}
	for _, line := range lines {
		if _, err := io.WriteString(t, line); err != nil {
			return 0, err
		}
	}
	if failed {
		code = 1
	}
	return code, t.Flush()
}
