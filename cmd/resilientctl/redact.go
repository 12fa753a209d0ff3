package main

import (
	"bufio"
	"errors"
	"flag"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/sanitize"
)

func (a *app) redact() *cobra.Command {
	return &cobra.Command{
		Use:   "redact [-check] [-stats] [FILE…]",
		Short: "Take secrets out of text",
		Long: `Copies files, or without files, and for -, the standard input to the standard
output without secrets.

  -check   write nothing but the places where something would be redacted,
           and exit with 1 if there is one
  -stats   say at the end how much was read, and how much changed`,
		DisableFlagParsing: true, // it has its own, with one hyphen or two
		RunE: func(_ *cobra.Command, args []string) error {
			if code := redact(args, a.streams); code != exitOK {
				return exit{code: code}
			}
			return nil
		},
	}
}

// redact copies files, or the standard input, to the standard output without their
// secrets.
func redact(args []string, s streams) int {
	flags := flag.NewFlagSet("resilientctl redact", flag.ContinueOnError)
	flags.SetOutput(s.err)
	check := flags.Bool("check", false, "write nothing but the places where something would be redacted, and exit with 1 if there is one")
	stats := flags.Bool("stats", false, "say at the end how much was read, and how much changed")
	flags.Usage = func() {
		say(flags.Output(), "usage: resilientctl redact [-check] [-stats] [FILE…]\n\nWithout files, and for -, it reads the standard input.\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitFailed
	}
	files := flags.Args()
	if len(files) == 0 {
		files = []string{"-"}
	}
	j := job{streams: s, check: *check, stats: *stats, began: time.Now(), out: bufio.NewWriterSize(s.out, blockSize)}
	err := j.files(files)
	if flushed := j.out.Flush(); err == nil {
		err = flushed
	}
	j.progress.clear(s)
	if *stats {
		j.print()
	}
	switch {
	case err != nil:
		say(s.err, "resilientctl redact: %v\n", sanitize.Error(err))
		return exitFailed
	case *check && j.changed > 0:
		return exitFound
	}
	return exitOK
}

// job is one run over all files.
type job struct {
	streams
	check bool
	stats bool
	began time.Time
	out   *bufio.Writer

	bytes, lines, changed int64 // read; read; in which something is redacted
	buffer                []byte
	progress              progress
}

func (j *job) files(names []string) error {
	for _, name := range names {
		if err := j.file(name); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) file(name string) error {
	if name == "-" {
		return j.copy("-", j.in)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(j.copy(name, f), f.Close())
}

// print says what was done, for -stats.
func (j *job) print() {
	took := time.Since(j.began).Seconds()
	say(j.err, "%d bytes, %d lines, %d changed, %.1f MB/s\n", j.bytes, j.lines, j.changed, float64(j.bytes)/1e6/max(took, 1e-9))
}

// copy goes over one file, a block of whole lines at a time.
func (j *job) copy(name string, from io.Reader) error {
	b := blocks{from: from, buffer: j.buffer}
	defer func() { j.buffer = b.buffer }()
	first := int64(1)
	for {
		block, err := b.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		lines, err := j.block(name, first, block)
		if err != nil {
			return err
		}
		first += lines
		j.bytes += int64(len(block))
		j.progress.show(j)
	}
}
