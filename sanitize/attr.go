package sanitize

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

// ReplaceAttr is a hook for slog.HandlerOptions: it takes secrets out of
// everything that a logger writes.
//
//	slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: sanitize.ReplaceAttr}))
//
// An attribute whose key names a secret (password, api_key, clientSecret) gets
// the value "***", whatever it was; only booleans, nil and empty strings stay,
// as they say nothing, and numbers where the name may be a count (tokens).
// Otherwise strings and bytes become their String, errors their Message, and values
// with a String method the String of that; what holds no secret keeps its type, as does
// a json.RawMessage. Other values are left as they are: give a type that holds a secret
// a LogValue method, or let the logger write to a NewWriter.
//
// The message is an attribute too, and slog calls the hook for each attribute
// in a group, so there is nothing else to do. A group's own name is not looked
// at; a NewHandler looks at that too.
func ReplaceAttr(groups []string, a slog.Attr) slog.Attr { return standard.attr(a) }

// ReplaceAttr is the function ReplaceAttr by the rules of the Sanitizer.
func (z *Sanitizer) ReplaceAttr(groups []string, a slog.Attr) slog.Attr { return z.by().attr(a) }

func (r *rules) attr(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	if k := r.names.of(a.Key); k != plain && k != query && r.hides(k, value) {
		a.Value = slog.StringValue(r.mask)
		return a
	}
	a.Value = r.value(value)
	return a
}

// hides says whether an attribute of a kind is masked with this value.
func (r *rules) hides(k kind, value slog.Value) bool {
	s := scanner{rules: r}
	switch value.Kind() {
	case slog.KindString:
		if k == weak {
			return isOpaque(value.String()) && !s.nothing(value.String())
		}
		return !s.nothing(value.String())
	case slog.KindAny:
		return value.Any() != nil && k != weak
	case slog.KindBool, slog.KindGroup:
		return false
	}
	return k != plural && k != weak
}

// value is what a value looks like without secrets; the value itself if it has none.
func (r *rules) value(value slog.Value) slog.Value {
	before, after := "", ""
	switch value.Kind() {
	case slog.KindString:
		before = value.String()
		after = r.clean(before)
	case slog.KindAny:
		switch v := value.Any().(type) {
		case []byte:
			before = view(v)
			after = r.clean(before)
		case json.RawMessage:
			if after := r.clean(view(v)); after != view(v) {
				return slog.AnyValue(json.RawMessage(after))
			}
		case error:
			before = textOf(v)
			after = r.message(before)
		case fmt.Stringer:
			before = fmt.Sprint(v) // which contains a panic
			after = r.clean(before)
		}
	}
	if after != before {
		return slog.StringValue(after)
	}
	return value
}
