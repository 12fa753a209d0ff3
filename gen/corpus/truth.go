package main

import (
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/gen"
)

// facts judges interfaces by itself: by what implements what and by method sets, where the generator goes by names and
// shapes.
type facts struct {
	context *types.Interface
	closer  *types.Interface
	reader  *types.Interface
	writer  *types.Interface
	request types.Type
}

// needed are the packages whose types the facts know.
func needed() []string { return []string{"context", "io", "net/http"} }

// learn remembers the types of the standard library that matter.
func (f *facts) learn(pkg *types.Package) {
	if !slices.Contains(needed(), pkg.Path()) {
		return
	}
	iface := func(name string) *types.Interface {
		i, _ := pkg.Scope().Lookup(name).Type().Underlying().(*types.Interface)
		return i
	}
	switch pkg.Path() {
	case "context":
		f.context = iface("Context")
	case "io":
		f.closer, f.reader, f.writer = iface("Closer"), iface("Reader"), iface("Writer")
	case "net/http":
		f.request = types.NewPointer(pkg.Scope().Lookup("Request").Type())
	}
}

// noted reports whether a note is true: that what has an error behind an accessor is nothing but streams.
func (f *facts) noted(e *entry, note gen.Problem) bool {
	if e == nil || note.What != "//resilient:error Err does nothing" || !strings.Contains(note.Why, "that can be guarded has one result with") {
		return false
	}
	for _, m := range e.methods {
		if results := variables(m.Signature().Results()); len(results) == 1 && f.accessor(results[0]) &&
			!f.mayStream(m) && !slices.Contains(e.asks.skip, m.Name()) {
			return false
		}
	}
	return true
}

// A claim is a reason that the generator gives, and when it is true.
type claim struct {
	says  *regexp.Regexp
	holds func(f *facts, e *entry, m *types.Func, problem gen.Problem) bool
}

func claims() []claim {
	unspoken := func(_ *facts, _ *entry, m *types.Func, problem gen.Problem) bool {
		why := unspeakable(m.Signature())
		return why != "" && strings.Contains(problem.Why, why) || anySpoken(m.Signature(), problem.Why)
	}
	streams := func(f *facts, _ *entry, m *types.Func, _ gen.Problem) bool { return f.mayStream(m) }
	list := []struct {
		says  string
		holds func(f *facts, e *entry, m *types.Func, problem gen.Problem) bool
	}{
		{"it is a constraint", func(_ *facts, e *entry, _ *types.Func, _ gen.Problem) bool { return !e.iface.IsMethodSet() }},
		{"it has no methods", func(_ *facts, e *entry, _ *types.Func, _ gen.Problem) bool {
			return types.NewMethodSet(e.object.Type()).Len() == 0
		}},
		{"its signature holds .*, which is not exported", unspoken},
		{"its signature holds .*, which package .* may not import", unspoken},
		{"its signature holds an? (struct|interface) without a name", unspoken},
		{`it has \d+ contexts`, func(f *facts, _ *entry, m *types.Func, _ gen.Problem) bool { return f.contexts(m) > 1 }},
		{"it returns no error", func(_ *facts, _ *entry, m *types.Func, _ gen.Problem) bool { return errorResults(m) == 0 }},
		{`it returns \d+ errors`, func(_ *facts, _ *entry, m *types.Func, _ gen.Problem) bool { return errorResults(m) > 1 }},
		{"it returns .*: what was handed out cannot be taken back", streams},
		{"it returns .*, which a timeout of the call would cut off", streams},
		{"it returns .*, whose error is not known when the call returns", streams},
		{"it returns an iterator", streams},
		{"it takes no context", func(f *facts, _ *entry, m *types.Func, _ gen.Problem) bool { return f.contexts(m) == 0 }},
		{"its context is a .*, which an attempt's own context is not", func(f *facts, _ *entry, m *types.Func, _ gen.Problem) bool {
			for v := range m.Signature().Params().Variables() {
				if types.Implements(v.Type(), f.context) && types.TypeString(v.Type(), nil) != "context.Context" {
					return true
				}
			}
			return false
		}},
		{"its parameter .* is .*: a second attempt would not be given the same", func(f *facts, _ *entry, m *types.Func, _ gen.Problem) bool {
			return slices.ContainsFunc(variables(m.Signature().Params()), f.mayUseUp)
		}},
		{"nothing says how a rejection becomes", func(_ *facts, _ *entry, m *types.Func, _ gen.Problem) bool {
			t := m.Signature().Results().At(0).Type()
			_, pointer := t.Underlying().(*types.Pointer) // of an interface, none can be made
			set := types.NewMethodSet(t).Lookup(nil, "SetErr")
			return !pointer || set == nil || unnamed(set.Type()) != "func(error)"
		}},
		{"a circuit must not keep anybody from closing", func(_ *facts, _ *entry, m *types.Func, _ gen.Problem) bool {
			return m.Name() == "Close" || m.Name() == "Shutdown"
		}},
	}
	var all []claim
	for _, c := range list {
		all = append(all, claim{regexp.MustCompile("^" + c.says), c.holds})
	}
	return all
}

// reason finds what a refusal claims, and whether that holds. What is claimed of a method has to be about one.
func (f *facts) reason(e *entry, problem gen.Problem) (class string, holds bool) {
	var m *types.Func
	if match := aboutMethod.FindStringSubmatch(problem.What); match != nil {
		if m = e.methods[match[1]]; m == nil {
			return "a method that is not there", false
		}
	}
	for _, c := range claims() {
		if c.says.MatchString(problem.Why) {
			whole := strings.HasPrefix(problem.Why, "it is a constraint") || strings.HasPrefix(problem.Why, "it has no methods")
			return strings.TrimPrefix(c.says.String(), "^"), whole == (m == nil) && c.holds(f, e, m, problem)
		}
	}
	return "unknown: " + problem.Why, false
}

// anySpoken reports whether a refusal names a type of the signature that indeed cannot be written, where there are
// several.
func anySpoken(signature *types.Signature, why string) bool {
	for _, v := range slices.Concat(variables(signature.Params()), variables(signature.Results())) {
		if reason := unspeakable(v); reason != "" && strings.Contains(why, reason) {
			return true
		}
	}
	return false
}

// unnamed is a function's type without the names of its parameters.
func unnamed(t types.Type) string {
	s, ok := t.(*types.Signature)
	if !ok {
		return ""
	}
	params := slices.Collect(func(yield func(*types.Var) bool) {
		for v := range s.Params().Variables() {
			if !yield(types.NewParam(v.Pos(), v.Pkg(), "", v.Type())) {
				return
			}
		}
	})
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), s.Results(), s.Variadic()).String()
}

func variables(t *types.Tuple) []types.Type {
	var list []types.Type
	for v := range t.Variables() {
		list = append(list, v.Type())
	}
	return list
}

func errorResults(m *types.Func) int {
	n := 0
	for _, t := range variables(m.Signature().Results()) {
		if t.String() == "error" {
			n++
		}
	}
	return n
}

// contexts counts the parameters that can be used as a context, or carry one.
func (f *facts) contexts(m *types.Func) int {
	n := 0
	for i, t := range variables(m.Signature().Params()) {
		if m.Signature().Variadic() && i == m.Signature().Params().Len()-1 {
			continue
		}
		if types.Implements(t, f.context) || types.Identical(t, f.request) {
			n++
		}
	}
	return n
}

func (f *facts) accessor(t types.Type) bool {
	s := types.NewMethodSet(t).Lookup(nil, "Err")
	return s != nil && types.TypeString(s.Type(), nil) == "func() error"
}

func hasAny(t types.Type, names ...string) bool {
	set := types.NewMethodSet(t)
	return slices.ContainsFunc(names, func(name string) bool { return set.Lookup(nil, name) != nil })
}

// within asks a question of a type, and of what its exported fields and its elements are.
func within(t types.Type, ask func(types.Type) bool) bool {
	if ask(t) {
		return true
	}
	if s, ok := t.Underlying().(*types.Slice); ok {
		return ask(s.Elem())
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range s.Fields() {
		if field.Exported() && ask(field.Type()) {
			return true
		}
	}
	return false
}

func isChannel(t types.Type) bool { _, ok := t.Underlying().(*types.Chan); return ok }

// mayStream is what every stream is, and some more.
func (f *facts) mayStream(m *types.Func) bool {
	return slices.ContainsFunc(variables(m.Signature().Results()), func(t types.Type) bool {
		return within(t, func(t types.Type) bool {
			_, function := t.Underlying().(*types.Signature)
			return isChannel(t) || function || types.Implements(t, f.context) || handsOutChannel(t) || hasAny(t, "Close", "Recv", "RecvMsg", "Next", "NextPart", "Rollback", "Scan", "Read", "Token")
		})
	})
}

// handsOutChannel reports whether a method of a type returns a channel.
func handsOutChannel(t types.Type) bool {
	for m := range types.NewMethodSet(t).Methods() {
		if s, ok := m.Type().(*types.Signature); ok && slices.ContainsFunc(variables(s.Results()), isChannel) {
			return true
		}
	}
	return false
}

// surelyStreams is what cannot be taken for a value.
func (f *facts) surelyStreams(m *types.Func) bool {
	return slices.ContainsFunc(variables(m.Signature().Results()), func(t types.Type) bool {
		return within(t, func(t types.Type) bool { return isChannel(t) || types.Implements(t, f.closer) }) && !isSlice(t)
	})
}

func isSlice(t types.Type) bool { _, ok := t.Underlying().(*types.Slice); return ok }

// mayUseUp is what every argument is that can be given once, and some more.
func (f *facts) mayUseUp(t types.Type) bool {
	return within(t, func(t types.Type) bool {
		s, function := t.Underlying().(*types.Signature)
		return usedUp(t) || function && slices.ContainsFunc(variables(s.Results()), usedUp)
	})
}

// usedUp is a type that is read, written to or stepped through, to go by the names of its methods.
func usedUp(t types.Type) bool {
	return isChannel(t) || hasAny(t, "Read", "Write", "Next", "NextPart", "Scan", "Decode", "Token", "Recv", "RecvMsg", "Receive")
}

// surelyUsesUp is an argument that a second attempt would not be given again.
func (f *facts) surelyUsesUp(t types.Type) bool {
	return within(t, func(t types.Type) bool {
		return isChannel(t) || types.Implements(t, f.reader) || types.Implements(t, f.writer)
	})
}

// method says what is wrong with the verdict on a method; "" if nothing is.
func (f *facts) method(e *entry, m *types.Func, verdict gen.Method, asked bool) string {
	closing := m.Name() == "Close" || m.Name() == "Shutdown"
	accessor := asked && e.asks.accessor && m.Signature().Results().Len() == 1 && f.accessor(m.Signature().Results().At(0).Type())
	switch verdict.Kind {
	case "guarded":
		switch {
		case errorResults(m) != 1 && !accessor:
			return "it does not return one error"
		case closing:
			return "it closes"
		case f.surelyStreams(m):
			return "it returns a stream"
		case verdict.Idempotent && (!asked || !slices.Contains(e.asks.idempotent, m.Name())):
			return "nobody said that it is idempotent"
		case verdict.Idempotent && slices.ContainsFunc(variables(m.Signature().Params()), f.surelyUsesUp) && f.contexts(m) == 0:
			return "it uses an argument up"
		case !verdict.Idempotent && asked && slices.Contains(e.asks.idempotent, m.Name()):
			return "it was said to be idempotent"
		}
	case "stream":
		switch {
		case verdict.Idempotent:
			return "it is idempotent"
		case errorResults(m) != 1:
			return "it does not return one error"
		case !f.mayStream(m):
			return "nothing that it returns is one"
		}
	case "forwarded":
		switch {
		case asked && slices.Contains(e.asks.skip, m.Name()), closing, errorResults(m) > 1:
		case errorResults(m) == 0 && !accessor, accessor && f.mayStream(m):
		case f.mayStream(m) && strings.Contains(verdict.Why, "iterator"):
		default:
			return "it could be guarded"
		}
	default:
		return "that is no kind"
	}
	return ""
}
