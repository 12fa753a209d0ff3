package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/seed42274fcc/stoic/policies"
)

// largest is how many bytes a document may have.
const largest = 1 << 20

// formFlag lets the user say which of the documents a file is.
func formFlag(flags *pflag.FlagSet, config *bool) {
	flags.BoolVar(config, "config", false, "a whole configuration with its nine keys, rather than the document of overrides by service")
}

func formOf(config bool) policies.Form {
	if config {
		return policies.FormConfig
	}
	return policies.FormOverrides
}

// document reads a file, or for - the standard input.
func (a *app) document(name string) (data []byte, err error) {
	from := a.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	data, err = io.ReadAll(io.LimitReader(from, largest+1))
	if err == nil && len(data) > largest {
		err = fmt.Errorf("%s is larger than %d bytes", name, largest)
	}
	return data, err
}
