// Package fingerprint tells whether a generated wrapper still fits the interface that it was written for. The generator
// writes the fingerprint into its output, the analyzers compute it again: when they differ, one of the two sides has
// changed since.
//
// What counts is what a wrapper's behaviour depends on: the methods with the types of their parameters and results, the
// interface's type parameters, and the directives. Comments, the order of methods, the names of parameters and where
// things stand in a file do not.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"go/types"
	"slices"
	"strings"
)

// A Directive is one directive as it counts for a fingerprint: the method that it stands on ("" for the interface
// itself), and its text behind "//resilient:", arguments and all.
type Directive struct {
	Method string
	Text   string
}

// version is part of every fingerprint: when Text is written in another form, all of them change with it.
const version = "1"

// length in hexadecimal digits. A fingerprint notices a change; nobody attacks it.
const length = 16

// Of returns the fingerprint of an interface, given its type parameters (nil if it has none) and all the directives on it
// and its methods, in any order.
func Of(iface *types.Interface, params *types.TypeParamList, directives []Directive) string {
	sum := sha256.Sum256([]byte(Text(iface, params, directives)))
	return hex.EncodeToString(sum[:])[:length]
}

// Text is what [Of] hashes, line by line: the form's version, the type parameters, the methods in the order of their
// names, and the directives in the order of their methods and texts.
func Text(iface *types.Interface, params *types.TypeParamList, directives []Directive) string {
	w := &writer{}
	w.put("fingerprint ", version, "\n")
	for param := range params.TypeParams() {
		w.put("param ", param.Obj().Name(), " ")
		w.typ(param.Constraint())
		w.put("\n")
	}
	w.put("methods")
	w.methods(iface)
	w.put("\n")

	directives = slices.Clone(directives)
	for i, d := range directives {
		directives[i].Text = strings.Join(strings.Fields(d.Text), " ")
	}
	slices.SortFunc(directives, func(a, b Directive) int {
		if order := strings.Compare(a.Method, b.Method); order != 0 {
			return order
		}
		return strings.Compare(a.Text, b.Text)
	})
	for _, d := range slices.Compact(directives) { // to say it twice is to say it once
		w.put("directive ", d.Method, " ", d.Text, "\n")
	}
	return w.String()
}
