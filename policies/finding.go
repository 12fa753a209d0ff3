package policies

import (
	"context"
	"log/slog"
	"strings"

	"github.com/seed42274fcc/stoic/sanitize"
)

// Kind says what a finding is about. The zero value is none of them.
type Kind string

const (
	// KindDocument is for: the document is too long, no JSON, no object, or has nothing but
	// unknown keys. It was skipped whole.
	KindDocument Kind = "document"
	// KindUnknownKey is for: there is no such setting. The key was ignored, what stands
	// beside it holds.
	KindUnknownKey Kind = "unknown_key"
	// KindIgnored is for: the key is known and has no effect here. It was ignored, what
	// stands beside it holds.
	KindIgnored Kind = "ignored"
	// KindEmpty is for: null, or an empty variable. It was treated as absent.
	KindEmpty Kind = "empty"
	// KindWrongType is for: a value that cannot be read.
	KindWrongType Kind = "wrong_type"
	// KindOutOfRange is for: a value that can be read and is not allowed.
	KindOutOfRange Kind = "out_of_range"
	// KindDuplicate is for: a key that stands there twice, so that nobody can tell which
	// one is meant.
	KindDuplicate Kind = "duplicate"
	// KindConflict is for: settings that are allowed alone and not together.
	KindConflict Kind = "conflict"
	// KindLimit is for: more unnamed services than there may be guards for. The further
	// ones share one guard.
	KindLimit Kind = "limit"
)

// Finding is one thing that is wrong with a configuration, and what was done about
// it. It is a plain value. Its texts are made to be logged: secrets are taken out,
// and no text from the configuration is quoted but the names of services and keys.
type Finding struct {
	// Service is the one concerned; "" if it is all of them, or those that nothing
	// names.
	Service string
	// Key is where it was found: an environment variable or a key of a [Config],
	// such as "retry_max_attempts", or for a service's override the path in it, such
	// as "retry.max_attempts". "" is the service's override as a whole.
	Key string
	// Kind says what it is about.
	Kind Kind
	// Message says what is wrong and what was done, in words.
	Message string
}

// newFinding is the one way to make a finding: names and text come from outside.
func newFinding(service, key string, kind Kind, message string) Finding {
	return Finding{
		Service: sanitize.Message(service),
		Key:     sanitize.Message(key),
		Kind:    kind,
		Message: sanitize.Message(message),
	}
}

// Skipped reports whether a setting that somebody wrote is not in force. It is
// false where only a key without meaning was passed over.
func (f Finding) Skipped() bool {
	switch f.Kind {
	case KindUnknownKey, KindIgnored, KindEmpty, KindLimit:
		return false
	default:
		return true
	}
}

// String returns the finding in one line: "plan_service: retry.max_attempts: is 0,
// want 1 … 100; the override of the service is skipped".
func (f Finding) String() string {
	var b strings.Builder
	for _, part := range []string{f.Service, f.Key} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	b.WriteString(f.Message)
	return b.String()
}

// log writes the finding as a warning.
func (f Finding) log(logger *slog.Logger) {
	if logger == nil {
		logger = slog.Default()
	}
	defer func() { _ = recover() }() // a logger that panics stops no program, and no call
	var attrs []slog.Attr
	for _, a := range []slog.Attr{
		slog.String("service", f.Service), slog.String("key", f.Key),
		slog.String("kind", string(f.Kind)), slog.String("problem", f.Message),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	logger.LogAttrs(context.Background(), slog.LevelWarn, "bad resilience setting", attrs...)
}
