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
// that it is a secret are masked, its numbers with them.
//
// A value that is a struct, a map or a slice, such as an http.Header, is masked if its
// key names a secret, and else passed on as it is, secrets and all. Where such values
// are logged, let the wrapped handler write to a NewWriter, which sees what comes out.
//
// A record without a secret is passed on as it is, and costs no allocation, as long
// as no attribute is a LogValuer. Make one with NewHandler.
type Handler struct {
	next  slog.Handler
	rules *rules
	all   bool // a group that is open is a secret
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
			_, changed := h.rules.whole(a, h.all)
			clean = !changed
			return clean
		})
	}
	if clean {
		return h.next.Handle(ctx, record)
	}
	out := slog.NewRecord(record.Time, record.Level, message, record.PC)
	record.Attrs(func(a slog.Attr) bool {
		a, _ = h.rules.whole(a, h.all)
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
		out[i], _ = h.rules.whole(a, h.all)
	}
	return &Handler{next: h.next.WithAttrs(out), rules: h.rules, all: h.all}
}

// WithGroup returns a handler whose wrapped one has the group open.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{next: h.next.WithGroup(name), rules: h.rules, all: h.all || h.rules.isSecretGroup(name)}
}

func (r *rules) isSecretGroup(name string) bool {
	k := r.names.of(name)
	return k >= secret && k != cookie
}

// whole is an attribute without secrets, with all that is in it; and whether that
// makes a difference. With all set it is in a group that is a secret.
func (r *rules) whole(a slog.Attr, all bool) (out slog.Attr, changed bool) {
	value := a.Value.Resolve()
	changed = a.Value.Kind() == slog.KindLogValuer
	if value.Kind() != slog.KindGroup {
		if all && r.hides(secret, value) {
			return slog.String(a.Key, r.mask), true
		}
		out = r.attr(slog.Attr{Key: a.Key, Value: value})
		return out, changed || differs(out.Value, value)
	}
	all = all || r.isSecretGroup(a.Key)
	members := value.Group()
	copied := false
	for i, member := range members {
		after, differs := r.whole(member, all)
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
