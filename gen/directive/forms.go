package directive

import (
	"slices"
	"strings"
)

// Tool is what stands before the colon.
const Tool = "resilient"

// Verb is what stands after the colon.
type Verb string

// The verbs. Forms says where each may stand and what follows it.
const (
	Service    Verb = "service"
	From       Verb = "from"
	Error      Verb = "error"
	Inherit    Verb = "inherit"
	Idempotent Verb = "idempotent"
	Timeout    Verb = "timeout"
	Op         Verb = "op"
	Stream     Verb = "stream"
	Skip       Verb = "skip"
)

// Place is what a directive stands on; a set of them in a [Form].
type Place uint8

// The places.
const (
	// OnType is the declaration of a type: of the interface.
	OnType Place = 1 << iota
	// OnMethod is a method of an interface.
	OnMethod
	// OnEmbed is the line of an interface that embeds another.
	OnEmbed
)

// String names the places as a message does.
func (p Place) String() string {
	var names []string
	if p&OnType != 0 {
		names = append(names, "an interface")
	}
	if p&OnMethod != 0 {
		names = append(names, "a method of an interface")
	}
	if p&OnEmbed != 0 {
		names = append(names, "a line that embeds an interface")
	}
	return strings.Join(names, " or ")
}

// A Form is one verb: where it may stand, and how it is written there.
type Form struct {
	Verb   Verb
	Places Place

	// Type, Method and Embed are the arguments in each place, as a message shows
	// them. A list of methods is how the directives of a method are given to methods
	// that the interface inherits, and that cannot be annotated.
	Type, Method, Embed string

	// Does says what it is for.
	Does string
}

// Forms returns every directive.
func Forms() []Form {
	return []Form{
		{Verb: Service, Places: OnType, Type: "NAME",
			Does: "write a wrapper, guarded by the guard of that name"},
		{Verb: From, Places: OnType, Type: "pkg.Type GetObject,PutObject",
			Does: "make this empty interface the one of those methods of a type"},
		{Verb: Error, Places: OnType | OnMethod, Type: "Err [new=FUNC]", Method: "Err [new=FUNC]",
			Does: "the error stands behind that method of the result"},
		{Verb: Inherit, Places: OnType | OnEmbed,
			Does: "take the directives that the interface's own module gave it"},
		{Verb: Idempotent, Places: OnType | OnMethod, Type: "Get,List [rewind] [ctx=NAME] [error=N]", Method: "[rewind] [ctx=NAME] [error=N]",
			Does: "it may be repeated"},
		{Verb: Timeout, Places: OnType | OnMethod, Type: "2s [attempt=500ms] Get,List", Method: "2s [attempt=500ms]",
			Does: "how long a call, and each attempt, may take"},
		{Verb: Op, Places: OnMethod, Method: "[NAME] [ctx=NAME] [error=N]",
			Does: "its name in events and errors, which context and which error it goes by"},
		{Verb: Stream, Places: OnType | OnMethod, Type: "Watch,Open",
			Does: "guard the opening only: one attempt, with the caller's own context"},
		{Verb: Skip, Places: OnType | OnMethod, Type: "Ping,Pipeline",
			Does: "do not guard it"},
	}
}

func find(verb Verb) (Form, bool) {
	forms := Forms()
	i := slices.IndexFunc(forms, func(f Form) bool { return f.Verb == verb })
	if i < 0 {
		return Form{}, false
	}
	return forms[i], true
}

// usage is how a verb is written in a place.
func (f Form) usage(place Place) string {
	arguments := f.Method
	switch place {
	case OnType:
		arguments = f.Type
	case OnEmbed:
		arguments = f.Embed
	}
	return strings.TrimSpace("//" + Tool + ":" + string(f.Verb) + " " + arguments)
}

// known lists the verbs for a message.
func known() string {
	var verbs []string
	for _, form := range Forms() {
		verbs = append(verbs, string(form.Verb))
	}
	return strings.Join(verbs, ", ")
}
