package sanitize

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
)

// Handler is a slog.Handler that takes secrets out of records before another one
// gets them: out of the message, of attributes and groups however deep, of those of
// With, of what LogValuers return, and of errors. Attributes are judged by their
// keys as ReplaceAttr has it, groups too: all attributes of a group whose name says
// that it is a secret are masked, its numbers with them; of a group of secrets or
// tokens all but the numbers.
//
// A value that is a struct, a map or a slice, such as an http.Header, is masked if its
// key names a secret, and else passed on as it is, secrets and all. Where such values
// are logged, let the wrapped handler write to a NewWriter, which sees what comes out.
//
// A record without a secret is passed on as it is, and costs no allocation, as long
// as no attribute is a LogValuer. Make one with NewHandler.
type Handler struct {
	next   slog.Handler
	rules  *rules
	inside kind // what the groups say that are open
}

var _ slog.Handler = (*Handler)(nil)

// NewHandler wraps a handler, which must not be nil.
func NewHandler(next slog.Handler) *Handler { return &Handler{next: next, rules: standard} }

// NewHandler is the function NewHandler by the rules of the Sanitizer.
func (z *Sanitizer) NewHandler(next slog.Handler) *Handler {
	return &Handler{next: next, rules: z.by()}
}

// Enabled asks the wrapped handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes the record on without its secrets, and returns what the wrapped
// handler returns. The record itself is not changed.
func (h *Handler) Handle(ctx context.Context, record slog.Record) error {
	message := h.rules.clean(record.Message)
	clean := message == record.Message
	if clean {
		record.Attrs(func(a slog.Attr) bool {
			_, changed := h.rules.whole(a, h.inside)
			clean = !changed
			return clean
		})
	}
	if clean {
		return h.next.Handle(ctx, record)
	}
	out := slog.NewRecord(record.Time, record.Level, message, record.PC)
	record.Attrs(func(a slog.Attr) bool {
		a, _ = h.rules.whole(a, h.inside)
		out.AddAttrs(a)
		return true
	})
	return h.next.Handle(ctx, out)
}

// WithAttrs returns a handler whose wrapped one has the attributes, without their
// secrets.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i], _ = h.rules.whole(a, h.inside)
	}
	return &Handler{next: h.next.WithAttrs(out), rules: h.rules, inside: h.inside}
}

// WithGroup returns a handler whose wrapped one has the group open.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{next: h.next.WithGroup(name), rules: h.rules, inside: max(h.inside, h.rules.group(name))}
}

// group is what the name of a group says of all that is in it: secret; plural, of which
// numbers may be counts; or plain.
func (r *rules) group(name string) kind {
	switch k := r.names.of(name); {
	case k == plural:
		return plural
	case k >= secret && k != cookie:
		return secret
	default:
		return plain
	}
}

// whole is an attribute without secrets, with all that is in it; and whether that
// makes a difference; inside says what the groups are that it is in.
func (r *rules) whole(a slog.Attr, inside kind) (out slog.Attr, changed bool) {
	value := a.Value.Resolve()
	changed = a.Value.Kind() == slog.KindLogValuer
	if value.Kind() != slog.KindGroup {
		if inside != plain && r.hides(inside, value) {
			return slog.String(a.Key, r.mask), true
		}
		out = r.attr(slog.Attr{Key: a.Key, Value: value})
		return out, changed || differs(out.Value, value)
	}
	inside = max(inside, r.group(a.Key))
	members := value.Group()
	copied := false
	for i, member := range members {
		after, differs := r.whole(member, inside)
		if !differs {
			continue
		}
		if !copied {
			members = append([]slog.Attr(nil), members...)
			copied = true
		}
		members[i] = after
	}
	return slog.Attr{Key: a.Key, Value: slog.GroupValue(members...)}, changed || copied
}

// differs says whether a value was replaced. Only text replaces anything, and JSON JSON.
func differs(after, before slog.Value) bool {
	switch after.Kind() {
	case slog.KindString:
		return before.Kind() != slog.KindString || after.String() != before.String()
	case slog.KindAny:
		text, ok := after.Any().(json.RawMessage)
		old, was := before.Any().(json.RawMessage)
		return ok && was && !bytes.Equal(text, old)
	}
	return false
}
