// Command services is a small agent platform whose calls fail well, and the model of how to use the library.
//
// Real HTTP servers on the loopback interface stand for a model's provider and for a vector store, and misbehave on the
// wire as each scenario tells them to; a database file stands for the session service. A scenario says beforehand what
// must be seen. The program runs them all, measures what is seen (what the servers counted, the types of the errors,
// what was logged), prints both side by side and exits with 1 where they differ.
//
// Read platform.go first: that is how a program is wired. Then provider.go, vectorstore.go, sessions.go and agent.go,
// which are the services: an interface that says what may be repeated, and what implements it. go generate writes the
// wrappers that put a guard round them, in …_resilient.go; byhand.go makes the calls that a wrapper has no form for.
// call.go turns HTTP answers into errors that a guard can judge. What only
// the demonstration needs is in server.go, faults.go, journal.go and the scenarios. watch.go serves the operators' page
// (-dashboard 127.0.0.1:8080).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// longestRun ends a demonstration in which something hangs that should not.
const longestRun = 30 * time.Second

func main() {
	if os.Getenv(replicaProvider) != "" {
		os.Exit(replica(context.Background(), os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("services", flag.ContinueOnError)
	flags.SetOutput(stderr)
	verbose := flags.Bool("v", false, "show the structured logs as they are written")
	only := flags.String("run", "", "run only the scenarios whose name contains this `text`")
	var shared sharing
	flags.IntVar(&shared.replicas, "replicas", 3, "how many processes share their circuits, in the scenarios about that; 0 leaves them out")
	flags.StringVar(&shared.redis, "redis", embedded, "where they share them: a `URL`, or "+embedded)
	address := flags.String("dashboard", "", "serve the operators' page at this `address` (such as 127.0.0.1:8080), until interrupted, instead")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	logs := &journal{}
	if *verbose {
		logs.also = stderr
	}
	// The guards are given their logger; this one catches whatever is logged behind their backs.
	slog.SetDefault(logs.plain())
	if *address != "" {
		if err := watch(ctx, *address, logs, stdout); err != nil {
			_, _ = fmt.Fprintln(stderr, "services:", err)
			return 1
		}
		return 0
	}

	ctx, cancel := context.WithTimeout(ctx, longestRun)
	defer cancel()
	chosen := scenarios
	if shared.replicas > 0 {
		chosen = slices.Concat(scenarios, fleetScenarios)
	}
	var reports []report
	for _, s := range chosen {
		if !strings.Contains(s.name, *only) {
			continue
		}
		if *verbose {
			_, _ = fmt.Fprintf(stderr, "\n--- %s\n", s.name)
		}
		reports = append(reports, perform(ctx, s, logs, shared))
	}
	failed, err := writeTable(stdout, reports)
	switch {
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "services:", err)
		return 1
	case failed > 0 || len(reports) == 0:
		return 1
	default:
		return 0
	}
}

// writeTable writes the table and returns how many scenarios differ.
func writeTable(out io.Writer, reports []report) (failed int, err error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SCENARIO\tEXPECTED\tSEEN\tTIME") // what fails to be written, Flush tells
	for _, r := range reports {
		verdict := "ok"
		if r.seen != r.expected {
			verdict = "DIFFERS"
			failed++
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d ms\t%s\n", r.name, r.expected, r.seen, r.took.Milliseconds(), verdict)
	}
	if err := table.Flush(); err != nil {
		return failed, err
	}
	_, err = fmt.Fprintf(out, "\n%d passed, %d failed\n", len(reports)-failed, failed)
	return failed, err
}
