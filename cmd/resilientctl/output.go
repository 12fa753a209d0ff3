package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed42274fcc/stoic/policies"
)

// write writes a value as JSON, indented.
func (a *app) write(value any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return failed(e.Encode(value))
}

// shown is the name of a file for people. One with what would be a line of its own, or
// steer a terminal, is quoted: a build reads the files of whoever proposes a change.
func shown(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// finding is a finding for programs. Line is 0 where it is in no document.
type finding struct {
	File    string        `json:"file,omitempty"`
	Line    int           `json:"line,omitempty"`
	Column  int           `json:"column,omitempty"`
	Service string        `json:"service,omitempty"`
	Key     string        `json:"key,omitempty"`
	Kind    policies.Kind `json:"kind"`
	Message string        `json:"message"`
	Skipped bool          `json:"skipped"`
}

func describe(f policies.Finding) finding {
	return finding{Service: f.Service, Key: f.Key, Kind: f.Kind, Message: f.Message, Skipped: f.Skipped()}
}
