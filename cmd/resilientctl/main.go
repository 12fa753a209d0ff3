// Command resilientctl is the operators' tool. Its subcommands:
//
//	resilientctl redact [-check] [-stats] [FILE…]    take secrets out of text
//
// It exits with 0 when all went well, with 1 when a check found something, and with 2
// when something could not be done.
package main

import (
	"fmt"
	"io"
	"os"
)

// command is one subcommand. run returns the exit code.
type command struct {
	name  string
	about string
	run   func(args []string, s streams) int
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // err is one
}

// What is exited with.
const (
	exitOK = iota
	exitFound
	exitFailed
)

func commands() []command {
	return []command{
		{name: "redact", about: "take secrets out of text", run: redact},
	}
}

func main() {
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: isTerminal(os.Stderr)}))
}

// run finds the subcommand and runs it.
func run(args []string, s streams) int {
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				return c.run(args[1:], s)
			}
		}
	}
	code, to := exitFailed, s.err
	if len(args) > 0 && (args[0] == "help" || args[0] == "-h" || args[0] == "-help" || args[0] == "--help") {
		code, to = exitOK, s.out
	} else if len(args) > 0 {
		say(to, "resilientctl: no command %q\n", args[0])
	}
	say(to, "usage: resilientctl COMMAND [ARGUMENT…]\n\n")
	for _, c := range commands() {
		say(to, "  %-10s %s\n", c.name, c.about)
	}
	return code
}

// say prints for people. Where that fails there is nobody to tell.
func say(to io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(to, format, args...) }

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
