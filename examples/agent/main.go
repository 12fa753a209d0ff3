// Command agent shows what a broken tool costs an agent, and what is left of that where each tool has a circuit.
//
// Two replicas of an agent work on tasks. Their tools come from a real MCP server, over streamable HTTP on the loopback
// interface; one of them, search, asks a backend, which goes down for a while and comes back. The model is a script: a
// pure function of the tools that it is offered and of what came of its last calls. All this happens without a breaker,
// with one for each replica, and with one that the replicas share through Redis. The program counts rounds, the wasted
// ones among them, what reaches the backend, and the tasks that are answered; then it shows models of other kinds. It
// prints what it has seen, and exits with 1 where that is not what was expected: every figure is exact.
//
// Read agent.go first: that is an agent's loop with its guard. Then replica.go, how a program is wired; server.go, an
// ordinary MCP server; and model.go. What only the demonstration needs is in the others: the worlds in which it happens
// (world.go, backend.go, loopback.go, cooldown.go), what happens there (perform.go, outage.go, variants.go, story.go), and
// how it is shown (table.go, timeline.go).
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9/logging"
)

// longestRun ends a demonstration in which something hangs that should not.
const longestRun = 5 * time.Minute

// embedded is the Redis that this program brings along.
const embedded = "embedded"

func main() {
	logging.Disable() // the Redis client would write to stderr by itself
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	verbose := flags.Bool("v", false, "show each round of each task")
	redis := flags.String("redis", embedded, "where the replicas share their circuits: a `URL`, or "+embedded)
	if err := flags.Parse(args); err != nil {
		return 2
	}
	ctx, cancel := context.WithTimeout(ctx, longestRun)
	defer cancel()
	if *redis == embedded {
		server, err := miniredis.Run()
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "agent:", err)
			return 1
		}
		defer server.Close()
		*redis = "redis://" + server.Addr()
	}
	seen := perform(ctx, *redis)
	out := bufio.NewWriter(stdout)
	differ := seen.write(out, *verbose)
	for _, err := range append(seen.errs, out.Flush()) {
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "agent:", err)
			differ++
		}
	}
	return min(differ, 1)
}
