package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/gen"
)

// The exit codes.
const (
	exitDone    = 0
	exitRefused = 1 // something is refused, or out of date
	exitUsage   = 2
)

const usage = `usage: resilientgen [flags] [packages]

Writes resilient wrappers for the interfaces with //resilient:service in the
packages; without packages in the current folder, which go generate sets.

`

type options struct {
	config gen.Config
	check  bool
	list   bool
	json   bool
	dry    bool
}

// run is the command; it returns its exit code.
func run(args []string, stdout, stderr io.Writer, env []string) int {
	o, code, done := parse(args, stderr, env)
	if done {
		return code
	}
	result, err := gen.Run(&o.config)
	if err != nil {
		say(stderr, "resilientgen: %v\n", err)
		return exitRefused
	}
	for _, note := range result.Notes {
		say(stderr, "note: %v\n", note)
	}
	for _, problem := range result.Problems {
		say(stderr, "%v\n", problem)
	}
	if len(result.Problems) > 0 {
		return exitRefused
	}
	if o.list {
		return list(result, o.json, stdout, stderr)
	}
	if len(result.Services) == 0 {
		say(stderr, "resilientgen: no interface with //resilient:service here\n")
	}
	return o.finish(result.Files, stdout, stderr)
}

func parse(args []string, stderr io.Writer, env []string) (o options, code int, done bool) {
	flags := flag.NewFlagSet("resilientgen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		say(stderr, "%s", usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.config.Out, "out", "", "write the wrappers of one package to this `file`, not one beside each source file")
	flags.StringVar(&o.config.Tags, "tags", "", "build `tags`, separated by commas")
	flags.BoolVar(&o.config.Source, "source", false, "type-check dependencies from source: faster when the build cache is cold")
	flags.BoolVar(&o.config.Strict, "strict", false, "refuse interfaces with methods that cannot be guarded")
	flags.BoolVar(&o.check, "check", false, "write nothing; exit with 1 and a diff when an output is out of date")
	flags.BoolVar(&o.list, "list", false, "write nothing; list what would be wrapped, op by op")
	flags.BoolVar(&o.json, "json", false, "with -list: as JSON")
	flags.BoolVar(&o.dry, "n", false, "write nothing; name the files that would be written")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, exitDone, true
		}
		return o, exitUsage, true
	}
	wrong := ""
	switch {
	case o.json && !o.list:
		wrong = "-json goes with -list"
	case o.check && o.list, o.check && o.dry, o.list && o.dry:
		wrong = "-check, -list and -n exclude each other"
	case o.config.Out != "" && !strings.HasSuffix(o.config.Out, ".go"):
		wrong = "-out needs the name of a Go file"
	case o.config.Out != "" && slices.ContainsFunc(flags.Args(), func(p string) bool { return strings.Contains(p, "...") }):
		wrong = "-out is one file, and ... may be many packages"
	}
	if wrong != "" {
		say(stderr, "resilientgen: %s\n", wrong)
		flags.Usage()
		return o, exitUsage, true
	}
	o.config.Patterns = flags.Args()
	o.config.Env = env
	o.config.Tests = strings.HasSuffix(lookup(env, "GOFILE"), "_test.go") && len(o.config.Patterns) == 0
	return o, exitDone, false
}

// lookup finds a variable; a later one wins.
func lookup(env []string, name string) string {
	for _, pair := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// finish writes the files, or says what it would do.
func (o *options) finish(files []gen.File, stdout, stderr io.Writer) int {
	code := exitDone
	for _, file := range files {
		if !file.Changed() {
			continue
		}
		switch {
		case o.check:
			file.Path = relative(file.Path)
			say(stdout, "%s", file.Diff())
			code = exitRefused
		case o.dry:
			say(stdout, "%s\n", relative(file.Path))
		}
	}
	if !o.check && !o.dry {
		if err := gen.WriteFiles(files); err != nil {
			say(stderr, "resilientgen: %v\n", err)
			return exitRefused
		}
	}
	if o.check && code != exitDone {
		say(stderr, "resilientgen: out of date; run go generate\n")
	}
	return code
}

// say writes to the terminal. Where that fails, there is nobody to tell.
func say(w io.Writer, format string, a ...any) { _, _ = fmt.Fprintf(w, format, a...) }

// relative shortens a path for people.
func relative(path string) string {
	here, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	short, err := filepath.Rel(here, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(short)
}
