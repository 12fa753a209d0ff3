package resilient

import "context"

// GeneratedV1 is what wrappers written by resilientgen refer to, so that a wrapper
// and a library which do not fit together fail to compile. If it is undefined, the
// library is older than the wrapper: update github.com/seed42274fcc/stoic. If the
// wrapper refers to a version that is gone, run go generate again.
const GeneratedV1 = true

// MarkIdempotent declares methods idempotent that carry no directive because their
// interface is somebody else's, for resilientgen to read:
//
//	var _ = resilient.MarkIdempotent(store.Reader.Get, (*store.Client).List)
//
// Each argument is a method expression of an interface or a struct, so the compiler
// checks that the method exists and follows when it is renamed. It does nothing at
// run time.
func MarkIdempotent(methods ...any) struct{} { return struct{}{} }

// ContextOf is how a wrapper written by resilientgen takes a call's context from an
// argument that carries it: from an *http.Request. A nil one carries none, so that the
// background context stands in: what it comes to is for the service to say.
func ContextOf[T interface {
	comparable
	Context() context.Context
}](from T) context.Context {
	var none T
	if from == none {
		return context.Background()
	}
	return from.Context()
}

// WithContext is how such a wrapper gives an attempt its own context: the argument's copy
// with it. A nil one stays nil.
func WithContext[T interface {
	comparable
	WithContext(ctx context.Context) T
}](ctx context.Context, of T) T {
	var none T
	if of == none {
		return none
	}
	return of.WithContext(ctx)
}
