package directive

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Directive is one that is well formed and stands in a place where it may.
type Directive struct {
	Verb     Verb
	Place    Place
	Pos, End token.Pos

	// Text is what stands behind "//resilient:".
	Text string
	// Name is the service, the op, the type that From takes from, or the accessor
	// of Error.
	Name string
	// Methods are those that a directive on a type speaks of.
	Methods []string
	// Total and Attempt are the limits of Timeout; 0 is none.
	Total, Attempt time.Duration
	// Rewind says that a reader among the arguments can be rewound.
	Rewind bool
	// Context names the parameter that is the call's context, of several.
	Context string
	// ErrorResult is which error counts, of several: 1 is the first. 0 is not said.
	ErrorResult int
	// New is the function that makes a result of an error.
	New string
}

// longest is what a guard allows a call (resilient.MaxTotalTimeout): a longer timeout
// would be cut in silence.
const longest = 300 * time.Second

var (
	serviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./-]*$`)
	typeName    = regexp.MustCompile(`^[^ ]*\.[A-Za-z_]\w*$`)
	funcName    = regexp.MustCompile(`^([A-Za-z_]\w*\.)?[A-Za-z_]\w*$`)
)

// parse reads a directive's arguments.
func parse(d ast.Directive, form Form, place Place) (Directive, *Problem) {
	out := Directive{Verb: form.Verb, Place: place, Pos: d.Pos(), End: d.End(), Text: strings.TrimSpace(d.Name + " " + d.Args)}
	fail := func(format string, a ...any) (Directive, *Problem) {
		return out, &Problem{
			Pos: d.Pos(), End: d.End(),
			What: strings.TrimSpace(fmt.Sprintf("//%s:%s %s", Tool, form.Verb, d.Args)),
			Why:  fmt.Sprintf(format, a...),
			Fix:  "write it as " + form.usage(place),
		}
	}
	for _, word := range strings.Fields(strings.ReplaceAll(d.Args, ", ", ",")) {
		if why := out.word(word); why != "" {
			return fail("%s", why)
		}
	}
	if why := out.missing(); why != "" {
		return fail("%s", why)
	}
	return out, nil
}

// word takes one argument; it returns what is wrong with it.
func (d *Directive) word(word string) (why string) {
	if key, value, ok := strings.Cut(word, "="); ok {
		return d.option(key, value)
	}
	switch {
	case d.Verb == Service || d.Verb == Op:
		return d.name(word, serviceName, "a name of letters, digits and _ . / -")
	case d.Verb == From && d.Name == "":
		return d.name(word, typeName, "a type of a package: pkg.Type, or its import path in place of pkg")
	case d.Verb == Error:
		if !token.IsIdentifier(word) {
			return fmt.Sprintf("%q is not the name of a method", word)
		}
		return d.name(word, funcName, "a method")
	case d.Verb == Timeout && d.Total == 0 && word != "" && (word[0] < 'A' || word[0] > 'Z'):
		return limit(&d.Total, word)
	case d.Verb == Idempotent && word == "rewind" && d.Rewind:
		return "rewind stands here twice"
	case d.Verb == Idempotent && word == "rewind":
		d.Rewind = true
		return ""
	case d.Place == OnType && d.Verb != Inherit:
		return d.methods(word)
	}
	return fmt.Sprintf("it does not take %q", word)
}

func (d *Directive) name(word string, form *regexp.Regexp, what string) string {
	switch {
	case d.Name != "":
		return fmt.Sprintf("%q is one argument too many", word)
	case !form.MatchString(word):
		return fmt.Sprintf("%q is not %s", word, what)
	}
	d.Name = word
	return ""
}

func (d *Directive) methods(word string) string {
	for name := range strings.SplitSeq(word, ",") {
		if !token.IsIdentifier(name) {
			return fmt.Sprintf("%q is not the name of a method", name)
		}
		d.Methods = append(d.Methods, name)
	}
	return ""
}

func (d *Directive) option(key, value string) string {
	switch {
	case d.has(key):
		return key + "= stands here twice"
	case key == "attempt" && d.Verb == Timeout:
		return limit(&d.Attempt, value)
	case key == "new" && d.Verb == Error:
		if !funcName.MatchString(value) {
			return fmt.Sprintf("%q is not the name of a function", value)
		}
		d.New = value
	case key == "ctx" && (d.Verb == Op || d.Verb == Idempotent):
		if !token.IsIdentifier(value) || value == "_" {
			return fmt.Sprintf("%q is not the name of a parameter", value)
		}
		d.Context = value
	case key == "error" && (d.Verb == Op || d.Verb == Idempotent):
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Sprintf("error=%s does not say which error: 1 is the first", value)
		}
		d.ErrorResult = n
	default:
		return fmt.Sprintf("it does not take %s=", key)
	}
	return ""
}

// has reports whether an option has been given before.
func (d *Directive) has(key string) bool {
	switch key {
	case "attempt":
		return d.Attempt != 0
	case "new":
		return d.New != ""
	case "ctx":
		return d.Context != ""
	case "error":
		return d.ErrorResult != 0
	}
	return false
}

// missing returns what a directive lacks.
func (d *Directive) missing() string {
	switch {
	case (d.Verb == Service || d.Verb == From || d.Verb == Error) && d.Name == "":
		return "it lacks its first argument"
	case d.Verb == Op && d.Name == "" && d.Context == "" && d.ErrorResult == 0:
		return "it says nothing"
	case d.Verb == Timeout && d.Total == 0 && d.Attempt == 0:
		return "it lacks how long"
	case d.Verb == Timeout && d.Total > 0 && d.Attempt > d.Total:
		return "an attempt may not take longer than the whole call"
	case d.Place == OnType && len(d.Methods) == 0 && takesMethods(d.Verb):
		return "on an interface it needs the names of methods, for it cannot mean all of them"
	}
	return ""
}

func takesMethods(v Verb) bool {
	return v == From || v == Idempotent || v == Timeout || v == Stream || v == Skip
}

func limit(to *time.Duration, text string) string {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return fmt.Sprintf("%q is not a duration such as 2s or 500ms", text)
	case d <= 0:
		return fmt.Sprintf("%s is no time at all", text)
	case d > longest:
		return fmt.Sprintf("%s is more than the %v that a guard allows a call", text, longest)
	}
	*to = d
	return ""
}
