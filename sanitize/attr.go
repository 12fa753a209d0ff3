package sanitize

import (
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
// as they say nothing. Otherwise strings become their String, errors their
// Message, and values with a String method the String of that; what holds no
// secret keeps its type. Other values are left as they are: give a type that
// holds a secret a LogValue method.
//
// The message is an attribute too, and slog calls the hook for each attribute
// in a group, so there is nothing else to do. A group's own name is not looked
// at.
func ReplaceAttr(groups []string, a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	if classify(a.Key) != plain {
		if !saysNothing(a.Value) {
			a.Value = slog.StringValue(mask)
		}
		return a
	}
	before, after := "", ""
	switch a.Value.Kind() {
	case slog.KindString:
		before = a.Value.String()
		after = String(before)
	case slog.KindAny:
		switch value := a.Value.Any().(type) {
		case error:
			before = textOf(value)
			after = Message(before)
		case fmt.Stringer:
			before = fmt.Sprint(value) // which contains a panic
			after = String(before)
		}
	}
	if after != before {
		a.Value = slog.StringValue(after)
	}
	return a
}

func saysNothing(value slog.Value) bool {
	switch value.Kind() {
	case slog.KindString:
		return meansNothing(value.String())
	case slog.KindAny:
		return value.Any() == nil
	case slog.KindBool, slog.KindGroup:
		return true
	}
	return false
}
