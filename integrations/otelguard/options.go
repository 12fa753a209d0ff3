package otelguard

import (
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Options say where measurements and spans go. A nil *Options is valid, and so is the zero
// value. They are copied by [New].
type Options struct {
	// MeterProvider makes the instruments. Nil means otel.GetMeterProvider().
	MeterProvider metric.MeterProvider
	// TracerProvider makes the spans of attempts; events need none, since they go to the
	// caller's span. Nil means otel.GetTracerProvider().
	TracerProvider trace.TracerProvider
	// AttemptSpans gives each attempt a span of its own below the caller's, where there is
	// one: see the package's comment.
	AttemptSpans bool
	// NoSpanEvents leaves the caller's spans as they are.
	NoSpanEvents bool
	// MaxOperations is how many operations of each service have series of their own, as
	// they come; those of further ones are [Other]. 0 and less mean 50.
	MaxOperations int
}

const defaultOperations = 50

// MaxServices is how many services have series of their own, as they come; those of further
// ones are [Other].
const MaxServices = 2000

// Other is the value of the attributes service and operation where there are too many.
const Other = "_OTHER"
