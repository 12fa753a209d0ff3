package gen

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// refusal is why a method cannot be wrapped as its directives ask, and the way out.
type refusal struct{ why, fix string }

// judge says what becomes of a method: by its types first, then by what its
// directives ask. Nothing is guessed: a directive that its shape cannot honour is a
// refusal.
func judge(m *method, construct func(name string, result types.Type) (fill, *refusal)) (verdict, *refusal) {
	v := verdict{kind: guarded, op: m.says.op, idempotent: m.says.idempotent, ctx: contextUse{param: -1}, err: -1}
	if v.op == "" {
		v.op = snake(m.name)
	}
	if r := lockedParameter(m); r != nil {
		return v, r
	}
	if m.says.skip {
		return forward(v, "//resilient:skip", false), nil
	}
	if closing(m.name) && !m.says.byHand {
		return forwardUnless(m, v, "a circuit must not keep anybody from closing", "take the directive away, or guard it all the same with //resilient:op "+v.op, false)
	}
	if r := findError(m, &v); r != nil || v.kind == forwarded {
		return v, r
	}
	if r := lockedResult(m); r != nil {
		return v, r
	}
	if r := findContext(m, &v); r != nil {
		return v, r
	}
	if r := judgeResults(m, &v); r != nil || v.kind != guarded {
		return v, r
	}
	if v.accessor != "" {
		var r *refusal
		if v.fill, r = construct(m.says.construct, m.signature.Results().At(0).Type()); r != nil {
			return v, r
		}
	}
	if r := judgeTimeout(m, &v); r != nil {
		return v, r
	}
	return v, judgeArguments(m, &v)
}

func closing(name string) bool { return name == "Close" || name == "Shutdown" }

func forward(v verdict, why string, unguardable bool) verdict {
	return verdict{kind: forwarded, why: why, unguardable: unguardable, ctx: v.ctx, err: -1}
}

// forwardUnless forwards a method, unless a directive asks for more.
func forwardUnless(m *method, v verdict, why, fix string, unguardable bool) (verdict, *refusal) {
	if m.says.asks && !m.says.soft {
		return v, &refusal{why: why, fix: fix}
	}
	return forward(v, why, unguardable), nil
}

// findError finds the error that a failure is told by.
func findError(m *method, v *verdict) *refusal {
	var at []int
	results := m.signature.Results()
	for i := range results.Len() {
		if shape.IsError(results.At(i).Type()) {
			at = append(at, i)
		}
	}
	var r *refusal
	switch {
	case m.says.errorNr > len(at):
		return &refusal{
			why: fmt.Sprintf("error=%d asks for more errors than the %d that it returns", m.says.errorNr, len(at)),
			fix: "count its error results from 1",
		}
	case m.says.errorNr > 0:
		v.err = at[m.says.errorNr-1]
	case len(at) > 0 && m.says.ownAccessor:
		return &refusal{
			why: "it returns its error itself, so //resilient:error does nothing",
			fix: "take //resilient:error away",
		}
	case len(at) == 1:
		v.err = at[0]
	case len(at) > 1:
		*v, r = forwardUnless(m, *v, fmt.Sprintf("it returns %d errors, and nothing says which one counts", len(at)),
			"say which with //resilient:op error=N, where 1 is the first", true)
	case m.says.accessor != "" && hasAccessor(results, m.says.accessor, m.says.asks):
		v.accessor = m.says.accessor
	case m.says.accessor != "" && m.says.asks:
		return &refusal{
			why: fmt.Sprintf("it has not one result with a method %s() error", m.says.accessor),
			fix: "name the method of its result that returns the error, or take the directive away",
		}
	default:
		fix := "take the directive away, or let the method return an error"
		if hasAccessor(results, "Err", false) {
			fix = "say //resilient:error Err on the interface, for its result has that method, or take the directive away"
		}
		*v, r = forwardUnless(m, *v, "it returns no error, so a failure cannot be seen", fix, true)
	}
	return r
}

// hasAccessor reports whether the only result has its error behind a method. A context
// has an Err, which is the caller's and no failure, unless the method itself says so.
func hasAccessor(results *types.Tuple, name string, asks bool) bool {
	if results.Len() != 1 {
		return false
	}
	if t := results.At(0).Type(); !asks && (shape.IsContext(t) || shape.ExtendsContext(t)) {
		return false
	}
	s := shape.Lookup(results.At(0).Type(), name)
	return s != nil && s.Params().Len() == 0 && s.Results().Len() == 1 && shape.IsError(s.Results().At(0).Type())
}

// findContext finds the parameter that the call's context comes from.
func findContext(m *method, v *verdict) *refusal {
	params := m.signature.Params()
	var plain, extended, requests []int
	for i := range params.Len() {
		if m.signature.Variadic() && i == params.Len()-1 {
			break
		}
		switch t := params.At(i).Type(); {
		case shape.IsContext(t):
			plain = append(plain, i)
		case shape.ExtendsContext(t):
			extended = append(extended, i)
		case shape.IsRequest(t):
			requests = append(requests, i)
		}
	}
	if m.says.context != "" {
		both := slices.Concat(plain, extended)
		i := slices.IndexFunc(both, func(i int) bool { return params.At(i).Name() == m.says.context })
		if i < 0 {
			return &refusal{why: fmt.Sprintf("none of its parameters is a context named %s", m.says.context), fix: "name one of its context parameters"}
		}
		v.ctx = contextUse{param: both[i], original: i >= len(plain)}
		return nil
	}
	switch {
	case len(plain) == 1:
		v.ctx.param = plain[0]
	case len(plain) > 1 || len(plain) == 0 && len(extended) > 1:
		var names []string
		for _, i := range slices.Concat(plain, extended) {
			names = append(names, params.At(i).Name())
		}
		return &refusal{
			why: fmt.Sprintf("it has %d contexts (%s), and nothing says which one ends the call", len(names), strings.Join(names, ", ")),
			fix: "say which with //resilient:op ctx=NAME, or leave the method unguarded with //resilient:skip",
		}
	case len(extended) == 1:
		v.ctx = contextUse{param: extended[0], original: true}
	case len(requests) == 1:
		v.ctx = contextUse{param: requests[0], request: true}
	}
	return nil
}

// judgeResults keeps what is not all there when the call returns from being retried,
// and from a context that ends with the call.
func judgeResults(m *method, v *verdict) *refusal {
	why, iterator := "", false
	for i := range m.signature.Results().Len() {
		t := m.signature.Results().At(i).Type()
		if shape.IsError(t) {
			continue
		}
		switch {
		case shape.IsIterator(t):
			iterator = true
		case shape.IsFuture(t):
			var r *refusal
			*v, r = forwardUnless(m, *v, "it returns a *Future, which is not done when the call returns",
				"take the directive away, and give the work itself to resilient.Async", true)
			return r
		case why == "":
			why = shape.Streams(t)
		}
	}
	if iterator {
		var r *refusal
		*v, r = forwardUnless(m, *v, "it returns an iterator: the call does nothing, the loop does the work",
			"take the directive away, and guard what the loop calls", true)
		return r
	}
	if why == "" && !m.says.stream {
		return nil
	}
	if why == "" {
		why = "a stream (//resilient:stream)"
	}
	switch {
	case v.accessor != "" && !m.says.asks:
		*v = forward(*v, "it returns "+why, true)
		return nil
	case v.accessor != "":
		return &refusal{
			why: "it returns " + why + ", whose error is not known when the call returns",
			fix: "say //resilient:skip in place of what is said about it: it is forwarded then",
		}
	case m.says.idempotent && !m.says.soft:
		return &refusal{
			why: "it returns " + why + ": what was handed out cannot be taken back by a retry",
			fix: "take //resilient:idempotent away; its opening is guarded without it",
		}
	case m.says.total > 0 || m.says.attempt > 0:
		return &refusal{
			why: "it returns " + why + ", which a timeout of the call would cut off",
			fix: "take //resilient:timeout away, and end the stream with the caller's own context",
		}
	}
	v.kind, v.why, v.idempotent = stream, "it returns "+why, false
	return nil
}

func judgeTimeout(m *method, v *verdict) *refusal {
	if m.says.total == 0 && m.says.attempt == 0 {
		return nil
	}
	switch {
	case v.ctx.param < 0:
		return &refusal{why: "it takes no context, so a timeout cannot end it", fix: "take //resilient:timeout away, or give the method a context"}
	case v.ctx.original:
		return &refusal{
			why: fmt.Sprintf("its context is a %s, which an attempt's own context is not, so a timeout cannot reach it", shape.TypeName(m.signature.Params().At(v.ctx.param).Type())),
			fix: "take //resilient:timeout away, or let the method take a context.Context",
		}
	}
	return nil
}

// judgeArguments lets an op be repeated only if its arguments can be given again.
func judgeArguments(m *method, v *verdict) *refusal {
	if !v.idempotent {
		if m.says.rewind {
			return &refusal{why: "there is nothing to rewind for", fix: "take rewind away"}
		}
		return nil
	}
	for i := range m.signature.Params().Len() {
		p := m.signature.Params().At(i)
		why := shape.Consumes(p.Type())
		if why == "" || i == v.ctx.param && !v.ctx.request {
			continue
		}
		if m.says.rewind && shape.IsRewindable(p.Type()) {
			v.rewind = append(v.rewind, i)
			continue
		}
		if m.says.soft {
			v.idempotent = false
			return nil
		}
		return &refusal{
			why: fmt.Sprintf("its parameter %s is %s: a second attempt would not be given the same", parameterName(p, i), why),
			fix: usedUp(p.Type(), m.says.rewind),
		}
	}
	if m.says.rewind && len(v.rewind) == 0 {
		return &refusal{why: "none of its parameters is a reader, so there is nothing to rewind", fix: "say //resilient:idempotent without rewind"}
	}
	return nil
}

// usedUp is the way out for a method whose argument can be given once.
func usedUp(t types.Type, rewind bool) string {
	switch {
	case rewind:
		return "only an io.ReadSeeker and an *http.Request with GetBody can be rewound; take such a one, or take //resilient:idempotent away"
	case shape.IsRewindable(t):
		return "say //resilient:idempotent rewind, so that it is rewound before each attempt"
	case shape.IsReader(t):
		return "take an io.ReadSeeker and say //resilient:idempotent rewind, or take //resilient:idempotent away"
	}
	return "take //resilient:idempotent away"
}

func parameterName(p *types.Var, i int) string {
	if p.Name() == "" || p.Name() == "_" {
		return fmt.Sprintf("number %d", i+1)
	}
	return p.Name()
}
