// Command gen measures how long resilientgen takes beside mockery and moq, which write mocks of the same interfaces,
// in the same run, taking turns. It prints a table of medians and one line for each goal, and exits with 1 when one
// falls short.
//
//	go run . [-rounds 9]
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

const (
	ours    = "resilientgen"
	mockery = "mockery"
	moq     = "moq"
)

// row is one input, with ours and the generator that ours is to be no slower than.
type row struct {
	name      string
	note      string // what the goal was set after
	ours      []string
	theirs    []string
	removable string // the outputs
}

func rows() []row {
	return []row{
		{
			name: "50 interfaces of one module, one process", note: "mockery took 0.67 s when the goal was set",
			ours: []string{ours, "./fifty/..."}, theirs: []string{mockery}, removable: "fifty/*/*_*.go",
		},
		{
			name: "one interface with 3 methods", note: "moq took 0.39 s when the goal was set",
			ours: []string{ours, "./three"}, theirs: []string{moq, "-out", "three/three_moq.go", "three", "PlanService"}, removable: "three/*_*.go",
		},
		{
			name: "go-redis' Cmdable", note: "moq took 1.13 s when the goal was set",
			ours: []string{ours, "./commands"}, theirs: []string{moq, "-out", "commands/commands_moq.go", "commands", "Commands"}, removable: "commands/*_*.go",
		},
	}
}

func main() {
	rounds := flag.Int("rounds", 9, "runs of each generator on each input")
	flag.Parse()
	code, err := run(*rounds, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		code = 2
	}
	os.Exit(code)
}

func run(rounds int, w io.Writer) (code int, err error) {
	if rounds < 1 {
		return 0, fmt.Errorf("-rounds %d: want at least 1", rounds)
	}
	dir, err := os.MkdirTemp("", "speed")
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	bin := filepath.Join(dir, "bin")
	if _, err := output(command(".", "go", "build", "-o", bin+string(filepath.Separator), "tool")); err != nil {
		return 0, err
	}
	m := &measurement{dir: filepath.Join(dir, "work"), bin: bin}
	if err := inputs(m.dir); err != nil {
		return 0, err
	}
	verdicts, err := m.all(rows(), rounds)
	if err != nil {
		return 0, err
	}
	cold, err := m.cold(rows()[1])
	if err != nil {
		return 0, err
	}
	return report(w, rounds, verdicts, cold)
}

func report(w io.Writer, rounds int, verdicts []verdict, cold []timing) (code int, err error) {
	var text strings.Builder
	fmt.Fprintf(&text, "generators: seconds, medians of %d runs that take turns, warm\n\n", rounds)
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		for _, line := range []timing{v.ours, v.theirs} {
			if _, err := fmt.Fprintf(t, "%s\t%s\t%.2f\t(%.2f to %.2f)\n", v.row.name, line.name, line.median().Seconds(), line.least().Seconds(), line.most().Seconds()); err != nil {
				return 0, err
			}
		}
	}
	for _, line := range cold {
		if _, err := fmt.Fprintf(t, "%s, cold\t%s\t%.2f\t\n", rows()[1].name, line.name, line.median().Seconds()); err != nil {
			return 0, err
		}
	}
	if err := t.Flush(); err != nil {
		return 0, err
	}
	text.WriteString("\n")
	t = tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		says := "holds"
		if !v.holds() {
			says, code = "falls short", 1
		}
		if _, err := fmt.Fprintf(t, "%s: as long as %s\t%.2fx\tat most %gx\t%s\t(%s)\n", v.row.name, v.theirs.name, v.ratio(), goal, says, v.row.note); err != nil {
			return 0, err
		}
	}
	if err := t.Flush(); err != nil {
		return 0, err
	}
	_, err = io.WriteString(w, text.String())
	return code, err
}

// verdict is what a row came to.
type verdict struct {
	row          row
	ours, theirs timing
}

func (v verdict) ratio() float64 {
	return float64(v.ours.median()) / float64(v.theirs.median())
}

// goal is the ratio to hold: at most as long as theirs. For small inputs most of the time is that of the go command, which
// is the same for all, so that a goal can fall short by noise alone; that is for the reader to judge, and not taken off.
const goal = 1.0

func (v verdict) holds() bool { return v.ratio() <= goal }

// timing is how long a generator took.
type timing struct {
	name  string
	times []time.Duration
}
